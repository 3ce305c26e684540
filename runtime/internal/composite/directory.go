package composite

import (
	"context"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// HasDirectories implements [resource.Directories]: it reports whether a member has directories.
func (s *Source) HasDirectories() bool {
	return slices.ContainsFunc(s.members, func(m *member) bool { return resource.HasDirectories(m.Source) })
}

// ReadDirectory implements [resource.Directories], by the member to which the URI belongs.
func (s *Source) ReadDirectory(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	owner, ok := s.owners.of(req.URI)
	if !ok {
		return nil, &abi.Error{Code: abi.CodeNotFound} // without a message, as from a provider
	}
	defer s.used.add(s.members[owner])
	reply, err := resource.ReadDirectory(ctx, s.members[owner].Source, req)
	return reply, s.withProvider(owner, err)
}
