package runtime

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/wasmres/wasmres/abi"
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

// A Replacement is what a [Replaceable] serves until the next one: a [Provider], or several with their [Combined].
type Replacement interface {
	// Source is called once. It must not change.
	Source() resource.Source
	Close() error
}

// A Marked is a [Replacement] of which parts may go on from one to the next. Subscribers are told of a change of those
// resources alone whose mark is another one, or nil, when the next Replacement serves them.
type Marked interface {
	// Mark returns what answers the client of ctx for uri, or what makes the list if uri is zero, as a value that can be
	// compared. Nil is unknown. It is called just before a subscription begins. It is safe for concurrent use and does not block.
	Mark(ctx context.Context, uri abi.URI) any
}

// Replace makes next serve all calls that begin from now on. It owns next: it closes next when next has been replaced and
// the last of its calls has ended, or in Close. After Close it fails, and the caller closes next.
func (r *Replaceable) Replace(next Replacement) error {
	g := newGeneration(next)
	if err := r.source.Replace(g); err != nil {
		return err
	}
	if identified, ok := g.Source.(resource.Identified); ok {
		identity := identified.Identity()
		r.first.CompareAndSwap(nil, &identity)
	}
	return nil
}

// Source returns the resources of the present provider, for [NewServer] and for wrappers. Its name is that of the first
// provider, if there was one when the server was made.
func (r *Replaceable) Source() resource.Source { return replaceableSource{r.source, r} }

// Subscriptions returns how many subscriptions follow the present provider.
func (r *Replaceable) Subscriptions() int { return r.source.Subscriptions() }

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

// A generation is one of the replacements, with the optional interfaces of its source.
type generation struct {
	resource.Source
	owner   Replacement
	ender   resource.SessionEnder   // nil for none
	after   resource.AfterResponder // nil for none
	version resource.Versioned      // nil for none
	marked  Marked                  // nil for none
}

func newGeneration(owner Replacement) generation {
	g := generation{Source: owner.Source(), owner: owner}
	g.ender, _ = g.Source.(resource.SessionEnder)
	g.after, _ = g.Source.(resource.AfterResponder)
	g.version, _ = g.Source.(resource.Versioned)
	g.marked, _ = owner.(Marked)
	return g
}

// EndSession implements [reload.Generation].
func (g generation) EndSession(session string) {
	if g.ender != nil {
		g.ender.EndSession(session)
	}
}

// AfterResponse implements [reload.Generation].
func (g generation) AfterResponse() {
	if g.after != nil {
		g.after.AfterResponse()
	}
}

// ListVersion implements [reload.Generation].
func (g generation) ListVersion() uint64 {
	if g.version != nil {
		return g.version.ListVersion()
	}
	return unversioned.Add(1)
}

// unversioned is the version of lists that may have changed whenever they are asked for.
var unversioned atomic.Uint64

// Mark implements [reload.Marked].
func (g generation) Mark(ctx context.Context, uri abi.URI) any {
	if g.marked != nil {
		return g.marked.Mark(ctx, uri)
	}
	return nil
}

// HasDirectories implements [resource.Directories].
func (g generation) HasDirectories() bool { return resource.HasDirectories(g.Source) }

// ReadDirectory implements [resource.Directories].
func (g generation) ReadDirectory(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	return resource.ReadDirectory(ctx, g.Source, req)
}

// Owner implements [resource.Owned].
func (g generation) Owner(uri abi.URI) (provider string, ok bool) {
	return resource.OwnerOf(g.Source, uri)
}

// TemplateOwner implements [resource.Owned].
func (g generation) TemplateOwner(template string) (provider string, ok bool) {
	return resource.TemplateOwnerOf(g.Source, template)
}

// Provenance implements [resource.Traceable].
func (g generation) Provenance(uri abi.URI) []*resource.Provenance {
	return resource.ProvenanceOf(g.Source, uri)
}

// Close implements [reload.Generation].
func (g generation) Close() error { return g.owner.Close() }
