package approval

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
)

// Published says where a module came from that has a reference. The zero value is a file of the user's own.
type Published struct {
	Reference string // by which the user named it, with the digest of its manifest
	// Repository is the same for all versions of a provider. Its approvals and its data belong to it.
	Repository string
	// Layout is the absolute path of the image layout that has the module, symbolic links resolved; empty for a registry.
	Layout string
	Signer string // names and identities of the keys whose signatures were verified; empty for none
}

// In returns p as a module of the image layout in a folder, whose path identifies it wherever the process runs.
func (p Published) In(folder string) (Published, error) {
	path, err := Origin(folder)
	p.Layout, p.Repository = path, "oci-layout:"+path
	return p, err
}

// isProtected reports whether only this user and the system, or else a signer, decide which module p is.
func (p Published) isProtected(origin string) bool {
	switch {
	case p.Repository == "":
		return isProtected(origin)
	case p.Layout == "" || p.Signer != "":
		return true
	}
	return isProtected(filepath.Join(p.Layout, "index.json")) && isProtected(filepath.Join(p.Layout, "blobs", "sha256"))
}

// Origin identifies what the approvals and the data of a provider belong to: the repository of a published module, else
// its file.
func (p Published) Origin(file string) (string, error) {
	if p.Repository != "" {
		return p.Repository, nil
	}
	return Origin(file)
}

// Name is what the user calls the module: its reference, or its file.
func (p Published) Name(file string) string { return cmp.Or(p.Reference, file) }

// ShortName names a provider among several: the last element of its repository, or its file without .wasm.
func (p Published) ShortName(file string) string {
	return strings.TrimSuffix(filepath.Base(cmp.Or(p.Repository, file)), ".wasm")
}

// was says where a module came from, as a clause about "it".
func was(origin string) string {
	if filepath.IsAbs(origin) {
		return "it was the file " + origin
	}
	return "it came from " + origin
}

// signedBy says which key has signed a module, as a clause about "it".
func signedBy(signer string) string {
	if signer == "" {
		return "it was not signed"
	}
	return "it was signed by " + signer
}

// lines are those of the prompt that say where the module comes from.
func (p Published) lines(file string) []string {
	if p.Reference == "" {
		return []string{"file: " + escape(file, maxText)}
	}
	signer := "signer: none"
	if p.Signer != "" {
		signer = fmt.Sprintf("signer: %q", escape(p.Signer, maxName))
	}
	return []string{"reference: " + escape(p.Reference, maxText), signer}
}
