package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A provider is a source with its manifest.
type provider interface {
	resource.Source
	declared() *abi.Manifest
}

func (s *source) declared() *abi.Manifest { return s.manifest }

func run(t *testing.T, s provider) *check.Report {
	t.Helper()
	report, err := check.Run(t.Context(), check.Config{Source: s, Manifest: s.declared(), Samples: 100, MaxTime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestFaultlessProviderIsClean(t *testing.T) {
	report := run(t, faultless())
	if len(report.Findings) > 0 || len(report.Unsampled) > 0 || report.Errors+report.Warnings > 0 {
		t.Errorf("got %+v", report)
	}
	if report.Listed != 1 || report.Read != 2 || report.Templates != 1 {
		t.Errorf("got %d listed, %d read, %d templates, want 1, 2, 1", report.Listed, report.Read, report.Templates)
	}
}

// A sin breaks one rule, and no other.
type sin struct {
	rule   string
	name   string
	commit func(s *source)
}

// noted makes each read of the note what change makes of it; n counts them from 0.
func noted(change func(a *answer, req *resource.Request, n int)) func(*source) {
	return reading(note, change)
}

func pictured(change func(a *answer, req *resource.Request, n int)) func(*source) {
	return reading(logo, change)
}

func reading(uri string, change func(a *answer, req *resource.Request, n int)) func(*source) {
	return func(s *source) {
		n := -1
		s.read = func(req *resource.Request) ([]answer, error) {
			answers, err := s.readWell(req)
			if err == nil && req.URI.String() == uri {
				n++
				change(&answers[0], req, n)
			}
			return answers, err
		}
	}
}

// failing makes reads of one URI fail.
func failing(uri string, code abi.Code) func(*source) {
	return func(s *source) {
		s.read = func(req *resource.Request) ([]answer, error) {
			if req.URI.String() == uri {
				return nil, abi.Errorf(code, "no\x1b[2J\n\u202e")
			}
			return s.readWell(req)
		}
	}
}

// listing makes the provider list n resources more.
func listing(n int) []abi.Resource {
	resources := slices.Clone(faultless().manifest.Resources)
	for i := range n {
		uri := fmt.Sprintf("note://more/%d", i)
		resources = append(resources, abi.Resource{URI: uri, Name: uri, MIMEType: "text/plain", Priority: math.NaN()})
	}
	return resources
}

func completing(reply abi.Reply) func(*source) {
	return func(s *source) {
		s.complete = func(*resource.Request) (*abi.Reply, error) { return &reply, nil }
	}
}

func declared(change func(m *abi.Manifest)) func(*source) {
	return func(s *source) { change(s.manifest) }
}

// swapped answers the list in another order on every second pass.
func swapped(s *source) {
	passes := 0
	s.list = func(req *resource.Request) (*abi.Reply, error) {
		all := listing(4)
		if req.Cursor == "" {
			passes++
		}
		if passes > 1 {
			i := passes%3 + 1
			all[i], all[i+1] = all[i+1], all[i]
		}
		return page(all, req)
	}
}

// skipping loses an entry between two pages.
func skipping(s *source) {
	s.list = func(req *resource.Request) (*abi.Reply, error) {
		reply, err := page(listing(8), req)
		if err == nil && req.Cursor != "" {
			reply.Resources = reply.Resources[1:]
		}
		return reply, err
	}
}

// circling returns the same cursors again and again.
func circling(s *source) {
	s.list = func(req *resource.Request) (*abi.Reply, error) {
		switch req.Cursor {
		case "", "b":
			return &abi.Reply{NextCursor: "a"}, nil
		case "a":
			return &abi.Reply{NextCursor: "b"}, nil
		}
		return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
	}
}

// idle returns a new cursor with each empty page.
func idle(s *source) {
	s.list = func(req *resource.Request) (*abi.Reply, error) {
		if strings.Trim(req.Cursor, "x") != "" {
			return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
		}
		return &abi.Reply{NextCursor: req.Cursor + "x"}, nil
	}
}

// boundless has always more to list.
func boundless(s *source) {
	s.list = func(req *resource.Request) (*abi.Reply, error) {
		begin := 0
		if _, err := fmt.Sscanf(req.Cursor+"$", "c%d$", &begin); err != nil && req.Cursor != "" {
			return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
		}
		reply := &abi.Reply{NextCursor: fmt.Sprintf("c%d", begin+10_000)}
		for i := range 10_000 {
			uri := fmt.Sprintf("note://more/%d", begin+i)
			reply.Resources = append(reply.Resources, abi.Resource{URI: uri, Name: uri})
		}
		return reply, nil
	}
}

// unknownCursor answers a cursor it has not given with err, or with an empty page.
func unknownCursor(err error) func(*source) {
	return func(s *source) {
		s.list = func(req *resource.Request) (*abi.Reply, error) {
			reply, wrong := s.listAll(req)
			switch {
			case wrong == nil:
				return reply, nil
			case err != nil:
				return nil, err
			}
			return &abi.Reply{}, nil
		}
	}
}

var sins = []sin{
	{"manifest", "no name", declared(func(m *abi.Manifest) { m.Name = "" })},
	{"manifest", "no read", declared(func(m *abi.Manifest) { m.Ops &^= 1 << abi.OpRead })},
	{"manifest", "no complete", declared(func(m *abi.Manifest) { m.Ops &^= 1 << abi.OpComplete })},
	{"manifest", "malformed template", declared(func(m *abi.Manifest) {
		m.Templates = append(m.Templates, abi.Template{URITemplate: "data://x/{", Name: "x", Priority: math.NaN()})
	})},
	{"manifest", "the same template twice", declared(func(m *abi.Manifest) { m.Templates = append(m.Templates, m.Templates[0]) })},
	{"manifest", "a template without a scheme", declared(func(m *abi.Manifest) {
		m.Templates = append(m.Templates, abi.Template{URITemplate: "csv/{table}", Name: "csv"})
	})},
	{"template-shadowed", "two templates of one shape", declared(func(m *abi.Manifest) {
		m.Templates = append(m.Templates, abi.Template{URITemplate: strings.Replace(m.Templates[0].URITemplate, "{id}", "{number}", 1), Name: "other"})
	})},
	{"manifest", "completes what is no variable", declared(func(m *abi.Manifest) { m.Templates[0].Completes = []string{"id", "name"} })},
	{"unfinished", "two hours for a page", func(s *source) {
		s.list = func(req *resource.Request) (*abi.Reply, error) {
			time.Sleep(2 * time.Hour)
			return s.listAll(req)
		}
	}},
	{"manifest", "resource outside the prefixes", declared(func(m *abi.Manifest) { m.URIPrefixes = []string{"data://", "note://a"} })},
	{"manifest", "template outside the prefixes", declared(func(m *abi.Manifest) { m.URIPrefixes = []string{"note://", "date://"} })},
	{"list-fails", "internal error", func(s *source) {
		s.list = func(req *resource.Request) (*abi.Reply, error) {
			if req.Cursor != "" {
				return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
			}
			return nil, errors.New("broken")
		}
	}},
	{"list-endless", "cursors in a circle", circling},
	{"list-endless", "empty pages", idle},
	{"list-endless", "too many entries", boundless},
	{"list-unstable", "another order", swapped},
	{"list-paging", "an entry lost between pages", skipping},
	{"cursor-fails", "trap", unknownCursor(abi.Errorf(abi.CodeTrap, "the provider crashed"))},
	{"cursor-taken", "an empty page", unknownCursor(nil)},
	{"uri-invalid", "listed", func(s *source) {
		s.list = func(req *resource.Request) (*abi.Reply, error) {
			return page(append(listing(0), abi.Resource{URI: "no scheme", Name: "x", Priority: math.NaN()}), req)
		}
	}},
	{"uri-invalid", "read", noted(func(a *answer, _ *resource.Request, _ int) { a.URI = "note://\x1b[2J" })},
	{"uri-duplicate", "another spelling", func(s *source) {
		s.list = func(req *resource.Request) (*abi.Reply, error) {
			all := listing(0)
			all = append(all, abi.Resource{URI: "note://more/ü", Name: "u"}, abi.Resource{URI: "note://more/%c3%bc", Name: "u"})
			return page(all, req)
		}
	}},
	{"read-fails", "trap", failing(note, abi.CodeTrap)},
	{"read-fails", "listed and not found", failing(note, abi.CodeNotFound)},
	{"read-fails", "no content", func(s *source) {
		s.read = func(req *resource.Request) ([]answer, error) {
			if req.URI.String() == note {
				return nil, nil
			}
			return s.readWell(req)
		}
	}},
	{"read-fails", "the second time", func(s *source) {
		n := 0
		s.read = func(req *resource.Request) ([]answer, error) {
			if n++; req.URI.String() == note && n > 1 {
				return nil, abi.Errorf(abi.CodeInternal, "once is enough")
			}
			return s.readWell(req)
		}
	}},
	{"text-invalid", "Latin-1", noted(func(a *answer, _ *resource.Request, _ int) { a.body = []byte("the first n\xf6te") })},
	{"text-invalid", "half a character at the end", noted(func(a *answer, _ *resource.Request, _ int) { a.body = []byte("the first not\xc3") })},
	{"mime-invalid", "listed", declared(func(m *abi.Manifest) { m.Resources[0].MIMEType = "text" })},
	{"mime-invalid", "read", noted(func(a *answer, _ *resource.Request, _ int) { a.MIMEType = "text/plain/x" })},
	{"meta-reserved", "listed", declared(func(m *abi.Manifest) { m.Resources[0].Meta = `{"io.modelcontextprotocol/x": 1}` })},
	{"meta-reserved", "template", declared(func(m *abi.Manifest) { m.Templates[0].Meta = `{"dev.mcp/x": 1}` })},
	{"meta-reserved", "read", noted(func(a *answer, _ *resource.Request, _ int) { a.Meta = `{"io.github.wasmres/etag": "1"}` })},
	{"mime-differs", "from the list", noted(func(a *answer, _ *resource.Request, _ int) { a.MIMEType = "text/markdown" })},
	{"mime-differs", "from the template", declared(func(m *abi.Manifest) { m.Templates[0].MIMEType = "image/jpeg" })},
	{"size-differs", "from the list", declared(func(m *abi.Manifest) { m.Resources[0].Size = 7 })},
	{"size-differs", "from the content", noted(func(a *answer, _ *resource.Request, _ int) { a.Size = 7 })},
	{"etag-stale", "a byte flips", pictured(func(a *answer, _ *resource.Request, n int) {
		if a.body = slices.Clone(a.body); len(a.body) > 0 {
			a.body[len(a.body)-1] = byte(n)
		}
	})},
	{"etag-match", "nothing asked", noted(func(a *answer, _ *resource.Request, _ int) { a.NotModified, a.Kind, a.body = true, abi.KindNone, nil })},
	{"etag-match", "another etag asked", pictured(func(a *answer, req *resource.Request, _ int) {
		if req.IfNoneMatch != "" {
			a.NotModified, a.Kind, a.body = true, abi.KindNone, nil
		}
	})},
	{"range-wrong", "without the total", pictured(func(a *answer, _ *resource.Request, _ int) { a.RangeTotal = 0 })},
	{"range-wrong", "another part", pictured(func(a *answer, req *resource.Request, _ int) {
		if req.RangeLength > 0 {
			a.body = png[:req.RangeLength]
		}
	})},
	{"range-wrong", "fails", func(s *source) {
		s.read = func(req *resource.Request) ([]answer, error) {
			if req.RangeLength > 0 {
				return nil, abi.Errorf(abi.CodeUnsupported, "no ranges")
			}
			return s.readWell(req)
		}
	}},
	{"not-found", "trap", func(s *source) {
		s.read = func(req *resource.Request) ([]answer, error) {
			answers, err := s.readWell(req)
			if err != nil {
				err = abi.Errorf(abi.CodeTrap, "the provider crashed")
			}
			return answers, err
		}
	}},
	{"not-found", "unavailable", func(s *source) {
		s.read = func(req *resource.Request) ([]answer, error) {
			answers, err := s.readWell(req)
			if err != nil {
				err = abi.Errorf(abi.CodeUnavailable, "come back later") // which a template may answer
			}
			return answers, err
		}
	}},
	{"not-found", "answered", func(s *source) {
		s.read = func(req *resource.Request) ([]answer, error) {
			answers, err := s.readWell(req)
			if err != nil && strings.HasPrefix(req.URI.String(), "note://") {
				return []answer{text(req, "whatever you say")}, nil
			}
			return answers, err
		}
	}},
	{"completion-fails", "for what is unlikely", func(s *source) {
		s.complete = func(req *resource.Request) (*abi.Reply, error) {
			if req.Value != "" {
				return nil, abi.Errorf(abi.CodeNotFound, "no such value")
			}
			return s.completeWell(req)
		}
	}},
	{"completion-wrong", "twice", completing(abi.Reply{Completions: []string{"logo", "logo"}})},
	{"completion-wrong", "total", completing(abi.Reply{Completions: []string{"logo", "logo/"}, CompletionTotal: 1})},
	{"completion-wrong", "control character", completing(abi.Reply{Completions: []string{"logo", "a\x1b[2J"}})},
	{"completion-wrong", "too many", func(s *source) {
		reply := &abi.Reply{Completions: []string{"logo"}}
		for i := range 1000 {
			reply.Completions = append(reply.Completions, fmt.Sprintf("folder%d/", i))
		}
		s.complete = func(*resource.Request) (*abi.Reply, error) { return reply, nil }
	}},
	{"completion-dangling", "not there", completing(abi.Reply{Completions: []string{"logo", "photo"}})},
	{"completion-dangling", "no URI", completing(abi.Reply{Completions: []string{"logo", "a/b"}})},
	{"content-uri", "another resource's", noted(func(a *answer, _ *resource.Request, _ int) { a.URI = "note://n10" })},
	{"mime-missing", "bytes", pictured(func(a *answer, _ *resource.Request, _ int) { a.MIMEType = "" })},
	{"mime-sniffed", "not a PNG", pictured(func(a *answer, req *resource.Request, _ int) {
		if req.RangeLength == 0 && !a.NotModified {
			a.body = append([]byte("GIF89a"), a.body[6:]...)
		} else if req.RangeLength > 0 {
			a.body = append([]byte{}, a.body...)
		}
	})},
	{"mime-sniffed", "not JSON", func(s *source) {
		s.manifest.Resources[0].MIMEType = "application/json"
		noted(func(a *answer, _ *resource.Request, _ int) { a.MIMEType = "application/json" })(s)
	}},
	{"mime-sniffed", "a picture for a text", func(s *source) {
		s.manifest.Resources[0].Size = 0
		noted(func(a *answer, _ *resource.Request, _ int) { a.Kind, a.body = abi.KindBlob, png })(s)
	}},
	{"read-unstable", "another text of that length", noted(func(a *answer, _ *resource.Request, n int) { a.body = fmt.Appendf(nil, "%14d", n) })},
	{"etag-unstable", "counts", pictured(func(a *answer, _ *resource.Request, n int) {
		if !a.NotModified {
			a.ETag = fmt.Sprint(n)
		}
	})},
}

// inItsOwnTime runs a test that need not wait for what sleeps.
func inItsOwnTime(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestEachSinIsFound(t *testing.T) {
	found := map[string]bool{}
	for _, c := range sins {
		inItsOwnTime(t, c.rule+"/"+c.name, func(t *testing.T) {
			s := faultless()
			c.commit(s)
			report := run(t, s)
			if len(report.Findings) == 0 {
				t.Fatal("nothing was found")
			}
			for _, f := range report.Findings {
				if f.Rule != c.rule {
					t.Errorf("got %s too: %s: %s", f.Rule, f.Where, f.Problem)
				}
				if f.Where == "" || f.Problem == "" || f.Advice == "" {
					t.Errorf("got %+v, want all of it", f)
				}
				if strings.ContainsAny(f.Where+f.Problem+f.Advice, "\x1b\n\u202e") {
					t.Errorf("got %+v, want nothing that steers a terminal", f)
				}
			}
		})
		found[c.rule] = true
	}
	for _, r := range check.Rules() {
		isOfDirectories := strings.HasPrefix(r.Name, "directory-") || strings.HasPrefix(r.Name, "skill-") // see TestEachSinOfDirectoriesIsFound
		isOfEngines := r.Name == "engines-differ"                                                         // see TestACallThatDiffersIsAnError
		if !found[r.Name] && !isOfDirectories && !isOfEngines {
			t.Errorf("no sin breaks %s", r.Name)
		}
	}
}

func TestACallThatDiffersIsAnError(t *testing.T) {
	report := check.Report{Findings: []check.Finding{{Rule: "meta-reserved", Severity: check.Warning}}}
	report.EnginesDiffer("read a:b", "the fuel is 2,\nand was 1")
	if report.Errors != 1 || len(report.Findings) != 2 {
		t.Fatalf("got %+v", report)
	}
	got := report.Findings[0]
	if got.Rule != "engines-differ" || got.Severity != check.Error || got.Where != "read a:b" || strings.Contains(got.Problem, "\n") || got.Advice == "" {
		t.Errorf("got %+v, want the error first", got)
	}
}

func TestVersionsOfAResourceAreNoFault(t *testing.T) {
	for name, change := range map[string]func(a *answer, n int){
		"etag":             func(a *answer, n int) { a.ETag = fmt.Sprint(n) },
		"time of a change": func(a *answer, n int) { a.LastModified = fmt.Sprintf("2026-11-20T10:00:%02dZ", n) },
	} {
		t.Run(name, func(t *testing.T) {
			s := faultless()
			noted(func(a *answer, _ *resource.Request, n int) {
				a.body = fmt.Appendf(nil, "%14d", n)
				change(a, n)
			})(s)
			if report := run(t, s); len(report.Findings) > 0 {
				t.Errorf("got %+v", report.Findings)
			}
		})
	}
}

// TestWholeForARange has a provider answer ranges with the whole, which the host cuts.
func TestWholeForARange(t *testing.T) {
	s := faultless()
	pictured(func(a *answer, req *resource.Request, _ int) {
		if req.RangeLength > 0 {
			a.body, a.RangeTotal = png, 0
		}
	})(s)
	if report := run(t, s); len(report.Findings) > 0 {
		t.Errorf("got %+v", report.Findings)
	}
}

// TestValuesBeyondASCII wants them percent-encoded as the UTF-8 they are.
func TestValuesBeyondASCII(t *testing.T) {
	s := faultless()
	completing(abi.Reply{Completions: []string{"grüße", "日本"}})(s)
	asked := map[string]bool{}
	s.read = func(req *resource.Request) ([]answer, error) {
		asked[req.URI.String()] = true
		if req.URI.String() == "data://gr%C3%BC%C3%9Fe" || req.URI.String() == "data://%E6%97%A5%E6%9C%AC" {
			return []answer{picture(req)}, nil
		}
		return s.readWell(req)
	}
	if report := run(t, s); len(report.Findings) > 0 || report.Read != 3 {
		t.Errorf("got %+v, asked for %v", report, asked)
	}
}

// TestFolders lets values that end in a slash lead to others, and a folder answer with its children.
func TestFolders(t *testing.T) {
	s := faultless()
	s.manifest.Templates = []abi.Template{{URITemplate: "data://{+path}", Name: "files", Completes: []string{"path"}, Priority: math.NaN()}}
	s.complete = func(req *resource.Request) (*abi.Reply, error) {
		switch req.Value {
		case "":
			return &abi.Reply{Completions: []string{"a/", "b"}}, nil
		case "a/":
			return &abi.Reply{Completions: []string{"a/c"}}, nil
		}
		return &abi.Reply{}, nil
	}
	asked := map[string]bool{}
	s.read = func(req *resource.Request) ([]answer, error) {
		asked[req.URI.String()] = true
		switch req.URI.String() {
		case "data://a/c":
			return []answer{text(req, "c")}, nil
		case "data://b":
			child := text(req, "child")
			child.URI += "/child"
			return []answer{child, text(req, "b")}, nil
		}
		return s.readWell(req)
	}
	if report := run(t, s); len(report.Findings) > 0 || !asked["data://a/c"] || !asked["data://b"] || asked["data://a/"] {
		t.Errorf("got %+v, asked for %v", report.Findings, asked)
	}
}

// TestVariables completes one variable after the other, each given those before.
func TestVariables(t *testing.T) {
	s := faultless()
	s.manifest.Templates = []abi.Template{{
		URITemplate: "data://{team}/{user}", Name: "users", Completes: []string{"team", "user"}, Priority: math.NaN(),
	}}
	members := map[string]string{"a": "ada", "b": "bob"}
	s.complete = func(req *resource.Request) (*abi.Reply, error) {
		switch {
		case req.Value != "":
			return &abi.Reply{}, nil
		case req.Arg == "team":
			return &abi.Reply{Completions: []string{"a", "b", "c"}}, nil
		case len(req.Vars) == 1 && members[req.Vars[0].Value] != "":
			return &abi.Reply{Completions: []string{members[req.Vars[0].Value]}}, nil
		}
		return &abi.Reply{}, nil
	}
	asked := map[string]bool{}
	s.read = func(req *resource.Request) ([]answer, error) {
		asked[req.URI.String()] = true
		if req.URI.String() == "data://a/ada" || req.URI.String() == "data://b/bob" {
			return []answer{text(req, "a person")}, nil
		}
		return s.readWell(req)
	}
	report := run(t, s)
	if len(report.Findings) > 0 || len(report.Unsampled) > 0 || report.Read != 3 || !asked["data://a/ada"] || !asked["data://b/bob"] {
		t.Errorf("got %+v, asked for %v", report, asked)
	}
}

func TestSamples(t *testing.T) {
	for samples, want := range map[int]int{0: 52, 1: 3, 2: 4, 10: 12, 100: 52} {
		s := faultless()
		s.list = func(req *resource.Request) (*abi.Reply, error) { return page(listing(50), req) }
		report, err := check.Run(t.Context(), check.Config{Source: s, Manifest: s.manifest, Samples: samples})
		if err != nil {
			t.Fatal(err)
		}
		if report.Read != want || len(report.Findings) > 0 {
			t.Errorf("%d samples: got %d read, %+v, want %d", samples, report.Read, report.Findings, want)
		}
	}
}

// TestUnsampledTemplates says of which templates nothing was read, unless a URI is named.
func TestUnsampledTemplates(t *testing.T) {
	s := faultless()
	s.manifest.Templates[0].Completes = nil
	if report := run(t, s); len(report.Unsampled) != 1 || report.Unsampled[0].Template != template {
		t.Errorf("got %+v, want %s", report.Unsampled, template)
	}
	report, err := check.Run(t.Context(), check.Config{Source: s, Manifest: s.manifest, URIs: []string{logo}})
	if err != nil || len(report.Unsampled) > 0 || report.Read != 2 {
		t.Errorf("got %+v, %v, want the template read", report, err)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	s := faultless()
	s.list = func(req *resource.Request) (*abi.Reply, error) { return page(listing(50), req) }
	s.read = func(req *resource.Request) ([]answer, error) {
		if strings.HasPrefix(req.URI.String(), "note://more/") {
			return nil, abi.Errorf(abi.CodeInternal, "%s", strings.Repeat("long", 10_000))
		}
		return s.readWell(req)
	}
	report := run(t, s)
	if report.Errors < 50 || len(report.Findings) > 40 || report.Omitted["read-fails"] != 30 {
		t.Errorf("got %d errors, %d findings, %v", report.Errors, len(report.Findings), report.Omitted)
	}
	if text, err := json.Marshal(report); err != nil || len(text) > 50_000 {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := faultless()
	reads := 0
	s.read = func(req *resource.Request) ([]answer, error) {
		reads++
		cancel()
		return s.readWell(req)
	}
	if _, err := check.Run(ctx, check.Config{Source: s, Manifest: s.manifest}); !errors.Is(err, context.Canceled) || reads != 1 {
		t.Errorf("got %v after %d reads, want 1", err, reads)
	}
}

func TestConfigIsChecked(t *testing.T) {
	s := faultless()
	for _, cfg := range []check.Config{{}, {Source: s}, {Manifest: s.manifest}, {Source: s, Manifest: s.manifest, Samples: -1}, {Source: s, Manifest: s.manifest, MaxTime: -1}} {
		if _, err := check.Run(t.Context(), cfg); err == nil {
			t.Errorf("%+v: got no error", cfg)
		}
	}
}

// TestRulesAreDocumented holds docs/check.md to the rules.
func TestRulesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, r := range check.Rules() {
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", r.Name, r.Severity, r.Broken, r.Advice)
	}
	if !strings.Contains(string(page), want.String()) {
		t.Errorf("docs/check.md lacks this table:\n%s", want.String())
	}
}
