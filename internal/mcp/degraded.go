package mcp

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/wire"
)

// metaDegraded is the key of _meta that says whose entries are missing from a page of a list.
const metaDegraded = "io.github.wasmres/degraded"

// A Degraded is a provider whose entries are missing from a page of a list.
type Degraded struct {
	Provider string   // its name
	Code     abi.Code // why
}

type degradedKey struct{}

// Degrade notes that d is missing from the page that ctx asks for, whose _meta will say so. It is to be called by the
// goroutine in which List or Templates of the Source runs.
func Degrade(ctx context.Context, d Degraded) {
	if list, ok := ctx.Value(degradedKey{}).(*[]Degraded); ok {
		*list = append(*list, d)
	}
}

// WithDegraded gives a context for which Degrade appends to list.
func WithDegraded(ctx context.Context, list *[]Degraded) context.Context {
	return context.WithValue(ctx, degradedKey{}, list)
}

// beginPage opens the result with a page of a list.
func (c *Core) beginPage(r *request, missing []Degraded) {
	if len(missing) == 0 {
		c.begin(r)
		return
	}
	r.out = append(r.out, '{')
	if r.modern {
		r.out = append(r.out, `"resultType":"complete",`...)
	}
	r.out = append(r.out, `"_meta":{`...)
	if r.modern {
		r.out = append(append(r.out, c.server...), ',')
	}
	r.out = append(r.out, `"`+metaDegraded+`":[`...)
	for i, d := range missing {
		r.out = append(comma(r.out, i), `{"provider":`...)
		r.out = wire.AppendString(r.out, d.Provider)
		r.out = append(appendMember(r.out, "code", d.Code.String()), '}')
	}
	r.out = append(r.out, `]},`...)
}
