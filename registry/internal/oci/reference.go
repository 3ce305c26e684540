package oci

import (
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/internal/lazyregexp"
)

// LayoutScheme begins the reference of an artifact in an OCI image layout on disk.
const LayoutScheme = "oci-layout:"

// A Reference names an artifact in a repository of a registry, or in an OCI image layout.
type Reference struct {
	Registry   string // host, with a port if it has one; empty in a layout
	Repository string // empty in a layout
	Layout     string // path of the directory; empty in a registry
	// Tag and Digest name the artifact. With a digest, the tag is only for people. Without both, the tag is "latest".
	Tag    string
	Digest Digest
}

// maxReference bounds a reference, in bytes.
const maxReference = 4096

// The grammar of OCI's distribution specification.
var (
	registryForm   = lazyregexp.New(`^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?$`)
	repositoryForm = lazyregexp.New(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagForm        = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestForm     = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
)

// IsTag reports whether a text has the form of a tag.
func IsTag(s string) bool { return tagForm.MatchString(s) }

// referrersTagForm matches the tags under which clients keep signatures and lists of referrers where a registry cannot.
var referrersTagForm = lazyregexp.New(`^sha256-[0-9a-f]{64}(?:\.(?:sig|att|sbom))?$`)

// IsReferrersTag reports whether a tag stands for referrers: it names no version of an artifact.
func IsReferrersTag(tag string) bool { return referrersTagForm.MatchString(tag) }

// ParseReference parses host/repository:tag, host/repository@sha256:…, host/repository:tag@sha256:…, and
// oci-layout:DIRECTORY with the same endings. Without an ending the tag is "latest".
func ParseReference(s string) (Reference, error) {
	if len(s) > maxReference {
		return Reference{}, fmt.Errorf("reference of %d bytes: a reference has at most %d", len(s), maxReference)
	}
	r, err := parse(s)
	if err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w: write host/repository:tag, host/repository@sha256:…, "+
			"or oci-layout:DIRECTORY:tag", s, err)
	}
	return r, nil
}

func parse(s string) (r Reference, err error) {
	rest, layout := strings.CutPrefix(s, LayoutScheme)
	rest, digest, digested := strings.Cut(rest, "@")
	if digested && !digestForm.MatchString(digest) {
		return r, fmt.Errorf("digest %q is not sha256: and 64 hexadecimal digits", digest)
	}
	r.Digest = Digest(digest)
	slash := strings.LastIndexByte(rest, '/')
	if colon := strings.LastIndexByte(rest, ':'); colon > slash {
		rest, r.Tag = rest[:colon], rest[colon+1:]
		if !IsTag(r.Tag) {
			return r, fmt.Errorf("tag %q is not one to 128 letters, digits, dots, dashes and underscores", r.Tag)
		}
	}
	if r.Tag == "" && !digested {
		r.Tag = "latest"
	}
	if layout {
		return r.inLayout(rest)
	}
	return r.inRegistry(rest)
}

func (r Reference) inLayout(path string) (Reference, error) {
	if path == "" {
		return r, fmt.Errorf("the directory is missing")
	}
	r.Layout = path
	return r, nil
}

func (r Reference) inRegistry(name string) (Reference, error) {
	var found bool
	r.Registry, r.Repository, found = strings.Cut(name, "/")
	switch {
	case !found:
		return r, fmt.Errorf("the host of the registry is missing")
	case !registryForm.MatchString(r.Registry):
		return r, fmt.Errorf("%q is not the host of a registry", r.Registry)
	case len(r.Repository) > 255 || !repositoryForm.MatchString(r.Repository):
		return r, fmt.Errorf("repository %q is not of lower-case letters, digits and separators, at most 255 in all", r.Repository)
	}
	return r, nil
}

// LooksLikeReference reports whether s, which the user may have meant as a file, can only be a reference: it begins with
// [LayoutScheme], or its first element is a host with a dot, a port or the name localhost, and it ends in a tag or digest.
func LooksLikeReference(s string) bool {
	if strings.HasPrefix(s, LayoutScheme) {
		return true
	}
	r, err := ParseReference(s)
	if err != nil || r.Digest == "" && !strings.HasSuffix(s, ":"+r.Tag) {
		return false
	}
	return strings.ContainsAny(r.Registry, ".:") || r.Registry == "localhost"
}

// Locator is what [Source.Resolve] takes: the digest if the reference has one, else the tag.
func (r Reference) Locator() string {
	if r.Digest != "" {
		return string(r.Digest)
	}
	return r.Tag
}

// Name is the reference without tag and digest: host/repository, or oci-layout:DIRECTORY.
func (r Reference) Name() string {
	if r.Layout != "" {
		return LayoutScheme + r.Layout
	}
	return r.Registry + "/" + r.Repository
}

// At returns the reference with d as its digest: it names the same bytes for ever.
func (r Reference) At(d Digest) Reference {
	r.Digest = d
	return r
}

func (r Reference) String() string {
	s := r.Name()
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + string(r.Digest)
	}
	return s
}
