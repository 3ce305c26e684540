package resource

import (
	"context"

	"github.com/wasmres/wasmres/abi"
)

// A Degraded is a provider whose entries are missing from a page of a list.
type Degraded struct {
	Provider string   // its name
	Code     abi.Code // why
}

type degradedKey struct{}

// Degrade notes that the entries of d are missing from the page for which ctx was made; the server says so in the _meta
// of the page. The goroutine that runs List or Templates of the Source must call it.
func Degrade(ctx context.Context, d Degraded) {
	if list, ok := ctx.Value(degradedKey{}).(*[]Degraded); ok {
		*list = append(*list, d)
	}
}

// WithDegraded returns a context for which Degrade appends to list.
func WithDegraded(ctx context.Context, list *[]Degraded) context.Context {
	return context.WithValue(ctx, degradedKey{}, list)
}
