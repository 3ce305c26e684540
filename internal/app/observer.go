package app

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Request is one that has ended.
type Request struct {
	Op      string // list, templates, read, directory, complete or watch
	URI     string // of a watch, all of them; empty for the list
	Elapsed time.Duration
	Fuel    uint64 // used by the provider; 0 without a call
	Err     error  // nil for an answer
}

// An observer is a source that reports its requests. It does not implement [resource.Versioned], so that the server caches
// no page of a list and every request reaches the provider.
type observer struct {
	inside resource.Source
	report func(Request)
}

type fuelKey struct{}

// begin begins a request, and gives the context for the provider and a function that ends the request.
func (o observer) begin(ctx context.Context, op, uri string) (context.Context, func(error)) {
	began, fuel := time.Now(), new(atomic.Uint64)
	return context.WithValue(ctx, fuelKey{}, fuel), func(err error) {
		o.report(Request{Op: op, URI: uri, Elapsed: time.Since(began), Fuel: fuel.Load(), Err: err})
	}
}

// Measure returns a context for requests, and a function that gives the fuel which providers have used for them until now.
func Measure(ctx context.Context) (_ context.Context, fuel func() uint64) {
	sum := new(atomic.Uint64)
	return context.WithValue(ctx, fuelKey{}, sum), sum.Load
}

// addFuel adds to the fuel of the request that ctx belongs to, if an observer has begun one, or Measure.
func addFuel(ctx context.Context, fuel uint64) {
	if sum, ok := ctx.Value(fuelKey{}).(*atomic.Uint64); ok {
		sum.Add(fuel)
	}
}

// List implements [resource.Source].
func (o observer) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	ctx, end := o.begin(ctx, "list", "")
	reply, err := o.inside.List(ctx, req)
	end(err)
	return reply, err
}

// Templates implements [resource.Source].
func (o observer) Templates(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	ctx, end := o.begin(ctx, "templates", "")
	reply, err := o.inside.Templates(ctx, req)
	end(err)
	return reply, err
}

// Read implements [resource.Source].
func (o observer) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	ctx, end := o.begin(ctx, "read", req.URI.String())
	reply, err := o.inside.Read(ctx, req, sink)
	end(err)
	return reply, err
}

// Complete implements [resource.Source].
func (o observer) Complete(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	ctx, end := o.begin(ctx, "complete", req.Template)
	reply, err := o.inside.Complete(ctx, req)
	end(err)
	return reply, err
}

// HasDirectories implements [resource.Directories].
func (o observer) HasDirectories() bool { return resource.HasDirectories(o.inside) }

// ReadDirectory implements [resource.Directories].
func (o observer) ReadDirectory(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	ctx, end := o.begin(ctx, "directory", req.URI.String())
	reply, err := resource.ReadDirectory(ctx, o.inside, req)
	end(err)
	return reply, err
}

// Subscribe implements [resource.Source]. Later calls for the subscription are not part of the request.
func (o observer) Subscribe(
	ctx context.Context, uris []abi.URI, list bool, n resource.Notifier,
) (accepted []abi.URI, err error) {
	ctx, end := o.begin(ctx, "watch", join(uris))
	accepted, err = o.inside.Subscribe(ctx, uris, list, n)
	end(err)
	return accepted, err
}

// join returns all of uris, separated by spaces.
func join(uris []abi.URI) string {
	texts := make([]string, len(uris))
	for i, uri := range uris {
		texts[i] = uri.String()
	}
	return strings.Join(texts, " ")
}

// AfterResponse implements [resource.AfterResponder].
func (o observer) AfterResponse() {
	if inside, ok := o.inside.(resource.AfterResponder); ok {
		inside.AfterResponse()
	}
}

// EndSession implements [resource.SessionEnder].
func (o observer) EndSession(session string) {
	if inside, ok := o.inside.(resource.SessionEnder); ok {
		inside.EndSession(session)
	}
}

// Identity implements [resource.Identified].
func (o observer) Identity() (is resource.Identity) {
	if inside, ok := o.inside.(resource.Identified); ok {
		is = inside.Identity()
	}
	return is
}
