package wasmres

import (
	"strings"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// Readable is what a handler may answer a read with: a string is text, a []byte is binary, a Content says more about
// itself, and several contents may be answered at once. No content at all means not found.
type Readable interface {
	string | []byte | Content | []Content
}

// A Route is a resource or a family of resources with its handlers. Its methods return it, so that they chain; they
// panic on what only a programmer's mistake can cause.
type Route struct {
	entry      Entry // of a template its URI is the template
	template   bool
	read       func(*Request) ([]Content, error)
	completers []completer
	every      time.Duration // 0 when not watched
	version    func(*Request) (string, error)
	ttl        time.Duration
	scope      uint64
	ranges     bool
}

type completer struct {
	variable string
	complete func(r *Request, prefix string) ([]string, error)
}

// Resource registers a single resource with a fixed URI, which clients see listed.
func Resource[T Readable](uri string, read func(*Request) (T, error)) *Route {
	return registered.addStatic(uri, contentsOf(read))
}

// Template registers a family of resources, as in Template("users://{user_id}", user). The host matches URIs (RFC
// 6570) and hands the decoded variables to the handler: see [Request.Var].
func Template[T Readable](template string, read func(*Request) (T, error)) *Route {
	return registered.addTemplate(template, contentsOf(read))
}

// ReadAny registers the handler for URIs that are neither a [Resource] nor match a [Template], such as those a [List]
// names. Of the Route's methods TTL, Public and Watch apply.
func ReadAny[T Readable](read func(*Request) (T, error)) *Route {
	return registered.setAny(contentsOf(read))
}

func contentsOf[T Readable](read func(*Request) (T, error)) func(*Request) ([]Content, error) {
	return func(r *Request) ([]Content, error) {
		answer, err := read(r)
		if err != nil {
			return nil, err
		}
		switch v := any(answer).(type) {
		case string:
			r.sole[0] = Text(v)
		case []byte:
			r.sole[0] = Bytes(v)
		case Content:
			r.sole[0] = v
		case []Content:
			return v, nil
		}
		return r.sole[:], nil
	}
}

// Name sets the short name; without it the last part of the URI serves, or the template.
func (t *Route) Name(name string) *Route { t.entry.Name = name; return t }

// Title sets the name people see.
func (t *Route) Title(title string) *Route { t.entry.Title = title; return t }

// Describe says in a sentence or two what is to be found here, for people and models.
func (t *Route) Describe(description string) *Route { t.entry.Description = description; return t }

// MIME sets the type of the contents, unless a content names its own.
func (t *Route) MIME(mime string) *Route { t.entry.MIME = mime; return t }

// Size tells the size in bytes of a resource.
func (t *Route) Size(bytes int64) *Route { t.entry.Size = bytes; return t }

// Icon adds an icon.
func (t *Route) Icon(icon Icon) *Route { t.entry.Icons = append(t.entry.Icons, icon); return t }

// Audience says whom this is meant for.
func (t *Route) Audience(a Audience) *Route { t.entry.Audience = a; return t }

// Priority says how much this matters, from 0 for optional to 1 for required.
func (t *Route) Priority(p float64) *Route {
	t.entry.Priority, t.entry.least = p, p == 0
	return t
}

// LastModified tells when a resource changed last.
func (t *Route) LastModified(when time.Time) *Route { t.entry.LastModified = when; return t }

// Meta sets the _meta of the listing, a JSON object.
func (t *Route) Meta(json string) *Route { t.entry.Meta = json; return t }

// TTL says how long clients may keep an answer. Without it they keep none.
func (t *Route) TTL(d time.Duration) *Route { t.ttl = d; return t }

// Public says that an answer that is kept may be given to anybody, not only to who asked.
func (t *Route) Public() *Route { t.scope = cachePublic; return t }

// Ranges says that parts may be asked for: see [Request.Range].
func (t *Route) Ranges() *Route { t.ranges = true; return t }

// Complete registers what suggests values for a variable of the template, given what was typed so far. Variables the
// client knows already are in r. The values are passed on as they are: filter them by prefix yourself, or use
// [Route.CompleteFrom]. At most 100 reach the client.
func (t *Route) Complete(variable string, complete func(r *Request, prefix string) ([]string, error)) *Route {
	if !t.template || !hasVariable(t.entry.URI, variable) {
		panic("wasmres: Complete: " + t.entry.URI + " has no variable " + variable)
	}
	t.completers = append(t.completers, completer{variable, complete})
	registered.ops |= 1 << opComplete
	return t
}

// CompleteFrom suggests those of values that begin with what was typed, regardless of case.
func (t *Route) CompleteFrom(variable string, values ...string) *Route {
	return t.Complete(variable, func(_ *Request, prefix string) ([]string, error) {
		var found []string
		for _, v := range values {
			if len(v) >= len(prefix) && strings.EqualFold(v[:len(prefix)], prefix) {
				found = append(found, v)
			}
		}
		return found, nil
	})
}

// Watch lets clients follow changes: while somebody does, the host asks version every so often and tells them when its
// answer, an etag, differs from the last one.
func (t *Route) Watch(every time.Duration, version func(*Request) (string, error)) *Route {
	if every <= 0 {
		panic("wasmres: Watch: " + t.entry.URI + ": every must be positive")
	}
	t.every, t.version = every, version
	registered.ops |= 1<<opSubscribe | 1<<opPoll
	return t
}

// hasVariable reports whether name stands in an expression of template.
func hasVariable(template, name string) bool {
	for {
		_, rest, found := strings.Cut(template, "{")
		if !found {
			return false
		}
		var expression string
		expression, template, _ = strings.Cut(rest, "}")
		for spec := range strings.SplitSeq(strings.TrimLeft(expression, "+#./;?&"), ",") {
			if spec, _, _ = strings.Cut(strings.TrimSuffix(spec, "*"), ":"); spec == name {
				return true
			}
		}
	}
}

// completer gives the completer of a variable; nil for none.
func (t *Route) completer(variable string) func(*Request, string) ([]string, error) {
	for _, c := range t.completers {
		if c.variable == variable {
			return c.complete
		}
	}
	return nil
}

func (t *Route) appendTemplate(b []byte) []byte {
	e := &t.entry
	name := e.Name
	if name == "" {
		name = e.URI
	}
	b, at := wire.Begin(b, 6)
	b = wire.AppendString(b, 1, e.URI)
	b = wire.AppendString(b, 2, name)
	b = wire.AppendString(b, 3, e.Title)
	b = wire.AppendString(b, 4, e.Description)
	b = wire.AppendString(b, 5, e.MIME)
	b = e.appendPriority(b)
	b = wire.AppendUint(b, 9, uint64(e.Audience))
	for i := range e.Icons {
		b = e.Icons[i].append(b)
	}
	b = wire.AppendString(b, 11, e.Meta)
	for _, c := range t.completers {
		b = wire.AppendElement(b, 12, c.variable)
	}
	b = wire.AppendBool(b, 13, t.ranges)
	b = wire.AppendUint(b, 14, millis(t.ttl))
	b = wire.AppendUint(b, 15, t.scope)
	return wire.End(b, at)
}
