package project

import (
	"fmt"
	"strings"
)

const maxName = 64 // bytes

var validName = expression(`^[a-z][a-z0-9_-]*$`)

// reserved has names that a project cannot have, and why.
var reserved = map[string]string{
	"wasmres": "it is the name of the SDK",
	"http":    webScheme, "https": webScheme, "file": webScheme, "data": webScheme,
}

const webScheme = "clients give another meaning to its URIs"

// CheckName returns an error if name cannot be the name of a project. It must be valid as the name of a directory, as the
// name of a package in each language, and as a URI scheme.
func CheckName(name string) error {
	switch why, bad := reserved[name]; {
	case bad:
		return fmt.Errorf("the name %s cannot be used: %s: choose another one", name, why)
	case len(name) > maxName:
		return fmt.Errorf("the name has %d bytes: choose one of at most %d", len(name), maxName)
	case !validName().MatchString(name):
		return fmt.Errorf("the name %q cannot be used: choose one that begins with a lower-case letter "+
			"and has lower-case letters, digits, - and _", name)
	}
	return nil
}

// Scheme returns the URI scheme of a new project's resources: the name, with - for _.
func Scheme(name string) string { return strings.ReplaceAll(name, "_", "-") }
