package check

import (
	"context"
	"slices"
	"strings"

	expand "github.com/yosida95/uritemplate/v3"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/uritemplate"
)

// A route is one template of the manifest.
type route struct {
	declared *abi.Template
	match    *uritemplate.Template
	expand   *expand.Template
	sampled  bool   // a resource of it was read
	why      string // it could not be sampled; of no meaning when it was
}

// checkManifest holds the manifest to the ABI and to itself.
func (r *run) checkManifest(context.Context) {
	m := r.cfg.Manifest
	r.report.Templates = len(m.Templates)
	if err := m.Check(); err != nil {
		r.report.add(ruleManifest, "manifest", "%v", err)
	}
	if len(m.Templates)+len(m.Resources) > 0 && !m.Implements(abi.OpRead) {
		r.report.add(ruleManifest, "manifest", "there are resources or templates, and ops lacks read")
	}
	for i := range m.Resources {
		r.checkPrefix(m.Resources[i].URI, m.Resources[i].URI)
	}
	for i := range m.Templates {
		r.checkTemplate(&m.Templates[i])
	}
	slices.SortStableFunc(r.routes, func(a, b *route) int { return uritemplate.Compare(a.match, b.match) })
}

func (r *run) checkTemplate(t *abi.Template) {
	where := t.URITemplate
	match, err := uritemplate.Parse(t.URITemplate)
	if err != nil {
		r.report.add(ruleManifest, where, "the template is malformed: %v", err)
		return
	}
	expander, err := expand.New(t.URITemplate)
	if err != nil {
		r.report.add(ruleManifest, where, "the template is malformed: %v", err)
		return
	}
	head, _, _ := strings.Cut(t.URITemplate, "{")
	r.checkPrefix(where, head)
	r.checkMIME(where, t.MIMEType)
	for _, name := range t.Completes {
		if !slices.Contains(match.Variables(), name) {
			r.report.add(ruleManifest, where, "it completes %s, which is no variable of it", name)
		}
	}
	if len(t.Completes) > 0 && !r.cfg.Manifest.Implements(abi.OpComplete) {
		r.report.add(ruleManifest, where, "it completes variables, and ops lacks complete")
	}
	if slices.ContainsFunc(r.routes, func(o *route) bool { return o.declared.URITemplate == t.URITemplate }) {
		r.report.add(ruleManifest, where, "the template is declared twice")
		return
	}
	r.routes = append(r.routes, &route{declared: t, match: match, expand: expander, why: "the check did not come to it"})
}

// checkPrefix wants a URI, or the beginning of one, to be among those the manifest claims.
func (r *run) checkPrefix(where, uri string) {
	prefixes := r.cfg.Manifest.URIPrefixes
	claimed := func(p string) bool {
		return strings.HasPrefix(uri, p) || uri != where && strings.HasPrefix(p, uri)
	}
	if len(prefixes) > 0 && !slices.ContainsFunc(prefixes, claimed) {
		r.report.add(ruleManifest, where, "it begins with no uri_prefix of the manifest")
	}
}

// routeOf gives the template that answers uri; nil for none.
func (r *run) routeOf(uri string) *route {
	if r.isStatic(uri) {
		return nil
	}
	for _, t := range r.routes {
		if _, ok := t.match.Match(uri); ok {
			return t
		}
	}
	return nil
}

func (r *run) isStatic(uri string) bool { return r.static[abi.NormalURI(uri)] }
