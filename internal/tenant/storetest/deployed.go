package storetest

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/tenant"
)

// Version makes a version of the provider notes that has something in each field.
func Version(of string, number int, state tenant.VersionState) *tenant.Version {
	return &tenant.Version{
		Tenant: of, Provider: "notes", Number: number, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Append(nil, number))), Size: 2400000,
		Reference: "ghcr.io/ada/notes:1.0.0", Metered: "9f86", HasPolicy: true,
		Policy: policy.Policy{KV: &policy.KV{MaxKeys: 100}, Limits: policy.Limits{Memory: 64 << 20}},
		Next:   tenant.Next{Canary: true, Share: 10}, Approver: "uid 1000",
		State: state, Reason: "a reason", Manifest: `{"name":"notes"}`, Report: `{"findings":[]}`,
		Created: time.Unix(1_800_000_000, 0).UTC(), Creator: "uid 1000", Decided: time.Unix(1_800_000_100, 0).UTC(), Decider: "uid 0",
	}
}

// Route makes a route of the provider notes.
func Route(of string, active, previous, canary int) *tenant.Route {
	r := &tenant.Route{
		Tenant: of, Provider: "notes", Active: active, Previous: previous, Canary: canary,
		Changed: time.Unix(1_800_000_200, 0).UTC(), Changer: "uid 1000",
	}
	if canary > 0 {
		r.Share = 10
	}
	return r
}

var notes = tenant.ProviderID{Tenant: "acme", Provider: "notes"}

func keepsVersions(t *testing.T, f *fixture) {
	one, two := Version("acme", 1, tenant.StateApproved), Version("acme", 2, tenant.StatePushed)
	other := Version("zoo", 5, tenant.StateApproved)
	f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme"), Tenant("zoo")}})
	s := f.apply(tenant.Change{SetVersions: []*tenant.Version{two, other, one}, SetRoutes: []*tenant.Route{Route("zoo", 5, 0, 0)}})
	if all := s.Versions[notes]; len(all) != 2 || all[0] != one || all[1] != two || s.Numbers[notes] != 2 || s.Routes[notes] != nil {
		t.Fatalf("got %+v", s)
	}
	f.reopen()
	before := f.Snapshot()
	zoo := tenant.ProviderID{Tenant: "zoo", Provider: "notes"}
	approved := *two
	approved.State = tenant.StateApproved
	s = f.apply(tenant.Change{SetVersions: []*tenant.Version{&approved, Version("acme", 1, tenant.StateApproved)}, SetRoutes: []*tenant.Route{Route("acme", 1, 0, 2)}})
	if s.Versions[notes][0] != before.Versions[notes][0] || &s.Versions[zoo][0] != &before.Versions[zoo][0] || s.Routes[zoo] != before.Routes[zoo] {
		t.Error("what has not changed has other pointers")
	}
	if v := s.VersionOf(notes, 2); v.State != tenant.StateApproved || before.VersionOf(notes, 2).State != tenant.StatePushed {
		t.Errorf("got %+v", v)
	}
	if again := f.apply(tenant.Change{SetRoutes: []*tenant.Route{Route("acme", 1, 0, 2)}, RemoveVersions: []*tenant.Version{Version("acme", 77, "")}}); again != s {
		t.Error("a change without effect has one")
	}
	f.reopen()

	s = f.apply(tenant.Change{SetRoutes: []*tenant.Route{Route("acme", 2, 1, 0)}}) // it is promoted
	if at := s.VersionOf(notes, 1).Replaced; !at.Equal(f.now()) || !s.VersionOf(notes, 2).Replaced.IsZero() {
		t.Errorf("version 1 was replaced at %v", at)
	}
	s = f.apply(tenant.Change{SetVersions: []*tenant.Version{one}}) // without Replaced, which the store knows
	if at := s.VersionOf(notes, 1).Replaced; !at.Equal(f.now()) {
		t.Errorf("version 1 was replaced at %v", at)
	}
	s = f.apply(tenant.Change{SetRoutes: []*tenant.Route{Route("acme", 1, 2, 0)}}) // and taken back
	if !s.VersionOf(notes, 1).Replaced.IsZero() || s.VersionOf(notes, 2).Replaced.IsZero() {
		t.Errorf("got %+v", s.Versions[notes])
	}
	failed := *s.VersionOf(notes, 2)
	failed.State = tenant.StateFailed
	f.apply(tenant.Change{SetVersions: []*tenant.Version{&failed}})
	f.reopen()

	s = f.apply(tenant.Change{SetRoutes: []*tenant.Route{Route("acme", 1, 0, 0)}, RemoveVersions: []*tenant.Version{{Tenant: "acme", Provider: "notes", Number: 2}}})
	if len(s.Versions[notes]) != 1 || s.Numbers[notes] != 2 {
		t.Errorf("got %+v", s.Versions)
	}
	f.reopen()
	f.refuse(tenant.ErrInvalid, tenant.Change{SetVersions: []*tenant.Version{two}}) // its number was given before
	f.apply(tenant.Change{SetVersions: []*tenant.Version{Version("acme", 3, tenant.StatePushed)}})
	s = f.apply(tenant.Change{
		SetRoutes:      []*tenant.Route{Route("acme", 0, 0, 0)},
		RemoveVersions: []*tenant.Version{{Tenant: "acme", Provider: "notes", Number: 1}, {Tenant: "acme", Provider: "notes", Number: 3}},
	})
	if len(s.Versions[notes]) != 0 || s.Numbers[notes] != 3 {
		t.Errorf("got %+v", s.Versions)
	}
	f.reopen()
}

