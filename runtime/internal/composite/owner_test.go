package composite_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/composite"
	"github.com/wasmres/wasmres/runtime/resource"
)

// claiming makes members called a, b, c and so on, with these claims.
func claiming(claims ...composite.Claims) []composite.Member {
	all := members(fakes(make([]int, len(claims))...))
	for i := range all {
		all[i].Claims = claims[i]
	}
	return all
}

func TestTheMoreSpecificClaimWins(t *testing.T) {
	type c = composite.Claims
	list := []c{
		{Rest: true},
		{Prefixes: []string{"file:///"}, Templates: []string{"file:///{+path}", "other://{x}"}},
		{Templates: []string{"file:///logs/{name}", "x://{id}"}},
		{Resources: []string{"file:///logs/today", "x://one", "y://ünï"}},
		{Prefixes: []string{"file:///logs/old/", "x:"}},
		{Prefixes: []string{"z:"}, Resources: []string{"y://stolen"}},
	}
	for uri, want := range map[string]string{
		"file:///etc/motd":            "b",
		"file:///logs/yesterday":      "c",
		"file:///logs/today":          "d",
		"FILE://LOCALHOST/logs/today": "d",
		"File:///logs/yesterday":      "c",
		"FILE:///etc/motd":            "b",
		"X://two":                     "c",
		"file:///logs/old/1":          "e",
		"file:///logs/new/1":          "b",
		"x://one":                     "d",
		"x://two":                     "c",
		"x://two/three":               "e",
		"y://%C3%BCn%c3%af":           "d",
		"y://stolen":                  "a", // f keeps to z:
		"other://x":                   "a", // b keeps to file:
		"anything:else":               "a",
	} {
		for _, reversed := range []bool{false, true} {
			all := claiming(list...)
			if reversed {
				for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
					all[i], all[j] = all[j], all[i]
				}
			}
			s := compose(t, composite.Config{Members: all})
			if got, err := read(t.Context(), s, uri); err != nil || got != want {
				t.Errorf("%s, reversed %v: got %q, %v, want %s", uri, reversed, got, err, want)
			}
		}
	}
}

// What a list leaves out is what a read would get from another member, however little a member leaves to others.
func TestListsAndReadsAgreeOnWhoseAnEntryIs(t *testing.T) {
	type c = composite.Claims
	uris := []string{"x:one", "x:two", "x:two/1", "x:%74wo/1", "x:a/b", "x:%C3%BC/1", "x:\u00fc/1", "y:one", "z:one"}
	for name, second := range map[string]c{
		"nothing there":         {Prefixes: []string{"y:"}},
		"a resource":            {Resources: []string{"x:two"}},
		"a template":            {Templates: []string{"x:a/{b}"}},
		"a template, longer":    {Templates: []string{"x:two/{b}"}},
		"a template, escaped":   {Templates: []string{"x:%74wo/{b}"}},
		"a longer prefix":       {Prefixes: []string{"x:a/"}},
		"a prefix, not ASCII":   {Prefixes: []string{"x:\u00fc"}},
		"a prefix, escaped":     {Prefixes: []string{"x:%c3"}},
		"a wider template":      {Templates: []string{"{+all}"}},
		"the rest":              {Rest: true},
		"a resource out of its": {Prefixes: []string{"y:"}, Resources: []string{"x:two"}},
	} {
		for _, prefixes := range [][]string{{"x:"}, {"x:tw", "x:a", "x:%74", "x:one"}, {"x:%C3", "y:"}} {
			s, err := composite.New(composite.Config{Members: []composite.Member{
				{Name: "a", Source: &static{fake: fake{name: "a"}, list: entries(uris)}, Claims: c{Prefixes: prefixes}},
				{Name: "b", Source: &fake{name: "b"}, Claims: second},
			}})
			if err != nil {
				continue // they claim the same
			}
			listed, _ := all(t, s.List, 1000)
			for _, uri := range uris {
				owner, err := read(t.Context(), s, uri)
				if foreign := err == nil && owner != "a"; slices.Contains(listed, uri) == foreign {
					t.Errorf("%s, beside %q: %s is left out: %v, but read from %q", name, prefixes, uri, !foreign, owner)
				}
			}
		}
	}
}

func entries(uris []string) (list []abi.Resource) {
	for _, uri := range uris {
		list = append(list, abi.Resource{URI: uri, Name: "e"})
	}
	return list
}

