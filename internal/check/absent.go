package check

import (
	"context"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

const maxAbsent = 64 // URIs without a template

// templateCodes are the codes, beside not_found, that a template may answer for an unknown value.
var templateCodes = []abi.Code{abi.CodeOK, abi.CodeInvalidParams, abi.CodeDenied, abi.CodeUnavailable}

// checkNotFound reads URIs that are most unlikely to exist.
func (r *run) checkNotFound(ctx context.Context) {
	for _, t := range r.routes {
		var values []abi.Var
		for _, name := range t.variables() {
			values = append(values, abi.Var{Name: name, Value: noSuch})
		}
		if uri, err := t.uri(values); err == nil && len(values) > 0 {
			r.readAbsent(ctx, uri)
		}
	}
	for _, prefix := range r.prefixes() {
		r.readAbsent(ctx, prefix+noSuch)
	}
}

// prefixes returns the beginnings of the provider's URIs: those it claims, and the parents of the resources it lists.
func (r *run) prefixes() (prefixes []string) {
	known := map[string]bool{}
	add := func(prefix string) {
		if !known[prefix] && len(prefixes) < maxAbsent {
			known[prefix] = true
			prefixes = append(prefixes, prefix)
		}
	}
	for _, p := range r.cfg.Manifest.URIPrefixes {
		add(p)
	}
	for _, e := range r.entries {
		add(e.uri[:strings.LastIndexAny(e.uri, "/:")+1])
	}
	return prefixes
}

// readAbsent checks that a URI is not found. A template may also answer it, or refuse it with one of templateCodes.
func (r *run) readAbsent(ctx context.Context, uri string) {
	if abi.CheckURI(uri) != nil || ctx.Err() != nil {
		return
	}
	_, err := r.read(ctx, uri, &resource.Request{})
	matched := r.routeOf(uri) != nil
	switch code := abi.CodeOf(err); {
	case ctx.Err() != nil || code == abi.CodeNotFound:
	case matched && slices.Contains(templateCodes, code):
	case err != nil:
		r.report.addFailure(ruleNotFound, uri, "expected not_found, but the read failed", err)
	default:
		r.report.add(ruleNotFound, uri, "the read succeeds, though the URI is not listed and matches no template")
	}
}
