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
	for _, uri := range r.absent() {
		r.readAbsent(ctx, uri)
	}
}

// FailsAbsent reads a few URIs that are most unlikely to exist, and returns the first for which the provider fails with an
// ordinary error, abi.CodeInternal or a trap, with that error. It returns no error when there is none.
func FailsAbsent(ctx context.Context, source resource.Source, m *abi.Manifest) (uri string, err error) {
	const most = 4
	r := newRun(Config{Source: source, Manifest: m})
	r.checkManifest(ctx)
	all := r.absent()
	for _, uri := range all[:min(most, len(all))] {
		_, err := r.read(ctx, uri, &resource.Request{})
		if code := abi.CodeOf(err); code == abi.CodeInternal || code == abi.CodeTrap {
			return uri, err
		}
	}
	return "", nil
}

// absent returns URIs that are most unlikely to exist: of each template, and behind each prefix.
func (r *run) absent() (uris []string) {
	add := func(uri string) {
		if abi.CheckURI(uri) == nil {
			uris = append(uris, uri)
		}
	}
	for _, t := range r.routes {
		var values []abi.Var
		for _, name := range t.variables() {
			values = append(values, abi.Var{Name: name, Value: NoSuch})
		}
		if uri, err := t.uri(values); err == nil && len(values) > 0 {
			add(uri)
		}
	}
	for _, prefix := range r.prefixes() {
		add(prefix + NoSuch)
	}
	return uris
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
	if ctx.Err() != nil {
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
