package registry

import "github.com/wasmres/wasmres/registry/internal/oci"

// A Reference names a provider in a repository of a registry, or in an OCI image layout: see [ParseReference].
type Reference = oci.Reference

// A Descriptor is the media type, digest and size of a manifest or blob.
type Descriptor = oci.Descriptor

// A Digest is the SHA-256 of a manifest or blob, as sha256: and 64 hexadecimal digits.
type Digest = oci.Digest

// ParseReference parses host/repository:tag, host/repository@sha256:…, host/repository:tag@sha256:…, and
// oci-layout:DIRECTORY with the same endings. Without an ending the tag is "latest".
func ParseReference(s string) (Reference, error) { return oci.ParseReference(s) }

// LooksLikeReference reports whether s, which the user may have meant as a file, can only be a reference: it begins with
// oci-layout:, or its first element is a host with a dot, a port or the name localhost, and it ends in a tag or digest.
func LooksLikeReference(s string) bool { return oci.LooksLikeReference(s) }
