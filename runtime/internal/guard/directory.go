package guard

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/resource"
)

// HasDirectories implements [resource.Directories].
func (s *Source) HasDirectories() bool { return resource.HasDirectories(s.source) }

// ReadDirectory implements [resource.Directories]. A client sees a directory in which it may list something. If all entries of a
// page are hidden, ReadDirectory answers a later page.
func (s *Source) ReadDirectory(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	i, req, err := enter(ctx, req)
	if err != nil {
		return nil, err
	}
	v := view{s, i, auth.List}
	if !i.PermitsAll(auth.List) && !v.mayPermitIn(req.URI) {
		return nil, notFound(nil)
	}
	for page := 1; ; page++ {
		reply, err := resource.ReadDirectory(ctx, s.source, req)
		switch {
		case i.PermitsAll(auth.List):
			return privateOr(reply, err)
		case abi.CodeOf(err) == abi.CodeNotFound || abi.CodeOf(err) == abi.CodeInvalidParams:
			return nil, notFound(err)
		case err != nil:
			return nil, err
		}
		reply = private(reply)
		reply.Resources = permitted(reply.Resources, v.permitsEntry)
		if len(reply.Resources) > 0 || reply.NextCursor == "" || page == maxPages {
			return reply, nil
		}
		req.Cursor = reply.NextCursor
	}
}

// permitsEntry reports whether an entry of a directory is permitted: for a directory, whether anything in it could be.
func (v *view) permitsEntry(r *abi.Resource) bool {
	if v.permits(r.URI) {
		return true
	}
	uri, err := abi.ParseURI(r.URI)
	return err == nil && r.MIMEType == abi.DirectoryType && v.mayPermitIn(uri)
}

// mayPermitIn reports whether a directory, or anything in it, could be permitted.
func (v *view) mayPermitIn(dir abi.URI) bool {
	head := dir.Normal() + "/"
	switch {
	case v.permitsURI(dir):
		return true
	case !v.identity.DependsOnProvider() || !v.identity.MayPermit(v.action, head):
		return v.identity.MayPermit(v.action, head)
	}
	provider, _ := resource.OwnerOf(v.source.source, dir)
	return v.identity.MayPermitAt(provider, v.action, head)
}
