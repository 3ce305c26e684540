package oci

import (
	"context"
	"errors"
	"io"
)

// ErrNotFound says that a source does not have a tag, manifest or blob.
var ErrNotFound = errors.New("not found")

// A Source contains artifacts: a repository of a registry, or an image layout. Its methods may be called concurrently.
// An error about what the source does not have is [ErrNotFound].
type Source interface {
	// Resolve returns the descriptor of the manifest that a tag or digest names.
	Resolve(ctx context.Context, locator string) (Descriptor, error)
	// Fetch opens a manifest or blob. The caller reads at most d.Size bytes, checks the digest, and closes it.
	Fetch(ctx context.Context, d Descriptor) (io.ReadCloser, error)
	// Referrers returns the manifests that name d as their subject, of whatever type, at most [MaxReferrers].
	Referrers(ctx context.Context, d Descriptor) ([]Descriptor, error)
	// Tags returns the tags, sorted, without those that stand for referrers.
	Tags(ctx context.Context) ([]string, error)
}

// A Target is a source to which artifacts are written: blobs first, then the manifest that names them, then its tag.
type Target interface {
	Source
	// Exists reports whether the target has a manifest or blob.
	Exists(ctx context.Context, d Descriptor) (bool, error)
	// Push stores d.Size bytes of r, whose digest must be d's. It may return before it has read them all if it has them.
	Push(ctx context.Context, d Descriptor, r io.Reader) error
	// Tag has a tag name a manifest that the target has.
	Tag(ctx context.Context, d Descriptor, tag string) error
}
