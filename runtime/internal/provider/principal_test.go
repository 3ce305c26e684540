package provider_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/guard"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A guest that may not know its clients answers all of them from one call, but none what is hidden from it, in whatever
// order they ask. A guest that may know them is asked by each.
func TestThePrincipalOfCachedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no client is slow
		for _, hide := range []bool{true, false} {
			for _, order := range [][]string{{"ada", "ben", "eve", "ada"}, {"eve", "ben", "ada", "ben"}} {
				var mu sync.Mutex
				var knows []string // whom the guest knows of each call
				p := openPuppet(t, provider.Config{Cache: true, HidePrincipal: hide}, &guesttest.Puppet{
					Manifest: abi.Manifest{Ops: 1 << abi.OpRead, Templates: []abi.Template{{URITemplate: "x:{id}", Name: "x", TTLMillis: 60_000, CacheScope: abi.CachePublic}}},
					Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
						if n > 0 {
							return guesttest.Return(abi.CodeOK)
						}
						mu.Lock()
						defer mu.Unlock()
						knows = append(knows, nameOf(req.Principal))
						return content(req.URI, "text")
					},
				})
				g := guard.New(p)
				for _, name := range order {
					uri := map[string]string{"ada": "x:**", "ben": "x:1", "eve": "x:2"}[name]
					var got text
					_, err := g.Read(asClient(t, name, uri), &resource.Request{URI: abi.MustParseURI("x:1")}, &got)
					if (abi.CodeOf(err) == abi.CodeNotFound) != (name == "eve") || err != nil && name != "eve" {
						t.Errorf("hide %v, %v: %s got %v", hide, order, name, err)
					}
				}
				want := []string{""}
				if !hide {
					want = slices.DeleteFunc(slices.Clone(order), func(name string) bool { return name == "eve" })
				}
				if !slices.Equal(knows, want) {
					t.Errorf("hide %v, %v: the guest was called by %q, want %q", hide, order, knows, want)
				}
			}
		}
	})
}

func nameOf(p *abi.Principal) string {
	if p == nil {
		return ""
	}
	return p.Subject
}

// asClient is the context of a client who may do everything with the URIs of a pattern.
func asClient(t *testing.T, name, uri string) context.Context {
	t.Helper()
	pattern, err := auth.ParsePattern(uri)
	if err != nil {
		t.Fatal(err)
	}
	i := auth.NewIdentity(t.Context(), abi.Principal{Subject: name}, auth.FullAccess(pattern), time.Time{})
	return auth.WithCaller(t.Context(), &auth.Caller{Identity: i})
}