func TestUnclaimedURIsAreNotFound(t *testing.T) {
	s := compose(t, composite.Config{Members: claiming(
		composite.Claims{Prefixes: []string{"a:"}, Templates: []string{"a:{x}"}}, composite.Claims{Resources: []string{"b:1"}})})
	for uri, want := range map[string]abi.Code{
		"a:1": abi.CodeOK, "b:1": abi.CodeOK, "b:2": abi.CodeNotFound, "c:1": abi.CodeNotFound,
	} {
		_, err := read(t.Context(), s, uri)
		wantCode(t, uri, err, want)
	}
	for template, want := range map[string]abi.Code{"a:{x}": abi.CodeOK, "a:{y}": abi.CodeInvalidParams, "a:1": abi.CodeInvalidParams} {
		_, err := s.Complete(t.Context(), &resource.Request{Template: template, Arg: "x"})
		wantCode(t, "complete "+template, err, want)
	}
}

func TestMembersMustNotClaimTheSame(t *testing.T) {
	type c = composite.Claims
	for name, tt := range map[string]struct {
		first, second c
		want          string // in the error; empty for none
	}{
		"resource":                     {c{Resources: []string{"x:1"}}, c{Resources: []string{"x:1"}}, `a and b both claim the resource "x:1"`},
		"resource, spelled otherwise":  {c{Resources: []string{"x:ü"}}, c{Resources: []string{"x:%c3%bc"}}, "the resource"},
		"resource outside of prefixes": {c{Prefixes: []string{"y:"}, Resources: []string{"x:1"}}, c{Resources: []string{"x:1"}}, ""},
		"template":                     {c{Templates: []string{"x:{a}"}}, c{Templates: []string{"x:{a}"}}, `both claim the template "x:{a}"`},
		"template, other names":        {c{Templates: []string{"x:{a}/{b*}{.c:3}"}}, c{Templates: []string{"x:{d}/{e*}{.f:3}"}}, "the template"},
		"template, other modifiers":    {c{Templates: []string{"x:{a*}"}}, c{Templates: []string{"x:{a}"}}, ""},
		"template, other operators":    {c{Templates: []string{"x:{+a}"}}, c{Templates: []string{"x:{a}"}}, ""},
		"template, other queries":      {c{Templates: []string{"x:y{?a}"}}, c{Templates: []string{"x:y{?b}"}}, ""},
		"template, other literals":     {c{Templates: []string{"x:{a}"}}, c{Templates: []string{"y:{a}"}}, ""},
		"prefix":                       {c{Prefixes: []string{"x:"}}, c{Prefixes: []string{"y:", "x:"}}, `both claim the prefix "x:"`},
		"prefix as template":           {c{Prefixes: []string{"x:"}}, c{Templates: []string{"x:{+all}"}}, "both claim"},
		"prefix within a prefix":       {c{Prefixes: []string{"x:"}}, c{Prefixes: []string{"x:y/"}}, ""},
		"rest":                         {c{Rest: true}, c{Rest: true}, "declare no prefixes"},
		"rest beside prefixes":         {c{Rest: true}, c{Rest: true, Prefixes: []string{"x:"}}, ""},
		"its own twice":                {c{Prefixes: []string{"x:"}, Templates: []string{"x:{+a}", "x:{b}"}}, c{}, ""},
		"no template":                  {c{Templates: []string{"x:{"}}, c{}, `a claims "x:{"`},
		"prefix too long":              {c{Prefixes: []string{"x:" + strings.Repeat("y", 2046)}}, c{}, "2055 bytes long"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := composite.New(composite.Config{Members: claiming(tt.first, tt.second)})
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	f := &fake{}
	for name, tt := range map[string]struct {
		cfg  composite.Config
		want string
	}{
		"no member":        {composite.Config{}, "0 members"},
		"no name":          {composite.Config{Members: []composite.Member{{Source: f}}}, "no name"},
		"no source":        {composite.Config{Members: []composite.Member{{Name: "a"}}}, "no source"},
		"a long name":      {composite.Config{Members: []composite.Member{{Name: strings.Repeat("a", 257), Source: f}}}, "256 bytes"},
		"a name twice":     {composite.Config{Members: []composite.Member{{Name: "a", Source: f}, {Name: "a", Source: f}}}, `called "a"`},
		"too many":         {composite.Config{Members: make([]composite.Member, 1025)}, "1025 members"},
		"a short key":      {composite.Config{Members: members(fakes(1)), Key: make([]byte, 15)}, "Key has 15 bytes"},
		"an empty key":     {composite.Config{Members: members(fakes(1)), Key: []byte{}}, "Key has 0 bytes"},
		"negative page":    {composite.Config{Members: members(fakes(1)), PageSize: -1}, "PageSize is -1"},
		"huge page":        {composite.Config{Members: members(fakes(1)), PageSize: 1<<20 + 1}, "PageSize is 1048577"},
		"negative timeout": {composite.Config{Members: members(fakes(1)), MemberTimeout: -1}, "MemberTimeout"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := composite.New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestClaimsOfAManifest(t *testing.T) {
	declared := abi.Manifest{
		Resources: []abi.Resource{{URI: "x:one", Name: "one"}}, Templates: []abi.Template{{URITemplate: "x:t/{a}", Name: "t"}},
	}
	lists, keeps := declared, declared
	lists.Ops = 1 << abi.OpList
	keeps.URIPrefixes = []string{"x:"}
	for name, tt := range map[string]struct {
		manifest abi.Manifest
		own, not []string
	}{
		"declares all it has": {declared, []string{"x:one", "x:t/1"}, []string{"x:two", "y:1"}},
		"lists more":          {lists, []string{"x:one", "x:t/1", "x:two", "y:1"}, nil},
		"keeps to prefixes":   {keeps, []string{"x:one", "x:t/1", "x:two"}, []string{"y:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := compose(t, composite.Config{Members: claiming(composite.ClaimsOf(&tt.manifest))})
			for _, uri := range tt.own {
				_, err := read(t.Context(), s, uri)
				wantCode(t, uri, err, abi.CodeOK)
			}
			for _, uri := range tt.not {
				_, err := read(t.Context(), s, uri)
				wantCode(t, uri, err, abi.CodeNotFound)
			}
		})
	}
}

func TestTheFailureOfOneMemberIsItsOwn(t *testing.T) {
	sources := fakes(1, 1)
	sources[0].fail = func(context.Context) error { return abi.Errorf(abi.CodeUnavailable, "starting again") }
	s := compose(t, composite.Config{Members: members(sources)})
	_, err := read(t.Context(), s, "a:0")
	wantCode(t, "a:0", err, abi.CodeUnavailable)
	if !strings.Contains(err.Error(), "provider a: starting again") {
		t.Errorf("got %v, want it said whose failure it is", err)
	}
	if got, err := read(t.Context(), s, "b:0"); err != nil || got != "b" {
		t.Errorf("b:0: got %q, %v", got, err)
	}
}

func TestOnlyMembersThatTookPartSettle(t *testing.T) {
	list := fakes(1, 1, 1)
	s := compose(t, composite.Config{Members: members(list)})
	settled := func(want ...int) {
		t.Helper()
		s.AfterResponse()
		for i, f := range list {
			f.mu.Lock()
			if f.settled != want[i] {
				t.Errorf("%s settled %d times, want %d", f.name, f.settled, want[i])
			}
			f.settled = 0
			f.mu.Unlock()
		}
	}
	settled(0, 0, 0)
	for range 3 {
		if _, err := read(t.Context(), s, "b:0"); err != nil {
			t.Fatal(err)
		}
	}
	settled(0, 1, 0)
	settled(0, 0, 0)
	for _, uri := range []string{"c:0", "a:0"} {
		if _, err := read(t.Context(), s, uri); err != nil {
			t.Fatal(err)
		}
	}
	settled(1, 0, 1)
	if _, err := s.List(t.Context(), &resource.Request{}); err != nil {
		t.Fatal(err)
	}
	settled(1, 1, 1)
}

func TestEveryMemberEndsSessions(t *testing.T) {
	sources := fakes(1, 1)
	all := members(sources)
	all = append(all, composite.Member{Name: "c", Source: plain{}})
	s := compose(t, composite.Config{Members: all})
	s.EndSession("one")
	for _, f := range sources {
		if len(f.ended) != 1 || f.ended[0] != "one" {
			t.Errorf("%s: ended %v", f.name, f.ended)
		}
	}
}

func TestACallThatFailsIsNotRepeated(t *testing.T) {
	list := fakes(1, 1, 1)
	for _, f := range list {
		f.fail = func(context.Context) error { return abi.Errorf(abi.CodeUnavailable, "gone") }
	}
	s := compose(t, composite.Config{Members: members(list)})
	_, err := read(t.Context(), s, "b:0")
	wantCode(t, "read", err, abi.CodeUnavailable)
	if _, err = s.List(t.Context(), &resource.Request{}); err != nil {
		t.Error(err)
	}
	for _, f := range list {
		want := 1 // the list
		if f.name == "b" {
			want = 2
		}
		if got := f.requests(); len(got) != want {
			t.Errorf("%s was asked %d times, want %d", f.name, len(got), want)
		}
	}
}
