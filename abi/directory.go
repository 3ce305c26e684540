package abi

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DirectoryType is the MIME type of a directory resource: one with children that [OpListDir] lists. Its URI ends in no slash, unless
// that is the root of its scheme.
const DirectoryType = "inode/directory"

// CheckChild reports the first rule of this ABI that r breaks as a direct child of the directory resource dir. The URI of a child
// is that of the directory and one more segment, so that no tree of directories has a cycle. The segment, decoded, and the name
// of the child can be the name of a file: neither is "." or "..", nor has a slash, a backslash or a control character. CheckChild
// does not check r otherwise: see [Resource.Check].
func CheckChild(dir string, r *Resource) error {
	_, err := childName(dir, r)
	return err
}

// childName checks a child as CheckChild does, and returns the segment of its URI, decoded.
func childName(dir string, r *Resource) (string, error) {
	head, uri := NormalURI(dir), NormalURI(r.URI)
	if !strings.HasSuffix(head, "/") {
		head += "/"
	}
	segment, ok := strings.CutPrefix(uri, head)
	if !ok || strings.ContainsAny(segment, "/?#") {
		return "", Errorf(CodeInvalidURI, "%.128q is no direct child of the directory %.128q", r.URI, dir)
	}
	name, err := url.PathUnescape(segment)
	if err != nil || !isFileName(name) {
		return "", Errorf(CodeInvalidURI, "the last segment of %.128q is not a file name", r.URI)
	}
	if !isFileName(r.Name) {
		return "", Errorf(CodeProtocol, "the name %.128q of a directory entry is not a file name", r.Name)
	}
	return name, nil
}

// CheckChildren checks all entries of one page of a directory: each is a child, and no two have one segment, whatever its spelling.
func CheckChildren(dir string, entries []Resource) error {
	seen := make(map[string]bool, len(entries))
	for i := range entries {
		name, err := childName(dir, &entries[i])
		if err != nil {
			return err
		}
		if seen[name] {
			return Errorf(CodeProtocol, "the directory %.128q has the entry %.128q twice", dir, name)
		}
		seen[name] = true
	}
	return nil
}

// isFileName reports whether a name can be that of a file in a directory.
func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(c rune) bool { return c == '/' || c == '\\' || unicode.IsControl(c) })
}
