package guard

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Lacks returns the scopes of which each would permit the client of a request to do something with a URI, in any spelling. It
// returns none if that is permitted, or if no scope would do.
func (s *Source) Lacks(ctx context.Context, action auth.Action, uri string) []string {
	i := auth.IdentityOf(ctx)
	if i == nil || !i.LacksScopes() {
		return nil
	}
	parsed, err := abi.ParseURI(uri)
	if err != nil {
		return nil
	}
	provider, _ := resource.OwnerOf(s.source, parsed)
	return i.Lacks(provider, action, parsed.Normal())
}
