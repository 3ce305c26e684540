package trace_test

import (
	"context"
	"testing"

	"github.com/wasmres/wasmres/runtime/trace"
)

// path is what a request that is not traced costs, from the front to a capability.
func path(ctx context.Context, t trace.Tracer) {
	request := trace.Begin(t, trace.Request{Method: "resources/read"})
	ctx = trace.With(ctx, request)
	trace.Start(ctx, "guard").End("ok")
	from := trace.From(ctx)
	from.Child("queue").End("ok")
	call := from.Child("call")
	call.Set(trace.Provider, "hello")
	call.Child("start").End("ok")
	call.Child("capability kv").End("ok")
	call.End("ok")
	request.End("ok")
}

// A tracer that traces nothing.
type nothing struct{}

func (nothing) Begin(trace.Request) trace.Recorder { return nil }

func TestWhatIsNotTracedAllocatesNothing(t *testing.T) {
	ctx := context.WithValue(t.Context(), t, t)
	for name, tracer := range map[string]trace.Tracer{"without a Tracer": nil, "not sampled": nothing{}} {
		if n := testing.AllocsPerRun(100, func() { path(ctx, tracer) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestFromHeader(t *testing.T) {
	for _, c := range []struct {
		header map[string][]string
		want   trace.Parent
	}{
		{nil, trace.Parent{}},
		{map[string][]string{"Traceparent": {"a"}}, trace.Parent{TraceParent: "a"}},
		{map[string][]string{"Traceparent": {"a"}, "Tracestate": {"b=1", "c=2"}}, trace.Parent{TraceParent: "a", TraceState: "b=1,c=2"}},
		{map[string][]string{"Traceparent": {"a", "a"}, "Tracestate": {"b=1"}}, trace.Parent{}}, // which one is uncertain
		{map[string][]string{"Tracestate": {"b=1"}}, trace.Parent{}},
	} {
		if got := trace.FromHeader(c.header); got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.header, got, c.want)
		}
	}
}

func BenchmarkOff(b *testing.B) {
	ctx := context.WithValue(b.Context(), b, b)
	b.ReportAllocs()
	for b.Loop() {
		path(ctx, nil)
	}
}
