package check

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Sample is a resource that is worth a read.
type Sample struct {
	URI      string
	Template string // whose resource it is; empty for those of the manifest, and of the list alone
}

// A Selection is what to read of a provider to have seen each kind of resource.
type Selection struct {
	Samples   []Sample    // those of the manifest come first
	Omitted   int         // resources of the manifest, and templates, for which there was no room
	Unsampled []Unsampled // templates of which no resource is known
}

// tries is how many values of a variable are tried, for one that makes a resource of the template.
const tries = 20

// Select chooses at most most resources: those of the manifest, evenly if there are too many, one of each template, and
// one that is listed and is neither. Where the first page of the list has none of a template, its variables are
// completed. Nothing is read, so a sample may turn out not to be there. It fails only when ctx ends.
func Select(ctx context.Context, source resource.Source, m *abi.Manifest, most int) (*Selection, error) {
	r := newRun(Config{Source: source, Manifest: m, Samples: tries})
	r.checkManifest(ctx)
	made := r.selectMade(ctx, most-min(len(m.Resources), most/2))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := min(len(m.Resources), most-len(made.Samples))
	var static []Sample
	for i := range n {
		static = append(static, Sample{URI: m.Resources[spread(i, n, len(m.Resources))].URI})
	}
	made.Samples = append(static, made.Samples...)
	made.Omitted += len(m.Resources) - n
	return made, nil
}

// selectMade chooses at most most of the resources that are not the manifest's.
func (r *run) selectMade(ctx context.Context, most int) *Selection {
	s := &Selection{}
	listed := r.firstListed(ctx)
	for _, t := range r.routes {
		uri, known := listed[t]
		switch {
		case len(s.Samples) == most:
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
	if uri, known := listed[nil]; known && len(s.Samples) < most {
		s.Samples = append(s.Samples, Sample{URI: uri})
	}
	return s
}

// firstListed gives the first resource on the first page of the list for each template, and for none.
func (r *run) firstListed(ctx context.Context) map[*route]string {
	found := map[*route]string{}
	reply, err := r.cfg.Source.List(ctx, &abi.Request{})
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
