package check

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	expand "github.com/yosida95/uritemplate/v3"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/uritemplate"
)

// A route is one template of the manifest.
type route struct {
	declared *abi.Template
	match    *uritemplate.Template
	expand   *expand.Template
	sampled  bool   // a resource of it has been read
	why      string // why none has been read; meaningless if sampled
}

// checkManifest checks the manifest against the ABI and for contradictions.
func (r *run) checkManifest(context.Context) {
	m := r.cfg.Manifest
	r.report.Templates = len(m.Templates)
	if err := m.Check(); err != nil {
		r.report.add(ruleManifest, "manifest", "%v", err)
	}
	if len(m.Templates)+len(m.Resources) > 0 && !m.Implements(abi.OpRead) {
		r.report.add(ruleManifest, "manifest", "the manifest has resources or templates, but ops lacks read")
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
	match, err := uritemplate.Parse(abi.FoldURI(t.URITemplate))
	if err != nil {
		r.report.add(ruleManifest, where, "the template is malformed: %v", err)
		return
	}
	expander, err := expand.New(t.URITemplate)
	if err != nil {
		r.report.add(ruleManifest, where, "the template is malformed: %v", err)
		return
	}
	if err := CheckScheme(t.URITemplate); err != nil {
		r.report.add(ruleManifest, where, "%v", err)
	}
	head, _, _ := strings.Cut(t.URITemplate, "{")
	r.checkPrefix(where, head)
	r.checkMIME(where, t.MIMEType)
	r.checkMeta(where, abi.ReservedMeta(t.Meta))
	for _, name := range t.Completes {
		if !slices.Contains(match.Variables(), name) {
			r.report.add(ruleManifest, where, "the template completes %s, which is not one of its variables", name)
		}
	}
	if len(t.Completes) > 0 && !r.cfg.Manifest.Implements(abi.OpComplete) {
		r.report.add(ruleManifest, where, "the template completes variables, but ops lacks complete")
	}
	if slices.ContainsFunc(r.routes, func(o *route) bool { return o.declared.URITemplate == t.URITemplate }) {
		r.report.add(ruleManifest, where, "the template is declared twice")
		return
	}
	same := func(o *route) bool { return shapeOf(o.declared.URITemplate) == shapeOf(t.URITemplate) }
	if i := slices.IndexFunc(r.routes, same); i >= 0 {
		r.report.add(ruleTemplateShadowed, where, "the template matches the same URIs as %s, which comes first", r.routes[i].declared.URITemplate)
	}
	r.routes = append(r.routes, &route{declared: t, match: match, expand: expander, why: "the check ended before"})
}

var (
	schemeHead = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	expression = regexp.MustCompile(`\{[^}]*\}`)
	variable   = regexp.MustCompile(`[A-Za-z0-9_.%]+(:[0-9]+|\*)?`)
)

// CheckScheme returns an error for a template that does not begin with a URI scheme. Such a template matches no URI that a
// client may send.
func CheckScheme(template string) error {
	if schemeHead.MatchString(template) {
		return nil
	}
	return fmt.Errorf("the template %s has no scheme: put one before it, as in notes:%[1]s", template)
}

// shapeOf returns a template with one name for all variables but those of queries and path parameters. Templates of one
// shape match the same URIs.
func shapeOf(template string) string {
	return expression.ReplaceAllStringFunc(template, func(e string) string {
		if strings.ContainsRune("?&;", rune(e[1])) {
			return e
		}
		return variable.ReplaceAllString(e, "x$1")
	})
}

// checkPrefix checks that the manifest claims a URI, or the beginning of one.
func (r *run) checkPrefix(where, uri string) {
	prefixes := r.cfg.Manifest.URIPrefixes
	claimed := func(p string) bool {
		return strings.HasPrefix(uri, p) || uri != where && strings.HasPrefix(p, uri)
	}
	if len(prefixes) > 0 && !slices.ContainsFunc(prefixes, claimed) {
		r.report.add(ruleManifest, where, "the URI begins with no uri_prefix of the manifest")
	}
}

// routeOf returns the template that answers uri; nil for none.
func (r *run) routeOf(uri string) *route {
	if r.isStatic(uri) {
		return nil
	}
	for _, t := range r.routes {
		if _, ok := t.match.Match(abi.FoldURI(uri)); ok {
			return t
		}
	}
	return nil
}

func (r *run) isStatic(uri string) bool { return r.static[abi.NormalURI(uri)] }
