package mcp

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Keys of the _meta of results.
const (
	metaDegraded  = "io.github.wasmres/degraded" // the providers whose entries are missing from a page of a list
	metaProvider  = "dev.wasmres/provider"       // the provenance of the one provider that answers
	metaProviders = "dev.wasmres/providers"      // that of all of them
)

// beginTraced opens a result about a URI, or about all providers if it is empty.
func (c *Core) beginTraced(r *request, uri string) { c.beginPage(r, uri, nil) }

// beginPage opens a result from which the entries of some providers are missing.
func (c *Core) beginPage(r *request, uri string, missing []resource.Degraded) {
	traced := c.provenanceOf(uri)
	if len(missing) == 0 && len(traced) == 0 {
		c.begin(r)
		return
	}
	b := append(r.out, '{')
	if r.modern {
		b = append(b, `"resultType":"complete",`...)
	}
	b = append(b, `"_meta":{`...)
	if r.modern {
		b = append(append(b, c.server...), ',')
	}
	b = appendDegraded(b, missing)
	if len(missing) > 0 && len(traced) > 0 {
		b = append(b, ',')
	}
	r.out = append(appendProvenance(b, traced), `},`...)
}

// provenanceOf returns which code answers for a URI, or all of it for the empty one; nil if the source does not say.
func (c *Core) provenanceOf(uri string) []*resource.Provenance {
	if c.traceable == nil {
		return nil
	}
	if uri == "" {
		return c.traceable.Provenance(abi.URI{})
	}
	parsed, err := abi.ParseURI(uri)
	if err != nil {
		return nil // the request fails for that
	}
	return c.traceable.Provenance(parsed)
}

func appendDegraded(b []byte, missing []resource.Degraded) []byte {
	if len(missing) == 0 {
		return b
	}
	b = append(b, `"`+metaDegraded+`":[`...)
	for i, d := range missing {
		b = append(comma(b, i), `{"provider":`...)
		b = textenc.AppendString(b, d.Provider)
		b = append(appendMember(b, "code", d.Code.String()), '}')
	}
	return append(b, ']')
}

func appendProvenance(b []byte, all []*resource.Provenance) []byte {
	switch len(all) {
	case 0:
		return b
	case 1:
		return appendProvider(append(b, `"`+metaProvider+`":`...), all[0])
	}
	b = append(b, `"`+metaProviders+`":[`...)
	for i, p := range all {
		b = appendProvider(comma(b, i), p)
	}
	return append(b, ']')
}

func appendProvider(b []byte, p *resource.Provenance) []byte {
	b = append(b, `{"digest":`...)
	b = textenc.AppendString(b, p.Digest)
	b = appendMember(b, "reference", p.Reference)
	b = appendMember(b, "version", p.Version)
	b = appendMember(b, "signer", p.Signer)
	return append(appendMember(b, "policy", p.Policy), '}')
}
