package traces

import (
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/wasmres/wasmres/runtime/trace"
)

// ParentOf returns the span that a client names; empty texts for none.
func ParentOf(p trace.Parent) (id, span, state string) {
	sc := oteltrace.SpanContextFromContext(parentOf([2]trace.Parent{p}))
	if !sc.IsValid() {
		return "", "", ""
	}
	return sc.TraceID().String(), sc.SpanID().String(), sc.TraceState().String()
}
