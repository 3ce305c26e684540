package resource

import (
	"context"

	"github.com/wasmres/wasmres/abi"
)

// A Directories is a Source with directory resources, those of the type [abi.DirectoryType].
type Directories interface {
	// HasDirectories reports whether ReadDirectory can answer at all. It is safe for concurrent use and does not block.
	HasDirectories() bool
	// ReadDirectory answers one page of the direct children of the directory req.URI, as List does; each passes [abi.CheckChild].
	// For a URI that is no directory it fails with abi.CodeNotFound or abi.CodeInvalidParams.
	ReadDirectory(ctx context.Context, req *Request) (*abi.Reply, error)
}

// HasDirectories reports whether s is [Directories] and has some, for wrappers.
func HasDirectories(s Source) bool {
	d, ok := s.(Directories)
	return ok && d.HasDirectories()
}

// ReadDirectory answers by s if it is [Directories] and has some, for wrappers; otherwise no URI is that of a directory.
func ReadDirectory(ctx context.Context, s Source, req *Request) (*abi.Reply, error) {
	if d, ok := s.(Directories); ok && d.HasDirectories() {
		return d.ReadDirectory(ctx, req)
	}
	return nil, abi.Errorf(abi.CodeInvalidParams, "%.256q is not a directory resource", req.URI.String())
}
