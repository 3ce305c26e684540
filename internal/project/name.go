package project

import (
	"fmt"
	"strings"
)

const maxName = 64 // bytes

var validName = expression(`^[a-z][a-z0-9_-]*$`)

// taken are the names that would not do, and why.
var taken = map[string]string{
	"wasmres": "it is that of the SDK",
	"http":    webScheme, "https": webScheme, "file": webScheme, "data": webScheme,
}

const webScheme = "clients take its URIs for something else"

// CheckName says what is wrong with a name for a project, which must do as the name of a folder, a package in any of the
// languages, and a URI scheme.
func CheckName(name string) error {
	switch why, bad := taken[name]; {
	case bad:
		return fmt.Errorf("the name %s cannot be used: %s", name, why)
	case len(name) > maxName:
		return fmt.Errorf("the name has %d bytes, at most %d are allowed", len(name), maxName)
	case !validName().MatchString(name):
		return fmt.Errorf("the name %q cannot be used: it begins with a lower-case letter, "+
			"and has lower-case letters, digits, - and _", name)
	}
	return nil
}

// Scheme gives the URI scheme of a new project's resources, in which _ has no place.
func Scheme(name string) string { return strings.ReplaceAll(name, "_", "-") }
