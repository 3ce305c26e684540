package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/transfer"
)

// A Getter gets providers by reference, ready to run. Store and Verifier are required; without a Client it finds only what the
// store has. The Store may be a layout, for references to it. It may be used concurrently.
type Getter struct {
	Store    *Store
	Client   *Client
	Verifier *Verifier
}

// GetOptions are the options of [Getter.Get]. The zero value is good.
type GetOptions struct {
	// Update asks the registry what a tag names now. Otherwise a tag names what it named when the store first got it.
	Update   bool
	Progress func(Progress) // called with each part of a transfer, by one goroutine at a time; nil for none
}

// A Provider is a module in the store that a [Verifier] has accepted.
type Provider struct {
	Reference   Reference // with the digest of the manifest
	Manifest    Descriptor
	Annotations map[string]string // of the manifest; the publisher wrote them
	Module      Descriptor
	// File is the module, plain, and with the right digest when it was checked. It stays until Release, or until this process
	// ends. Whatever loads it should check its digest.
	File     string
	Verified Verified
	Fetched  bool // from a registry, by this call
	// Previous is what the reference named in the store before this call; nil if it was the same, or nothing. It is what the
	// store still has of it, and may be refused by the trust policy of today: then its Verified is zero.
	Previous *Provider

	release func()
}

// Release lets the store remove or compress the module. The provider must not be loaded again after that.
func (p *Provider) Release() { p.release() }

// Get gets a provider. It looks into the store first. Otherwise it fetches the manifest, decides by its signatures, and then
// fetches the module: no byte of a refused module is read. The signatures are kept with the module, and decide each time. An
// error is [ErrUntrusted] or [ErrDowngrade] if the verifier refuses the provider, and [ErrNotFound] if there is none.
func (g *Getter) Get(ctx context.Context, r Reference, o GetOptions) (*Provider, error) {
	local, err := g.Store.repository(r)
	if err != nil {
		return nil, err
	}
	p := &Provider{}
	stored, err := transfer.Open(ctx, local, r.Locator(), oci.MaxModule)
	switch {
	case err == nil && (g.Client == nil || !o.Update || r.Digest != ""):
		err = g.getStored(ctx, r, stored, local, p, o)
	case g.Client == nil, err != nil && !errors.Is(err, ErrNotFound) && !o.Update:
		err = fmt.Errorf("%s: %w", r, err)
	default:
		err = g.getNamed(ctx, r, stored, local, p, o)
	}
	if err != nil {
		return nil, err
	}
	return p, g.ready(ctx, p)
}

// getStored accepts what the store has, and asks the registry only for a module that was lost or signatures that are new.
func (g *Getter) getStored(ctx context.Context, r Reference, a *transfer.Artifact, local oci.Target, p *Provider, o GetOptions) error {
	if r.Layout == "" { // the tag is the user's own, whatever the registry says today: the provider may be older than others
		r = r.At(a.Descriptor.Digest)
	}
	err := g.verify(ctx, r, a, local, p)
	complete := true
	if err == nil { // a file that was corrupt is gone
		complete, err = local.Exists(ctx, a.Module)
	}
	if g.Client != nil && (!complete || errors.Is(err, ErrUntrusted)) {
		return g.copy(ctx, r, string(a.Descriptor.Digest), local, "", p, o)
	}
	return err
}

// getNamed gets what the reference names at the registry. stored is what the store has of that name; nil for nothing.
func (g *Getter) getNamed(ctx context.Context, r Reference, stored *transfer.Artifact, local oci.Target, p *Provider, o GetOptions) error {
	if stored != nil { // it is compared with the new one, and so not compressed when its tag moves on
		if release, err := g.Store.layout.Pin(ctx, stored.Descriptor); err == nil {
			defer release()
		}
	}
	if err := g.copy(ctx, r, r.Locator(), local, tagOf(r), p, o); err != nil {
		return err
	}
	if stored != nil && stored.Descriptor.Digest != p.Manifest.Digest {
		p.Previous = g.previous(ctx, r, stored, local)
	}
	return nil
}

// maxPruned is how often a copy is repeated from which another process has pruned a part.
const maxPruned = 2

// tagOf returns the tag that the store is to have of what r names. With a digest the tag is only for people: the registry has not
// said that it names these bytes.
func tagOf(r Reference) string {
	if r.Digest != "" {
		return ""
	}
	return r.Tag
}

// copy gets a provider from its registry into the store, with its signatures, which decide.
func (g *Getter) copy(ctx context.Context, r Reference, locator string, into oci.Target, tag string, p *Provider, o GetOptions) error {
	return g.Client.with(r, false, func(from oci.Target) error {
		options := transfer.Options{
			Signatures: true, Progress: o.Progress,
			Verify: func(ctx context.Context, a *transfer.Artifact) error { return g.decide(ctx, r, a, p) },
		}
		_, err := transfer.Copy(ctx, from, locator, into, tag, options)
		for again := 0; again < maxPruned && errors.Is(err, layout.ErrIncomplete); again++ {
			_, err = transfer.Copy(ctx, from, locator, into, tag, options)
		}
		p.Fetched = err == nil
		return err
	})
}

// verify decides about a provider in the store by the signatures there.
func (g *Getter) verify(ctx context.Context, r Reference, a *transfer.Artifact, from oci.Source, p *Provider) error {
	if g.Verifier.NeedsSignatures(r) {
		if err := a.FetchSignatures(ctx, from); err != nil {
			return fmt.Errorf("%s: %w", r, err)
		}
	}
	if err := g.decide(ctx, r, a, p); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	return nil
}

// decide decides about a provider. Its errors do not name the reference.
func (g *Getter) decide(ctx context.Context, r Reference, a *transfer.Artifact, p *Provider) (err error) {
	p.Reference, p.Manifest, p.Annotations, p.Module = r.At(a.Descriptor.Digest), a.Descriptor, a.Manifest.Annotations, a.Module
	p.Verified, err = g.Verifier.verify(ctx, r, a.Bytes, a.Bundles())
	return err
}

// previous describes what a reference named before. It is not an error if the store has lost a part of it.
func (g *Getter) previous(ctx context.Context, r Reference, a *transfer.Artifact, from oci.Source) *Provider {
	p := &Provider{
		Reference: r.At(a.Descriptor.Digest), Manifest: a.Descriptor, Annotations: a.Manifest.Annotations, Module: a.Module,
		release: func() {},
	}
	if a.FetchSignatures(ctx, from) == nil {
		p.Verified, _, _ = g.Verifier.decide(p.Reference, a.Bytes, a.Bundles())
	}
	p.File, _ = g.Store.layout.Path(ctx, a.Module)
	return p
}

// ready pins the module and finds its file.
func (g *Getter) ready(ctx context.Context, p *Provider) (err error) {
	if p.release, err = g.Store.layout.Pin(ctx, p.Manifest); err != nil {
		return fmt.Errorf("%s: %w", p.Reference, err)
	}
	if p.File, err = g.Store.layout.Path(ctx, p.Module); err != nil {
		p.release()
		return fmt.Errorf("%s: %w", p.Reference, err)
	}
	return nil
}