func refusesVersions(t *testing.T, f *fixture) {
	now := f.apply(tenant.Change{
		SetTenants: []*tenant.Tenant{Tenant("acme")}, SetVersions: []*tenant.Version{
			Version("acme", 1, tenant.StateApproved), Version("acme", 2, tenant.StateWaiting), Version("acme", 3, tenant.StateApproved),
		},
	})
	now = f.apply(tenant.Change{Base: now.Generation, SetRoutes: []*tenant.Route{Route("acme", 1, 0, 0)}})
	with := func(change func(*tenant.Version)) []*tenant.Version {
		v := Version("acme", 4, tenant.StatePushed)
		change(v)
		return []*tenant.Version{v}
	}
	for name, c := range map[string]tenant.Change{
		"no tenant":          {SetVersions: with(func(v *tenant.Version) { v.Tenant = "none" })},
		"no provider":        {SetVersions: with(func(v *tenant.Version) { v.Provider = "none" })},
		"a slash":            {SetVersions: with(func(v *tenant.Version) { v.Provider = "a/b" })},
		"number 0":           {SetVersions: with(func(v *tenant.Version) { v.Number = 0 })},
		"no state":           {SetVersions: with(func(v *tenant.Version) { v.State = "" })},
		"a short digest":     {SetVersions: with(func(v *tenant.Version) { v.Digest = "sha256:9f86" })},
		"an odd digest":      {SetVersions: with(func(v *tenant.Version) { v.Digest = "sha256:" + string(make([]byte, 64)) })},
		"a share":            {SetVersions: with(func(v *tenant.Version) { v.Next.Share = 101 })},
		"a long manifest":    {SetVersions: with(func(v *tenant.Version) { v.Manifest = string(make([]byte, tenant.MaxVersionText+1)) })},
		"a long reason":      {SetVersions: with(func(v *tenant.Version) { v.Reason = string(make([]byte, 9<<10)) })},
		"another module":     {SetVersions: with(func(v *tenant.Version) { v.Number = 3 })},
		"twice":              {SetVersions: append(with(func(*tenant.Version) {}), with(func(*tenant.Version) {})...)},
		"set and removed":    {SetVersions: with(func(*tenant.Version) {}), RemoveVersions: with(func(*tenant.Version) {})},
		"waiting":            {SetRoutes: []*tenant.Route{Route("acme", 2, 0, 0)}},
		"unknown":            {SetRoutes: []*tenant.Route{Route("acme", 4, 0, 0)}},
		"unknown before":     {SetRoutes: []*tenant.Route{Route("acme", 1, 4, 0)}},
		"a waiting canary":   {SetRoutes: []*tenant.Route{Route("acme", 1, 0, 2)}},
		"one as both":        {SetRoutes: []*tenant.Route{Route("acme", 1, 0, 1)}},
		"a canary alone":     {SetRoutes: []*tenant.Route{Route("acme", 0, 0, 1)}},
		"a share of none":    {SetRoutes: []*tenant.Route{{Tenant: "acme", Provider: "notes", Active: 1, Share: 5}}},
		"a route of nothing": {SetRoutes: []*tenant.Route{{Tenant: "acme", Provider: "none"}}},
		"two routes":         {SetRoutes: []*tenant.Route{Route("acme", 1, 0, 0), Route("acme", 3, 0, 0)}},
		"rejected in use":    {SetVersions: []*tenant.Version{Version("acme", 1, tenant.StateRejected)}},
		"removed in use":     {RemoveVersions: []*tenant.Version{Version("acme", 1, "")}},
		"removed and routed": {RemoveVersions: []*tenant.Version{Version("acme", 3, "")}, SetRoutes: []*tenant.Route{Route("acme", 3, 0, 0)}},
	} {
		if f.refuse(tenant.ErrInvalid, c); t.Failed() {
			t.Fatal(name)
		}
	}
	f.refuse(tenant.ErrConflict, tenant.Change{Base: now.Generation - 1, SetRoutes: []*tenant.Route{Route("acme", 3, 1, 0)}})
	var many []*tenant.Version
	for n := 4; len(many) <= tenant.MaxVersions; n++ {
		many = append(many, Version("acme", n, tenant.StatePushed))
	}
	f.refuse(tenant.ErrTooMany, tenant.Change{SetVersions: many})
	f.reopen()
}

func removesVersions(t *testing.T, f *fixture) {
	f.apply(tenant.Change{
		SetTenants: []*tenant.Tenant{Tenant("acme"), Tenant("zoo")}, SetRoutes: []*tenant.Route{Route("acme", 1, 0, 0)},
		SetVersions: []*tenant.Version{Version("acme", 1, tenant.StateApproved), Version("zoo", 1, tenant.StateApproved)},
	})
	without := Tenant("acme")
	without.Providers, without.Digest = nil, "another"
	f.apply(tenant.Change{SetTenants: []*tenant.Tenant{without}}) // its versions stay
	f.apply(tenant.Change{RemoveTenants: []string{"acme"}})
	f.reopen()
	if s := f.Snapshot(); len(s.Versions[notes]) != 1 || s.Routes[notes] == nil {
		t.Errorf("got %+v", s)
	}
	f.advance(31 * 24 * time.Hour)
	s := f.apply(tenant.Change{SetVersions: []*tenant.Version{Version("zoo", 2, tenant.StatePushed)}})
	if len(s.Versions) != 1 || len(s.Routes) != 0 || len(s.Numbers) != 1 {
		t.Errorf("got %+v", s)
	}
	f.reopen()
	f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme")}, SetVersions: []*tenant.Version{Version("acme", 1, tenant.StatePushed)}})
}
