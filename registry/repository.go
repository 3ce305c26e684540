package registry

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/internal/pathpattern"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// canonicalName is the one name of a repository for a trust policy, whatever the reference spells it like. A host is in lower
// case, without the port of HTTPS; the hosts of Docker's registry are docker.io, whose short names are below library; the
// directory of an image layout is absolute.
func canonicalName(r Reference) string {
	if r.Layout != "" {
		return canonicalLayout(r.Layout)
	}
	return joinName(canonicalHost(r.Registry), r.Repository)
}

func canonicalLayout(dir string) string {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		absolute = filepath.Clean(dir) // the working directory is gone: nothing relative can be found
	}
	return oci.LayoutScheme + filepath.ToSlash(absolute)
}

func joinName(host, repository string) string {
	if host == "docker.io" && repository != "**" && !strings.Contains(repository, "/") {
		repository = "library/" + repository
	}
	return host + "/" + repository
}

func canonicalHost(host string) string {
	host = strings.ToLower(host)
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		name, port = host[:i], strings.TrimLeft(host[i+1:], "0")
	}
	if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		if name = a.Unmap().String(); strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
	}
	switch name {
	case "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com":
		name = "docker.io"
	}
	if port == "" || port == "443" {
		return name
	}
	return name + ":" + port
}

// A pattern of repositories, or of directories of image layouts. Only ** is of both.
type pattern struct {
	text    string // as the user wrote it
	matcher *pathpattern.Pattern
	widest  []string // names that only a pattern matches that matches all that this one does
}

var (
	hostPattern       = lazyregexp.New(`^(?:\*|(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?$`)
	repositoryPattern = lazyregexp.New(`^[a-z0-9._*-]+(?:/[a-z0-9._*-]+)*$`)
)

// parsePattern parses a pattern: a host, or a host and elements of a path.
func parsePattern(text string) (*pattern, error) {
	name, err := canonicalPattern(text)
	if err != nil {
		return nil, fmt.Errorf("the pattern %.200q: %w", text, err)
	}
	matcher, err := pathpattern.Compile(name)
	if err != nil {
		return nil, err
	}
	return &pattern{text, matcher, widestNames(name)}, nil
}

func canonicalPattern(text string) (string, error) {
	if text == "**" {
		return text, nil
	}
	if dir, ok := strings.CutPrefix(text, oci.LayoutScheme); ok {
		if !filepath.IsAbs(dir) || filepath.ToSlash(filepath.Clean(dir)) != dir {
			return "", errors.New("write the absolute path of a directory, without .. and without a slash at its end")
		}
		return text, nil
	}
	host, repository, found := strings.Cut(text, "/")
	switch {
	case strings.Contains(text, "://"):
		return "", errors.New("write it without the scheme, as ghcr.io/ada/*")
	case !hostPattern.MatchString(host):
		return "", errors.New("it begins with no host: write ghcr.io/ada/*, with *.example.com or * for several hosts, or ** for everything")
	case !found && strings.HasPrefix(host, "*"):
		return canonicalHost(host) + "/**", nil
	case !found:
		return canonicalHost(host), nil
	case !repositoryPattern.MatchString(repository):
		return "", errors.New("what follows the host is no path of lower-case letters, digits, dots, dashes, underscores and stars, " +
			"without a tag, and without a slash at its end")
	}
	for element := range strings.SplitSeq(repository, "/") {
		if strings.Contains(element, "**") && element != "**" {
			return "", errors.New("** stands for elements between slashes: write it between slashes, or * for a part of an element")
		}
	}
	return joinName(canonicalHost(host), repository), nil
}

// isLayout reports whether a pattern or a canonical name is of image layouts.
func isLayout(name string) bool { return strings.HasPrefix(name, oci.LayoutScheme) }

// match reports whether p matches a canonical name.
func (p *pattern) match(name string) bool {
	return p.text == "**" || isLayout(p.text) == isLayout(name) && p.matcher.Match(name)
}

// widestNames replaces stars by a character that no pattern has literally: once each for an element, and for two.
func widestNames(name string) []string {
	const any = "\x01"
	below := []string{name + "/" + any, name + "/" + any + "/" + any}
	switch {
	case strings.Contains(name, "*"):
	case strings.Contains(name, "/"):
		return append(below, name)
	default:
		return below // a host is no repository
	}
	short := strings.ReplaceAll(strings.ReplaceAll(name, "**", any), "*", any)
	long := strings.ReplaceAll(strings.ReplaceAll(name, "**", any+"/"+any), "*", any)
	return []string{short, long}
}

// covers reports whether p matches all that other does.
func (p *pattern) covers(other *pattern) bool {
	for _, name := range other.widest {
		if !p.match(name) {
			return false
		}
	}
	return true
}
