package check

import (
	"context"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

const maxAbsent = 64 // URIs beside those of templates

// answersToAnything are codes with which a template may meet a value that is most unlikely to exist.
var answersToAnything = []abi.Code{abi.CodeOK, abi.CodeInvalidParams, abi.CodeDenied, abi.CodeUnavailable}

// checkNotFound asks for what is most unlikely to be there.
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
	for _, place := range r.places() {
		r.readAbsent(ctx, place+noSuch)
	}
}

// places gives where the provider's resources are: what it claims, and the folders of what it lists.
func (r *run) places() (places []string) {
	known := map[string]bool{}
	add := func(place string) {
		if !known[place] && len(places) < maxAbsent {
			known[place] = true
			places = append(places, place)
		}
	}
	for _, p := range r.cfg.Manifest.URIPrefixes {
		add(p)
	}
	for _, e := range r.entries {
		add(e.uri[:strings.LastIndexAny(e.uri, "/:")+1])
	}
	return places
}

// readAbsent wants a URI to be unknown. A template may answer any value, or refuse it otherwise.
func (r *run) readAbsent(ctx context.Context, uri string) {
	if abi.CheckURI(uri) != nil || ctx.Err() != nil {
		return
	}
	_, err := r.read(ctx, &abi.Request{URI: uri})
	matched := r.routeOf(uri) != nil
	switch code := abi.CodeOf(err); {
	case ctx.Err() != nil || code == abi.CodeNotFound:
	case matched && slices.Contains(answersToAnything, code):
	case err != nil:
		r.report.addFailure(ruleNotFound, uri, "instead of not_found", err)
	default:
		r.report.add(ruleNotFound, uri, "it is answered, and neither listed nor of a template")
	}
}
