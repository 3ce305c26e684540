package composite

import (
	"context"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Read implements [resource.Source], by the member to which the URI belongs.
func (s *Source) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	owner, ok := s.owners.of(req.URI)
	if !ok {
		return nil, &abi.Error{Code: abi.CodeNotFound} // without a message, as from a provider
	}
	defer s.used.add(s.members[owner])
	reply, err := s.members[owner].Source.Read(ctx, req, sink)
	return reply, s.withProvider(owner, err)
}

// Complete implements [resource.Source], by the member that claims the template.
func (s *Source) Complete(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	owner, ok := s.owners.ofTemplate(req.Template)
	if !ok {
		return nil, abi.Errorf(abi.CodeInvalidParams, "no resource template %.128q", req.Template)
	}
	defer s.used.add(s.members[owner])
	reply, err := s.members[owner].Source.Complete(ctx, req)
	return reply, s.withProvider(owner, err)
}

// withProvider adds the name of the member to err, for the log.
func (s *Source) withProvider(owner int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("provider %s: %w", s.members[owner].Name, err)
}
