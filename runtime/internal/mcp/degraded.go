package mcp

import (
	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/resource"
)

// metaDegraded is the key of _meta with the providers whose entries are missing from a page of a list.
const metaDegraded = "io.github.wasmres/degraded"

// beginPage opens the result with a page of a list.
func (c *Core) beginPage(r *request, missing []resource.Degraded) {
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
		r.out = textenc.AppendString(r.out, d.Provider)
		r.out = append(appendMember(r.out, "code", d.Code.String()), '}')
	}
	r.out = append(r.out, `]},`...)
}
