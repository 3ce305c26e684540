package references

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/registry"
)

// A Source gets modules by their references for as long as a server runs, without a word to a person. It is safe for
// concurrent use. The caller closes it.
type Source struct {
	own      origin // of references that the operator has written
	given    origin // of those that others have sent, for whom nothing is that only the operator may get
	verifier *registry.Verifier
}

// An origin has modules, and gets those that it has not.
type origin struct {
	store  *registry.Store
	client *registry.Client
}

func (o origin) close() error {
	if o.client != nil {
		o.client.Close()
	}
	if o.store != nil {
		return o.store.Close()
	}
	return nil
}

// OpenSource opens the store, and what decides by the trust policy. allowed are those registries that are not public, or whose
// credentials the user has, and that others than the operator may name all the same. What these have
// named is stored in the folder given.
func OpenSource(c *cli.Context, allowed tenant.Registries, given string) (*Source, error) {
	s := &Source{}
	if err := s.open(c, allowed, given); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Source) open(c *cli.Context, allowed tenant.Registries, given string) (err error) {
	if s.verifier, err = OpenVerifier(c); err != nil {
		return err
	}
	if s.own.store, err = OpenStore(c); err != nil {
		return err
	}
	if s.own.client, err = OpenClient(c); err != nil {
		return err
	}
	if s.given.store, err = registry.OpenStore(given, registry.StoreOptions{}); err != nil {
		return err
	}
	s.given.client, err = openClient(c, registry.ClientOptions{
		Reach: &registry.Reach{Allow: allowed.Allow}, CredentialsOf: append([]string{}, allowed.Credentials...), // none, where none are named
	})
	return err
}

// Get returns the module of a reference: what the store has for it, or else what its registry has. release lets go of the
// module's file.
func (s *Source) Get(ctx context.Context, reference string) (m Module, release func(), err error) {
	return s.get(ctx, s.own, reference, registry.GetOptions{})
}

// GetGiven is Get for a reference that others than the operator have sent: its registry must be public, or be allowed.
func (s *Source) GetGiven(ctx context.Context, reference string) (m Module, release func(), err error) {
	return s.get(ctx, s.given, reference, registry.GetOptions{})
}

// PullGiven is GetGiven for the module that the tag of a reference names in its registry now.
func (s *Source) PullGiven(ctx context.Context, reference string) (m Module, release func(), err error) {
	return s.get(ctx, s.given, reference, registry.GetOptions{Update: true})
}

func (s *Source) get(ctx context.Context, from origin, reference string, o registry.GetOptions) (m Module, release func(), err error) {
	r, err := registry.ParseReference(reference)
	if err != nil {
		return Module{}, nil, err
	}
	getter := registry.Getter{Store: from.store, Client: from.client, Verifier: s.verifier}
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
	return errors.Join(s.own.close(), s.given.close())
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
