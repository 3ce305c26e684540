package provider

import (
	"context"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// HasDirectories implements [resource.Directories].
func (p *Provider) HasDirectories() bool { return p.implements(abi.OpListDir) }

// ReadDirectory implements [resource.Directories]. The guest decides which URIs are those of directories.
func (p *Provider) ReadDirectory(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	switch {
	case !p.HasDirectories() || req.URI.IsZero():
		return nil, abi.Errorf(abi.CodeInvalidParams, "%.256q is not a directory resource", req.URI.String())
	case len(req.Cursor) > maxCursor:
		return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
	}
	var routed abi.Request
	p.route(&routed, req.URI.Folded(), req.URI.Normal())
	routed.Cursor, routed.Limit = req.Cursor, uint32(p.cfg.PageSize)
	if req.Limit > 0 {
		routed.Limit = min(req.Limit, routed.Limit)
	}
	routed.Principal, routed.Meta, routed.Session = p.principal(req), req.Meta, req.Session
	reply, err := p.Call(ctx, abi.OpListDir, &routed, nil)
	if err == nil {
		err = checkDirectory(req, reply)
	}
	if err != nil {
		return nil, fmt.Errorf("list directory %s: %w", req.URI, err)
	}
	return reply, nil
}

// checkDirectory refuses a page that does not advance, and entries that are no children of the directory.
func checkDirectory(req *resource.Request, reply *abi.Reply) error {
	if next := reply.NextCursor; next != "" && (next == req.Cursor || len(next) > maxCursor) {
		return abi.Errorf(abi.CodeProtocol, "the provider's directory does not advance: its next cursor repeats the last, or is too long")
	}
	return abi.CheckChildren(req.URI.Normal(), reply.Resources)
}
