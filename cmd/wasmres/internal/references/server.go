package references

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/registry"
)

// A Source gets modules by their references for as long as a server runs, without a word to a person. It is safe for
// concurrent use. The caller closes it.
type Source struct {
	store    *registry.Store
	client   *registry.Client
	verifier *registry.Verifier
}

// OpenSource opens the store, and what decides by the trust policy.
func OpenSource(c *cli.Context) (*Source, error) {
	s := &Source{}
	var err error
	if s.verifier, err = OpenVerifier(c); err != nil {
		return nil, err
	}
	if s.store, err = OpenStore(c); err != nil {
		return nil, err
	}
	if s.client, err = OpenClient(c); err != nil {
		return nil, errors.Join(err, s.store.Close())
	}
	return s, nil
}

// Get returns the module of a reference: what the store has for it, or else what its registry has. release lets go of the
// module's file.
func (s *Source) Get(ctx context.Context, reference string) (m Module, release func(), err error) {
	return s.get(ctx, reference, registry.GetOptions{})
}

// Pull is Get for the module that the tag of a reference names in its registry now.
func (s *Source) Pull(ctx context.Context, reference string) (m Module, release func(), err error) {
	return s.get(ctx, reference, registry.GetOptions{Update: true})
}

func (s *Source) get(ctx context.Context, reference string, o registry.GetOptions) (m Module, release func(), err error) {
	r, err := registry.ParseReference(reference)
	if err != nil {
		return Module{}, nil, err
	}
	getter := registry.Getter{Store: s.store, Client: s.client, Verifier: s.verifier}
	if r.Layout != "" {
		getter.Client = nil
		if getter.Store, err = registry.OpenLayout(r, false, registry.StoreOptions{}); err != nil {
			return Module{}, nil, err
		}
	}
	p, err := getter.Get(ctx, r, o)
	if err != nil {
		return Module{}, nil, err
	}
	if m, err = moduleOf(r, p); err != nil {
		p.Release()
		return Module{}, nil, err
	}
	return m, p.Release, nil
}

// Close releases the store and the connections.
func (s *Source) Close() error {
	s.client.Close()
	return s.store.Close()
}

// moduleOf describes the module of a provider in a store.
func moduleOf(r registry.Reference, p *registry.Provider) (m Module, err error) {
	m = Module{
		File: p.File, Digest: string(p.Module.Digest),
		From: approval.Published{Reference: p.Reference.String(), Repository: p.Reference.Name(), Signer: signerOf(p.Verified)},
	}
	if r.Layout != "" {
		m.From, err = m.From.In(r.Layout)
	}
	if len(p.Verified.Signers) > 0 {
		m.Key = p.Verified.Signers[0].ID
	}
	return m, err
}
