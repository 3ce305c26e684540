package traces

import (
	"context"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/trace"
)

// Bounds on the texts by which a client names its span. A trace state has at most 32 members.
const (
	lenTraceParent = 55 // of version 00
	maxTraceParent = 128
	maxTraceState  = 2048
)

// Tracer returns the Tracer of a tenant; empty for a server without tenants.
func (t *Traces) Tracer(tenant string) trace.Tracer {
	return tracer{t.provider.Tracer("github.com/wasmres/wasmres"), tenant}
}

type tracer struct {
	oteltrace.Tracer
	tenant string
}

// Begin implements [trace.Tracer].
func (t tracer) Begin(r trace.Request) trace.Recorder {
	method := methodOf(r.Method)
	attributes := []attribute.KeyValue{attribute.String("mcp.method.name", method)}
	if r.Revision != "" {
		attributes = append(attributes, attribute.String("mcp.protocol.version", revisionOf(r.Revision)))
	}
	if t.tenant != "" {
		attributes = append(attributes, attribute.String("wasmres.tenant", t.tenant))
	}
	ctx, span := t.Start(parentOf(r.Parents), "request "+method, oteltrace.WithTimestamp(r.Began),
		oteltrace.WithSpanKind(oteltrace.SpanKindServer), oteltrace.WithAttributes(attributes...))
	if !span.IsRecording() {
		return nil
	}
	return &recorder{t.Tracer, ctx, span}
}

// methods are those of MCP that a server can have, and what stands for one in logs.
var methods = []string{
	"resources/read", "resources/list", "resources/templates/list", "resources/subscribe", "resources/unsubscribe",
	"subscriptions/listen", "completion/complete", "tools/list", "tools/call", "server/discover", "initialize", "ping", "download",
	"resources/directory/read", "skills/list", "skills/get",
}

const other = "other"

// methodOf returns a method, or other: a client can send any.
func methodOf(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return other
}

// revisionOf returns a revision as the specification spells it: a date.
func revisionOf(revision string) string {
	const date = "2006-01-02"
	if len(revision) != len(date) {
		return other
	}
	for i, c := range []byte(revision) {
		if c == '-' != (date[i] == '-') || c != '-' && (c < '0' || c > '9') {
			return other
		}
	}
	return revision
}

// parentOf returns a context with the first span of a client that is valid.
func parentOf(parents [2]trace.Parent) context.Context {
	for _, p := range parents {
		if n := len(p.TraceParent); n == 0 || n > maxTraceParent || strings.HasPrefix(p.TraceParent, "00-") && n != lenTraceParent {
			continue
		}
		if len(p.TraceState) > maxTraceState {
			p.TraceState = ""
		}
		carrier := propagation.MapCarrier{"traceparent": p.TraceParent, "tracestate": p.TraceState}
		ctx := propagation.TraceContext{}.Extract(context.Background(), carrier)
		if oteltrace.SpanContextFromContext(ctx).IsValid() {
			return ctx
		}
	}
	return context.Background()
}

// A recorder is a span that is recorded.
type recorder struct {
	tracer oteltrace.Tracer
	ctx    context.Context // with span
	span   oteltrace.Span
}

// Child implements [trace.Recorder].
func (r *recorder) Child(name string) trace.Recorder {
	ctx, span := r.tracer.Start(r.ctx, name)
	return &recorder{r.tracer, ctx, span}
}

// Set implements [trace.Recorder].
func (r *recorder) Set(key trace.Key, value string) {
	r.span.SetAttributes(attribute.String(string(key), value))
}

// End implements [trace.Recorder].
func (r *recorder) End(code string) {
	if code != ok {
		r.span.SetAttributes(attribute.String("error.type", code))
		if !isOfClient(code) {
			r.span.SetStatus(otelcodes.Error, "")
		}
	}
	r.span.End()
}

var ok = abi.CodeOK.String()

// isOfClient reports whether a client has a failure by what it asked for.
func isOfClient(code string) bool {
	switch code {
	case abi.CodeNotFound.String(), abi.CodeInvalidParams.String(), abi.CodeDenied.String(), abi.CodeCancelled.String(),
		abi.CodeUnsupported.String(), abi.CodeInvalidURI.String(), "limited", "exhausted":
		return true
	}
	return code[0] == '-' // a number of JSON-RPC
}
