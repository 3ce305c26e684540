package check

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Sample is one resource to read.
type Sample struct {
	URI      string
	Template string // that matches it; empty for a resource of the manifest, or one that is only listed
}

// A Selection has one resource of each kind that a provider has.
type Selection struct {
	Samples   []Sample    // resources of the manifest come first
	Omitted   int         // resources of the manifest and templates beyond the limit
	Unsampled []Unsampled // templates without a known resource
}

// tries bounds the values of a variable that Select tries, to find one that makes a resource of the template.
const tries = 20

// Select chooses at most limit resources: those of the manifest, evenly spread if there are too many, one of each template,
// and one that is only listed. If the first page of the list has no resource of a template, Select completes its variables.
// Select reads nothing, so that a sample may not exist. It fails only if ctx ends.
func Select(ctx context.Context, source resource.Source, m *abi.Manifest, limit int) (*Selection, error) {
	r := newRun(Config{Source: source, Manifest: m, Samples: tries})
	r.checkManifest(ctx)
	others := r.selectOthers(ctx, limit-min(len(m.Resources), limit/2))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := min(len(m.Resources), limit-len(others.Samples))
	var static []Sample
	for i := range n {
		static = append(static, Sample{URI: m.Resources[evenly(i, n, len(m.Resources))].URI})
	}
	others.Samples = append(static, others.Samples...)
	others.Omitted += len(m.Resources) - n
	return others, nil
}

// selectOthers chooses at most limit resources that are not of the manifest.
func (r *run) selectOthers(ctx context.Context, limit int) *Selection {
	s := &Selection{}
	listed := r.firstListed(ctx)
	for _, t := range r.routes {
		uri, known := listed[t]
		switch {
		case len(s.Samples) == limit:
			s.Omitted++
			continue
		case !known:
			uri, known = r.firstCompleted(ctx, t)
		}
		if !known {
			s.Unsampled = append(s.Unsampled, t.unsampled())
			continue
		}
		s.Samples = append(s.Samples, Sample{URI: uri, Template: t.declared.URITemplate})
	}
	if uri, known := listed[nil]; known && len(s.Samples) < limit {
		s.Samples = append(s.Samples, Sample{URI: uri})
	}
	return s
}

// firstListed returns the first resource on the first page of the list for each template, and for none.
func (r *run) firstListed(ctx context.Context) map[*route]string {
	found := map[*route]string{}
	reply, err := r.cfg.Source.List(ctx, &resource.Request{})
	if err != nil {
		return found
	}
	for i := range reply.Resources {
		uri := reply.Resources[i].URI
		if r.isStatic(uri) || abi.CheckURI(uri) != nil {
			continue
		}
		if t := r.routeOf(uri); found[t] == "" {
			found[t] = uri
		}
	}
	return found
}

// firstCompleted makes a resource of the template from values that complete its variables.
func (r *run) firstCompleted(ctx context.Context, t *route) (uri string, ok bool) {
	for _, values := range r.samples(ctx, t) {
		uri, err := t.uri(values)
		if err == nil && abi.CheckURI(uri) == nil && r.routeOf(uri) == t {
			return uri, true
		}
	}
	return "", false
}
