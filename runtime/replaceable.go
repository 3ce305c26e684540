package runtime

import (
	"log/slog"
	"sync/atomic"

	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/reload"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Replaceable serves a provider that can be replaced while it is served. A call ends on the provider on which it began;
// subscriptions move on. It is safe for concurrent use. Close releases it.
type Replaceable struct {
	source *reload.Source
	name   string
	first  atomic.Pointer[resource.Identity] // of the first provider; nil while there is none
}

// NewReplaceable makes a Replaceable without a provider. Until the first Replace it has the given name, and requests fail
// with the message unavailable. A nil log discards.
func NewReplaceable(name, unavailable string, log *slog.Logger) *Replaceable {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Replaceable{source: reload.New(reload.Config{Empty: unavailable, Logger: log}), name: name}
}

// Replace makes p serve all calls that begin from now on. It owns p: it closes p when p has been replaced and the last
// of its calls has ended, or in Close. After Close it fails, and the caller closes p.
func (r *Replaceable) Replace(p *Provider) error {
	if err := r.source.Replace(generation{p.inner, p}); err != nil {
		return err
	}
	identity := p.inner.Identity()
	r.first.CompareAndSwap(nil, &identity)
	return nil
}

// Source returns the resources of the present provider, for [NewServer] and for wrappers. Its name is that of the first
// provider, if there was one when the server was made.
func (r *Replaceable) Source() resource.Source { return replaceableSource{r.source, r} }

// Close ends subscriptions, waits for all calls, and closes all providers it was given. It is idempotent.
func (r *Replaceable) Close() error { return r.source.Close() }

// A replaceableSource is the source of a Replaceable, with an identity.
type replaceableSource struct {
	*reload.Source
	of *Replaceable
}

// Identity implements [resource.Identified].
func (s replaceableSource) Identity() resource.Identity {
	if first := s.of.first.Load(); first != nil {
		return *first
	}
	return resource.Identity{Name: s.of.name, Version: "0"}
}

// A generation is one of the providers that replace each other.
type generation struct {
	*provider.Provider
	owner *Provider
}

// Close implements [reload.Generation].
func (g generation) Close() error { return g.owner.Close() }
