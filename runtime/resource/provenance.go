package resource

import "github.com/wasmres/wasmres/abi"

// A Provenance says which code answers. Fields that do not apply are empty.
type Provenance struct {
	Reference string // by which the operator named the module in a registry, with its digest
	Digest    string // SHA-256 of the module, as in "sha256:9f86…"
	Version   string // of the provider, by its manifest
	Signer    string // the key whose signature was verified, by name and identity
	Policy    string // SHA-256 of what the operator granted
}

// A Traceable is a Source that says which code answers, for clients.
type Traceable interface {
	// Provenance says which code answers for a URI. For the zero URI it says which code the Source consists of. It is nil
	// for unknown. It is safe for concurrent use and does not block; the caller does not change what it returns.
	Provenance(uri abi.URI) []*Provenance
}

// ProvenanceOf returns the Provenance of s if it is [Traceable], for wrappers.
func ProvenanceOf(s Source, uri abi.URI) []*Provenance {
	if t, ok := s.(Traceable); ok {
		return t.Provenance(uri)
	}
	return nil
}
