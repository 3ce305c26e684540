package auth_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
)

func patterns(t testing.TB, texts ...string) (list []auth.Pattern) {
	t.Helper()
	for _, text := range texts {
		p, err := auth.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func identity(grants ...auth.Grant) *auth.Identity {
	return auth.NewIdentity(context.Background(), abi.Principal{Subject: "ada"}, grants, time.Time{})
}

func TestActionsHaveNames(t *testing.T) {
	for _, a := range []auth.Action{auth.List, auth.Read, auth.Watch, auth.Complete, auth.Download} {
		if got, err := auth.ParseAction(a.String()); err != nil || got != a || a&auth.AllActions != a {
			t.Errorf("%v: got %v, %v", a, got, err)
		}
	}
	for _, name := range []string{"", "write", "Read", "list,read"} {
		if _, err := auth.ParseAction(name); err == nil || !strings.Contains(err.Error(), "complete") {
			t.Errorf("%q: got %v", name, err)
		}
	}
	if got := auth.AllActions.String(); got != "list,read,watch,complete,download" || auth.Action(0).String() != "" {
		t.Errorf("got %s", got)
	}
}

func TestAnyGrantPermits(t *testing.T) {
	i := identity(
		auth.Grant{Actions: auth.List | auth.Read, URIs: patterns(t, "notes://**")},
		auth.Grant{Actions: auth.Watch, URIs: patterns(t, "notes://drafts", "café://x")},
		auth.Grant{Actions: auth.Download, URIs: patterns(t, "notes://a"), Providers: []string{"one", "two", "one"}},
		auth.Grant{Actions: auth.Complete}, // no URI
		auth.Grant{URIs: patterns(t, "none://**")},
	)
	for _, c := range []struct {
		action auth.Action
		uri    string
		want   bool
	}{
		{auth.Read, "notes://a", true}, {auth.List, "notes://a/b", true}, {auth.Watch, "notes://a", false},
		{auth.Watch, "notes://drafts/1", true}, {auth.Watch, "caf%C3%A9://x", true}, {auth.Read, "other://a", false},
		{auth.Complete, "notes://a", false}, {auth.Read, "none://a", false}, {auth.Download, "notes://a", false},
	} {
		if got := i.Permits(c.action, c.uri); got != c.want {
			t.Errorf("%s of %s: got %v", c.action, c.uri, got)
		}
		if c.want && (!i.MayPermit(c.action, c.uri[:5]) || !i.PermitsAt("any", c.action, c.uri)) {
			t.Errorf("%s of %s: it is permitted, but not possible, or not at one provider", c.action, c.uri)
		}
	}
	for provider, want := range map[string]bool{"one": true, "two": true, "three": false} {
		if got := i.PermitsAt(provider, auth.Download, "notes://a"); got != want {
			t.Errorf("download at %s: got %v", provider, got)
		}
		if got := i.MayPermitAt(provider, auth.Download, "notes"); got != want {
			t.Errorf("a possible download at %s: got %v", provider, got)
		}
	}
	if i.PermitsNothing() || !i.DependsOnProvider() || !i.MayPermit(auth.Download, "") || i.MayPermit(auth.Complete, "") {
		t.Error("the summary of the grants is wrong")
	}
}

func TestWhatPermitsAllOrNothing(t *testing.T) {
	everything := patterns(t, "x://y", "**")
	for name, c := range map[string]struct {
		of           *auth.Identity
		all, nothing bool // of reads; of anything
	}{
		"no grants":             {identity(), false, true},
		"empty grants":          {identity(auth.Grant{}, auth.Grant{Actions: auth.AllActions}, auth.Grant{URIs: everything}), false, true},
		"a zero pattern":        {identity(auth.FullAccess(auth.Pattern{})...), false, true},
		"full access":           {identity(auth.FullAccess(everything...)...), true, false},
		"full access to none":   {identity(auth.FullAccess()...), false, true},
		"narrowed to all":       {identity(auth.FullAccess(everything...)...).Narrow(everything), true, false},
		"narrowed":              {identity(auth.FullAccess(everything...)...).Narrow(everything[:1]), false, false},
		"narrowed to nothing":   {identity(auth.FullAccess(everything...)...).Narrow(nil), false, true},
		"lists alone":           {identity(auth.Grant{Actions: auth.List, URIs: everything}), false, false},
		"one provider alone":    {identity(auth.Grant{Actions: auth.Read, URIs: everything, Providers: []string{"p"}}), false, false},
		"nothing at a provider": {identity(auth.Grant{Actions: auth.Read, Providers: []string{"p"}}), false, true},
	} {
		if got := c.of.PermitsAll(auth.Read); got != c.all {
			t.Errorf("%s: permits all: %v", name, got)
		}
		if got := c.of.PermitsNothing(); got != c.nothing {
			t.Errorf("%s: permits nothing: %v", name, got)
		}
	}
}

// What a key narrows is permitted by a role and by the key, and narrowing again only takes away.
func TestNarrow(t *testing.T) {
	role := identity(
		auth.Grant{Actions: auth.Read, URIs: patterns(t, "notes://**")},
		auth.Grant{Actions: auth.Read, URIs: patterns(t, "mail://**"), Providers: []string{"mail"}},
	)
	key := role.Narrow(patterns(t, "notes://drafts", "mail://in", "files://**"))
	twice := key.Narrow(patterns(t, "notes://**"))
	for uri, want := range map[string][3]bool{ // role, key, twice
		"notes://a": {true, false, false}, "notes://drafts/a": {true, true, true},
		"mail://in/1": {true, true, false}, "mail://out": {true, false, false}, "files://a": {},
	} {
		for n, i := range []*auth.Identity{role, key, twice} {
			if got := i.PermitsAt("mail", auth.Read, uri); got != want[n] {
				t.Errorf("%s, %d: got %v", uri, n, got)
			}
		}
	}
	if !key.MayPermit(auth.Read, "notes://d") || key.MayPermit(auth.Read, "notes://x") || twice.MayPermitAt("mail", auth.Read, "mail:") {
		t.Error("what may be permitted is wrong")
	}
}

// BenchmarkGuarded asks for a URI that the last of the rules permits, and for one that none does.
func BenchmarkGuarded(b *testing.B) {
	for _, form := range []string{"notes://team-%d/**", "notes://team-%d/*/drafts/**"} {
		for _, n := range []int{1, 1000} {
			var grants []auth.Grant
			for at := range n {
				grants = append(grants, auth.Grant{Actions: auth.List | auth.Read, URIs: patterns(b, fmt.Sprintf(form, at))})
			}
			i, permitted := identity(grants...), fmt.Sprintf("notes://team-%d/2026/drafts/a", n-1)
			for uri, want := range map[string]bool{permitted: true, "notes://other/2026/drafts/a": false} {
				b.Run(fmt.Sprintf("%s/%d/%v", form, n, want), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if i.Permits(auth.Read, uri) != want {
							b.Fatal("wrong")
						}
					}
				})
			}
		}
	}
}
