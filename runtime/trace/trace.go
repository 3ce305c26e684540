// Package trace is the interface by which a server tells how it answered a request: a tree of spans, each with a name, two times
// and a few attributes.
//
// # Cost
//
// A nil *Span is that of a request which is not traced: its methods do nothing. [Start] and [From] of a process that has traced
// no request look at one atomic variable, and allocate nothing.
package trace

import (
	"context"
	"strings"
	"sync/atomic"
	"time"
)

// A Tracer traces requests. It is safe for concurrent use, and never blocks.
type Tracer interface {
	// Begin begins the span of a request; it is nil for one that is not traced.
	Begin(r Request) Recorder
}

// A Request is what a Tracer gets to know of a request.
type Request struct {
	Method   string // of MCP, as the client wrote it; or download
	Revision string // of MCP, of which the request is; empty if that is not known
	Began    time.Time
	// Parents are spans of the client, the first valid one of which is the parent of the request's span. They are as the
	// client sent them, and may be empty or wrong.
	Parents [2]Parent
}

// A Parent is a span of a client, in the texts of W3C Trace Context.
type Parent struct{ TraceParent, TraceState string }

// FromHeader gives the span of the client that the headers of a request name, as they are: empty texts for none, or for several.
func FromHeader(h map[string][]string) Parent {
	parents := h["Traceparent"]
	if len(parents) != 1 {
		return Parent{}
	}
	return Parent{parents[0], strings.Join(h["Tracestate"], ",")}
}

// A Recorder records one span. Its methods may be called on several goroutines at once, and do not block.
type Recorder interface {
	// Child begins a span within this one.
	Child(name string) Recorder
	// Set says something of the span. Values are short, and from sets that clients cannot extend.
	Set(key Key, value string)
	// End ends the span. code is that of package abi, or a number of JSON-RPC, by which it failed; "ok" if it did not.
	End(code string)
}

// A Key names an attribute.
type Key string

// The attributes.
const (
	Provider  Key = "wasmres.provider"     // name of the provider
	Version   Key = "wasmres.version"      // of the provider
	Template  Key = "wasmres.uri_template" // of the resource: its template, or the URI if the manifest has that
	Operation Key = "wasmres.operation"    // what a guest has a capability do
)

// A Span is a part of answering a request. Its zero value is not usable; nil is no span.
type Span struct{ recorder Recorder }

// Begin begins the span of a request. A nil Tracer gives nil.
func Begin(t Tracer, r Request) *Span {
	if t == nil {
		return nil
	}
	return spanOf(t.Begin(r))
}

func spanOf(r Recorder) *Span {
	if r == nil {
		return nil
	}
	return &Span{r}
}

// Child begins a span within s, which the caller ends.
func (s *Span) Child(name string) *Span {
	if s == nil {
		return nil
	}
	return spanOf(s.recorder.Child(name))
}

// Set says something of the span, unless value is empty.
func (s *Span) Set(key Key, value string) {
	if s != nil && value != "" {
		s.recorder.Set(key, value)
	}
}

// End ends the span, with its code: see [Recorder].
func (s *Span) End(code string) {
	if s != nil {
		s.recorder.End(code)
	}
}

type spanKey struct{}

// used is whether a context has had a span since the process began.
var used atomic.Bool

// With returns a context in which [From] finds s; ctx itself if s is nil.
func With(ctx context.Context, s *Span) context.Context {
	if s == nil {
		return ctx
	}
	if !used.Load() {
		used.Store(true)
	}
	return context.WithValue(ctx, spanKey{}, s)
}

// From returns the span of ctx; nil for none.
func From(ctx context.Context) *Span {
	if !used.Load() {
		return nil
	}
	s, _ := ctx.Value(spanKey{}).(*Span)
	return s
}

// Start begins a span within that of ctx; it is nil if there is none. The caller ends it.
func Start(ctx context.Context, name string) *Span { return From(ctx).Child(name) }
