package wasmres

import "strings"

// A registry is everything a provider registered. It is complete when init functions have run and does not change
// after that.
type registry struct {
	manifest  Manifest
	templates []*Route // a route number is the index plus one
	statics   []*Route
	byURI     map[string]*Route // the same statics
	any       *Route            // nil for none
	list      func(*Request, *Page) error
	listDir   func(*Request, *Page) error
	warm      []func()
	ops       uint32 // bit n is set when operation n is implemented
}

var registered = registry{ops: 1 << opDescribe}

// Warm registers what is to be done once before the first request: filling caches, parsing templates, calling what is
// slow the first time. Every request finds what it left. It has no services to call, and randomness it draws is the same
// in every request.
func Warm(f func()) { registered.warm = append(registered.warm, f) }

func (g *registry) addStatic(uri string, read func(*Request) ([]Content, error)) *Route {
	if strings.ContainsAny(uri, "{}") {
		panic("wasmres: Resource: " + uri + " is a template: use Template")
	}
	if g.byURI[uri] != nil {
		panic("wasmres: Resource: " + uri + " is registered twice")
	}
	if g.byURI == nil {
		g.byURI = make(map[string]*Route)
	}
	t := &Route{entry: Entry{URI: uri}, read: read}
	g.statics = append(g.statics, t)
	g.byURI[uri] = t
	g.ops |= 1 << opRead
	return t
}

func (g *registry) addTemplate(template string, read func(*Request) ([]Content, error)) *Route {
	if g.template(template) != nil {
		panic("wasmres: Template: " + template + " is registered twice")
	}
	t := &Route{entry: Entry{URI: template}, template: true, read: read}
	g.templates = append(g.templates, t)
	g.ops |= 1 << opRead
	return t
}

func (g *registry) setAny(read func(*Request) ([]Content, error)) *Route {
	if g.any != nil {
		panic("wasmres: ReadAny is called twice")
	}
	g.any = &Route{read: read}
	g.ops |= 1 << opRead
	return g.any
}

// template finds a template by its text.
func (g *registry) template(text string) *Route {
	for _, t := range g.templates {
		if t.entry.URI == text {
			return t
		}
	}
	return nil
}

// route finds who answers for a URI the host routed; nil for nobody.
func (g *registry) route(number uint32, uri string) *Route {
	switch {
	case number > uint32(len(g.templates)):
		return nil
	case number > 0:
		return g.templates[number-1]
	}
	if t := g.byURI[uri]; t != nil {
		return t
	}
	return g.any
}
