package wasmrestest

import (
	"errors"
	"slices"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// A Request is a read with everything that can be said about it.
type Request struct {
	URI         string
	Range       wasmres.Range // only reaches templates that declare ranges
	IfNoneMatch string
	Meta        string // JSON object
	Principal   *wasmres.Principal
}

// An Answer is what a read gave.
type Answer struct {
	Contents []Content
	Progress []Progress
	TTL      time.Duration
	Public   bool
}

// Do reads a resource. Errors of the provider are of type *wasmres.Error.
func (p *Provider) Do(q Request) (*Answer, error) {
	b, ranges, err := p.route(q.URI)
	if err != nil {
		return nil, err
	}
	if ranges {
		b = wire.AppendUint(b, 6, q.Range.Offset)
		b = wire.AppendUint(b, 7, q.Range.Length)
	}
	b = wire.AppendString(b, 8, q.IfNoneMatch)
	b = wire.AppendUint(b, 9, uint64(p.MaxBody))
	if q.Principal != nil {
		b = appendPrincipal(b, q.Principal)
	}
	b = wire.AppendString(b, 13, q.Meta)
	r, err := p.call(opRead, b)
	if err != nil {
		return nil, err
	}
	if len(r.contents) == 0 {
		return nil, hostError(codeProtocol, "the provider answered no content")
	}
	return &Answer{Contents: r.contents, Progress: r.progress, TTL: r.ttl, Public: r.public}, nil
}

// Read reads a resource and gives its contents.
func (p *Provider) Read(uri string) ([]Content, error) {
	a, err := p.Do(Request{URI: uri})
	if err != nil {
		return nil, err
	}
	return a.Contents, nil
}

// Text reads a resource that is one text and ends the test when it is anything else.
func (p *Provider) Text(uri string) string {
	p.t.Helper()
	return string(p.sole(uri, true).Data)
}

// Bytes reads a resource that is one binary and ends the test when it is anything else.
func (p *Provider) Bytes(uri string) []byte {
	p.t.Helper()
	return p.sole(uri, false).Data
}

// sole reads a resource that is one content.
func (p *Provider) sole(uri string, text bool) Content {
	p.t.Helper()
	contents, err := p.Read(uri)
	need(p, "read "+uri, contents, err)
	if len(contents) != 1 || contents[0].Text != text {
		p.t.Fatalf("read %s: got %d contents, the first text=%v; want one, text=%v", uri, len(contents), contents[0].Text, text)
	}
	return contents[0]
}

// Manifest gives what the provider says of itself.
func (p *Provider) Manifest() Manifest {
	p.t.Helper()
	if p.manifest == nil {
		r, err := p.call(opDescribe, nil)
		p.manifest = &need(p, "describe", r, err).manifest
	}
	return *p.manifest
}

// List gives everything the provider lists, page after page: fixed resources first.
func (p *Provider) List() []Entry {
	p.t.Helper()
	m := p.Manifest()
	all := slices.Clone(m.Resources)
	if m.Ops&(1<<opList) == 0 {
		return all
	}
	return append(all, p.pages("list", p.Page)...)
}

// Directory gives the children of a directory resource, page after page.
func (p *Provider) Directory(uri string) []Entry {
	p.t.Helper()
	return p.pages("list directory "+uri, func(cursor string) ([]Entry, string, error) { return p.DirectoryPage(uri, cursor) })
}

// pages gives the entries of all pages.
func (p *Provider) pages(what string, page func(cursor string) ([]Entry, string, error)) (all []Entry) {
	p.t.Helper()
	for cursor := ""; ; {
		entries, next, err := page(cursor)
		all = append(all, need(p, what, entries, err)...)
		if next == "" {
			return all
		}
		if next == cursor {
			p.t.Fatalf("%s: cursor %q leads nowhere", what, cursor)
		}
		cursor = next
	}
}

// Page gives one page of the provider's own list and the cursor of the next one; empty when this is the last.
func (p *Provider) Page(cursor string) (entries []Entry, next string, err error) {
	return p.page(opList, nil, cursor)
}

// DirectoryPage gives one page of the children of a directory resource and the cursor of the next one; empty when this is the
// last. A child that is none of the directory ends the test, as the host refuses it.
func (p *Provider) DirectoryPage(uri, cursor string) (entries []Entry, next string, err error) {
	p.t.Helper()
	b, _, err := p.route(uri)
	if err != nil {
		return nil, "", err
	}
	entries, next, err = p.page(opListDir, b, cursor)
	for _, e := range entries {
		if name, ok := strings.CutPrefix(normal(e.URI), strings.TrimSuffix(normal(uri), "/")+"/"); !ok || name == "" || strings.ContainsAny(name, "/?#") {
			p.t.Errorf("list directory %s: %s is not a direct child of it", uri, e.URI)
		}
	}
	return entries, next, err
}

// page runs a list operation. b has the first fields of its request.
func (p *Provider) page(op uint32, b []byte, cursor string) (entries []Entry, next string, err error) {
	b = wire.AppendString(b, 4, cursor)
	b = wire.AppendUint(b, 5, uint64(p.PageSize))
	r, err := p.call(op, b)
	if err != nil {
		return nil, "", err
	}
	for _, e := range r.entries {
		if e.URI == "" || e.Name == "" {
			return nil, "", hostError(codeProtocol, "an entry has no URI")
		}
	}
	return r.entries, r.next, nil
}

// Complete gives what the provider suggests for a variable of a template. known are variables with a value already;
// nil for none.
func (p *Provider) Complete(template, variable, prefix string, known map[string]string) ([]string, error) {
	b := wire.AppendString(nil, 1, template)
	for name, value := range known {
		b = appendVar(b, name, value)
	}
	b = wire.AppendString(b, 10, variable)
	b = wire.AppendString(b, 11, prefix)
	r, err := p.call(opComplete, b)
	if err != nil {
		return nil, err
	}
	return r.completions, nil
}

// Subscribe tells the provider that somebody watches a resource, and gives how often it wants to be polled; 0 for
// never.
func (p *Provider) Subscribe(uri string) (time.Duration, error) {
	r, err := p.ask(opSubscribe, uri, "")
	if err != nil {
		return 0, err
	}
	return r.every, nil
}

// Poll asks whether a watched resource is still of the version etag, and gives the version it is of now.
func (p *Provider) Poll(uri, etag string) (now string, changed bool, err error) {
	r, err := p.ask(opPoll, uri, etag)
	if err != nil {
		return "", false, err
	}
	if len(r.contents) != 1 {
		return "", false, hostError(codeProtocol, "poll wants one content")
	}
	c := r.contents[0]
	return c.ETag, !c.NotModified, nil
}

func (p *Provider) ask(op uint32, uri, etag string) (*reply, error) {
	b, _, err := p.route(uri)
	if err != nil {
		return nil, err
	}
	return p.call(op, wire.AppendString(b, 8, etag))
}

// route begins a request: the URI, who answers for it, and the variables.
func (p *Provider) route(uri string) (request []byte, ranges bool, err error) {
	p.t.Helper()
	if uri == "" || !strings.Contains(uri, ":") {
		return nil, false, errors.New("not a URI: " + uri)
	}
	m := p.Manifest()
	for _, r := range m.Resources {
		if normal(r.URI) == normal(uri) {
			return wire.AppendString(nil, 1, r.URI), false, nil
		}
	}
	b := wire.AppendString(nil, 1, uri)
	number, vars, err := match(m.Templates, disguise(uri))
	if err != nil || number == 0 {
		return b, false, err
	}
	b = wire.AppendUint(b, 2, uint64(number))
	for _, v := range vars {
		b = appendVar(b, v.Name, reveal(v.Value))
	}
	return b, m.Templates[number-1].Ranges, nil
}

func appendVar(b []byte, name, value string) []byte {
	b, at := wire.Begin(b, 3)
	b = wire.AppendString(b, 1, name)
	b = wire.AppendString(b, 2, value)
	return wire.End(b, at)
}

func appendPrincipal(b []byte, p *wasmres.Principal) []byte {
	b, at := wire.Begin(b, 12)
	b = wire.AppendString(b, 1, p.Subject)
	b = wire.AppendString(b, 2, p.Tenant)
	for _, s := range p.Scopes {
		b = wire.AppendElement(b, 3, s)
	}
	b = wire.AppendString(b, 4, p.Claims)
	return wire.End(b, at)
}
