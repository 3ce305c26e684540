package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/rollout"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A fake is a source of one provider, notes, that answers with its name.
type fake struct {
	name       string
	owner      string // of all URIs; empty for notes
	fail       error
	took       time.Duration
	blocks     time.Duration // for which clients keep each read waiting
	missing    []resource.Degraded
	subscribed int
	ended      []string
	after      int
}

func (f *fake) answer() (*abi.Reply, error) {
	time.Sleep(f.took)
	if f.fail != nil {
		return nil, f.fail
	}
	return &abi.Reply{NextCursor: f.name, Completions: []string{f.name}, CacheScope: abi.CachePublic}, nil
}

func (f *fake) List(ctx context.Context, _ *resource.Request) (*abi.Reply, error) {
	for _, m := range f.missing {
		resource.Degrade(ctx, m)
	}
	return f.answer()
}
func (f *fake) Templates(context.Context, *resource.Request) (*abi.Reply, error) { return f.answer() }
func (f *fake) Read(_ context.Context, _ *resource.Request, to abi.Sink) (*abi.Reply, error) {
	time.Sleep(f.blocks)
	to.(*sink).waited += f.blocks
	return f.answer()
}
func (f *fake) Complete(context.Context, *resource.Request) (*abi.Reply, error) { return f.answer() }
func (f *fake) Subscribe(_ context.Context, uris []abi.URI, _ bool, _ resource.Notifier) ([]abi.URI, error) {
	f.subscribed++
	return uris, nil
}
func (f *fake) EndSession(session string) { f.ended = append(f.ended, session) }
func (f *fake) AfterResponse()            { f.after++ }
func (f *fake) Owner(abi.URI) (string, bool) {
	if f.owner != "" {
		return f.owner, true
	}
	return "notes", true
}
func (f *fake) TemplateOwner(string) (string, bool) { return f.Owner(abi.URI{}) }

// A sink discards, and has kept the provider waiting for a time that it is told.
type sink struct{ waited time.Duration }

func (*sink) Content(*abi.Content) error { return nil }
func (*sink) Body([]byte) error          { return nil }
func (*sink) Progress(abi.Progress)      {}
func (s *sink) Blocked() time.Duration   { return s.waited }

func newSource(t *testing.T, stable *fake, canaries ...rollout.Canary) *rollout.Source {
	t.Helper()
	s, err := rollout.New(stable, canaries...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// client gives a context of a client's request.
func client(name string, c auth.Caller) context.Context {
	if name != "" {
		c.Identity = auth.NewIdentity(context.Background(), abi.Principal{Subject: name}, auth.FullAccess(auth.AnyURI()), time.Time{})
	}
	return auth.WithCaller(context.Background(), &c)
}

// answers asks in each way there is, and returns who has answered.
func answers(t *testing.T, s *rollout.Source, ctx context.Context, req resource.Request) (by string) {
	t.Helper()
	req.URI = abi.MustParseURI("notes://1")
	for i, ask := range []func(context.Context, *resource.Request) (*abi.Reply, error){
		s.List, s.Templates, s.Complete,
		func(ctx context.Context, req *resource.Request) (*abi.Reply, error) { return s.Read(ctx, req, &sink{}) },
	} {
		reply, err := ask(ctx, &req)
		switch {
		case err != nil:
			t.Fatal(err)
		case by != "" && reply.NextCursor != by:
			t.Errorf("way %d: answered by %s, want %s, as before", i, reply.NextCursor, by)
		case i != 2 && reply.CacheScope != abi.CachePrivate:
			t.Errorf("way %d: caches may share the answer", i)
		}
		by = reply.NextCursor
	}
	if (by == "stable") != (func() bool { _, ok := s.Pick(ctx); return !ok }()) && req.Session == "" {
		t.Errorf("subscriptions do not go to %s", by)
	}
	return by
}

func never(t *testing.T) *rollout.Trial {
	return rollout.NewTrial(func(reason string) { t.Errorf("failed: %s", reason) })
}

// Each client is always served by the same source, and the share of the clients is about what it should be.
func TestClientsStayWhereTheyAre(t *testing.T) {
	stable, next := &fake{name: "stable"}, &fake{name: "canary"}
	small := newSource(t, stable, rollout.Canary{Provider: "notes", Version: 2, Share: 10, Source: next, Trial: never(t)})
	large := newSource(t, stable, rollout.Canary{Provider: "notes", Version: 2, Share: 50, Source: next, Trial: never(t)})
	for kind, ask := range map[string]func(i int) (context.Context, resource.Request){
		"principal": func(i int) (context.Context, resource.Request) {
			return client(fmt.Sprintf("ada-%d", i), auth.Caller{Address: "192.0.2.1"}), resource.Request{Session: "other"}
		},
		"session": func(i int) (context.Context, resource.Request) {
			return client(auth.Anonymous, auth.Caller{Address: "192.0.2.1"}), resource.Request{Session: fmt.Sprintf("s%d", i)}
		},
		"address": func(i int) (context.Context, resource.Request) {
			return client("", auth.Caller{Address: fmt.Sprintf("192.0.2.%d", i)}), resource.Request{}
		},
	} {
		const all = 1000
		n := [2]int{}
		for i := range all {
			ctx, req := ask(i)
			first := answers(t, small, ctx, req)
			if again := answers(t, small, ctx, req); again != first {
				t.Fatalf("%s %d: got %s, then %s", kind, i, first, again)
			}
			second := answers(t, large, ctx, req)
			if first == "canary" && second != "canary" {
				t.Fatalf("%s %d: a larger share takes the client back", kind, i)
			}
			if first == "canary" {
				n[0]++
			}
			if second == "canary" {
				n[1]++
			}
		}
		if n[0] < 60 || n[0] > 140 || n[1] < 440 || n[1] > 560 {
			t.Errorf("by %s: %d and %d of %d, want about a tenth and a half", kind, n[0], n[1], all)
		}
	}
}

func TestASubscriptionGoesWhereItsSessionGoes(t *testing.T) {
	s := newSource(t, &fake{name: "stable"}, rollout.Canary{Provider: "notes", Version: 2, Share: 50, Source: &fake{name: "canary"}, Trial: never(t)})
	for i := range 100 {
		session := fmt.Sprintf("s%d", i)
		by := answers(t, s, client(auth.Anonymous, auth.Caller{}), resource.Request{Session: session})
		if _, ok := s.Pick(client(auth.Anonymous, auth.Caller{Session: session})); ok != (by == "canary") {
			t.Errorf("session %s is at %s, and its subscriptions are not", session, by)
		}
	}
}

func TestClientsThatMayChooseNameAVersion(t *testing.T) {
	one, two := &fake{name: "one"}, &fake{name: "two"}
	for _, share := range []int{0, 100} {
		s := newSource(t, &fake{name: "stable"},
			rollout.Canary{Provider: "notes", Version: 7, Share: share, Source: one, Trial: never(t)},
			rollout.Canary{Provider: "users", Version: 3, Share: share, Source: two, Trial: never(t)})
		for version, want := range map[int]string{7: "one", 3: "two", 6: "stable", 0: map[int]string{0: "stable", 100: "one"}[share]} {
			if got := answers(t, s, client("ada", auth.Caller{Version: version}), resource.Request{}); got != want {
				t.Errorf("share %d, version %d: got %s, want %s", share, version, got, want)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good := rollout.Canary{Provider: "notes", Version: 2, Share: 10, Source: &fake{}, Trial: never(t)}
	for name, change := range map[string]func(*rollout.Canary){
		"no provider": func(c *rollout.Canary) { c.Provider = "" }, "no version": func(c *rollout.Canary) { c.Version = 0 },
		"too much": func(c *rollout.Canary) { c.Share = 101 }, "no source": func(c *rollout.Canary) { c.Source = nil },
		"no trial": func(c *rollout.Canary) { c.Trial = nil }, "too little": func(c *rollout.Canary) { c.Share = -1 },
	} {
		bad := good
		change(&bad)
		if _, err := rollout.New(&fake{}, bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := rollout.New(&fake{}, good, good); err == nil {
		t.Error("two canaries of one provider: accepted")
	}
}

func TestJudge(t *testing.T) {
	ms := time.Millisecond
	for name, c := range map[string]struct {
		active, canary rollout.Counts
		want           string // part of the reason; empty for none
	}{
		"too few calls":                {rollout.Counts{}, rollout.Counts{Calls: 49, Faults: 49}, ""},
		"enough":                       {rollout.Counts{}, rollout.Counts{Calls: 50, Faults: 50}, "50 of 50 calls"},
		"not 5 points":                 {rollout.Counts{Calls: 100}, rollout.Counts{Calls: 100, Faults: 4}, ""},
		"5 points":                     {rollout.Counts{Calls: 100}, rollout.Counts{Calls: 100, Faults: 5}, "5 of 100"},
		"as bad as the active one":     {rollout.Counts{Calls: 100, Faults: 50}, rollout.Counts{Calls: 100, Faults: 54}, ""},
		"better":                       {rollout.Counts{Calls: 100, Faults: 50}, rollout.Counts{Calls: 100}, ""},
		"worse than a bad one":         {rollout.Counts{Calls: 100, Faults: 50}, rollout.Counts{Calls: 100, Faults: 55}, "55 of 100"},
		"3 times as slow":              {rollout.Counts{Calls: 50, Reads: 50, P99: 10 * ms}, rollout.Counts{Calls: 50, Reads: 50, P99: 30 * ms}, ""},
		"slower":                       {rollout.Counts{Calls: 50, Reads: 50, P99: 10 * ms}, rollout.Counts{Calls: 50, Reads: 50, P99: 31 * ms}, "31ms"},
		"slower by next to nothing":    {rollout.Counts{Calls: 50, Reads: 50, P99: ms / 10}, rollout.Counts{Calls: 50, Reads: 50, P99: 4 * ms}, ""},
		"slower, without a comparison": {rollout.Counts{Calls: 49, Reads: 49, P99: ms}, rollout.Counts{Calls: 50, Reads: 50, P99: time.Second}, ""},
		"slower, in a few reads":       {rollout.Counts{Calls: 90, Reads: 90, P99: ms}, rollout.Counts{Calls: 90, Reads: 49, P99: time.Second}, ""},
	} {
		reason, failed := rollout.Judge(c.active, c.canary)
		if failed != (c.want != "") || !strings.Contains(reason, c.want) {
			t.Errorf("%s: got %q, %v, want %q", name, reason, failed, c.want)
		}
	}
}

// A trialled source has clients of both versions, of which the canary's choose it.
type trialled struct {
	*rollout.Source
	stable, canary *fake
	trial          *rollout.Trial
	failed         []string
}

func newTrialled(t *testing.T) *trialled {
	s := &trialled{stable: &fake{name: "stable"}, canary: &fake{name: "canary"}}
	s.trial = rollout.NewTrial(func(reason string) { s.failed = append(s.failed, reason) })
	s.Source = newSource(t, s.stable, rollout.Canary{Provider: "notes", Version: 2, Source: s.canary, Trial: s.trial})
	return s
}

// read has a client of each version read n times; the canary fails with an error that is not nil.
func (s *trialled) read(n int, fail error) {
	for range n {
		s.canary.fail = nil
		_, _ = s.Read(client("ada", auth.Caller{}), &resource.Request{URI: abi.MustParseURI("notes://1")}, &sink{})
		s.canary.fail = fail
		_, _ = s.Read(client("ada", auth.Caller{Version: 2}), &resource.Request{URI: abi.MustParseURI("notes://1")}, &sink{})
	}
}

func TestFaultsTakeACanaryBackOnce(t *testing.T) {
	trap := abi.Errorf(abi.CodeTrap, "crashed")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"trap": {trap, true}, "fuel": {abi.Errorf(abi.CodeFuel, "x"), true}, "deadline": {abi.Errorf(abi.CodeDeadline, "x"), true},
		"memory": {abi.Errorf(abi.CodeMemory, "x"), true}, "protocol": {fmt.Errorf("provider notes: %w", abi.Errorf(abi.CodeProtocol, "x")), true},
		"a crash behind an ordinary error": {abi.Errorf(abi.CodeInternal, "x").Because(&abi.Crash{}), true},
		"its process has ended":            {abi.Errorf(abi.CodeUnavailable, "ended").Because(errors.New("killed")), true},
		"the provider says unavailable":    {abi.Errorf(abi.CodeUnavailable, "later"), false},
		"not found":                        {abi.Errorf(abi.CodeNotFound, ""), false},
		"an ordinary error":                {errors.New("no database"), false},
		"too many requests":                {abi.Busy(time.Second, "later"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTrialled(t)
			s.read(49, c.err)
			if len(s.failed) > 0 {
				t.Fatalf("failed after 49 calls: %s", s.failed)
			}
			s.read(51, c.err)
			if (len(s.failed) == 1) != c.want || s.trial.Failed() != c.want {
				t.Fatalf("got %q, want failed once: %v", s.failed, c.want)
			}
			reply, err := s.List(client("ada", auth.Caller{Version: 2}), &resource.Request{})
			if c.want && (err != nil || reply.NextCursor != "stable") {
				t.Errorf("a client of a failed canary is not at the stable source: %v, %v", reply, err)
			}
		})
	}
}

// What a good hour has counted does not hide a bad minute, and a bad moment long ago takes nothing back.
func TestTheLastMinuteCounts(t *testing.T) {
	trap := abi.Errorf(abi.CodeTrap, "crashed")
	synctest.Test(t, func(t *testing.T) {
		s := newTrialled(t)
		for range 60 {
			s.read(100, nil)
			time.Sleep(time.Minute)
		}
		s.read(49, trap)
		if len(s.failed) > 0 {
			t.Fatalf("too early: %s", s.failed)
		}
		s.read(1, trap)
		if len(s.failed) != 1 || !strings.HasPrefix(s.failed[0], "50 of 50 calls") {
			t.Errorf("got %q, want the calls of the last minute", s.failed)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newTrialled(t)
		for range 20 { // too few in a minute to say anything, and 4 % of all
			s.read(48, nil)
			s.read(1, trap)
			time.Sleep(2 * time.Minute)
		}
		if len(s.failed) > 0 {
			t.Errorf("failed: %s", s.failed)
		}
		active, canary := s.trial.Counts()
		if active.Calls != 980 || canary.Calls != 980 || canary.Faults != 20 || active.Faults != 0 {
			t.Errorf("got %+v and %+v", active, canary)
		}
	})
}

func TestSlowReadsTakeACanaryBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTrialled(t)
		s.stable.took, s.canary.took = time.Millisecond, 20*time.Millisecond
		s.read(49, nil)
		if len(s.failed) > 0 {
			t.Fatalf("too early: %s", s.failed)
		}
		s.read(1, nil)
		if len(s.failed) != 1 || !strings.Contains(s.failed[0], "99 of 100 reads") {
			t.Errorf("got %q, want the time of reads", s.failed)
		}
	})
}

// The first read of a process is slow, and so is a client that does not read: neither is a fault of the version.
func TestSlowStartsAndClientsTakeNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTrialled(t)
		s.stable.took = time.Millisecond
		s.canary.took = time.Second
		s.read(2, nil)
		s.canary.took = time.Millisecond
		s.read(200, nil)
		s.canary.blocks = time.Minute
		s.read(100, nil)
		if len(s.failed) > 0 {
			t.Errorf("failed: %s", s.failed)
		}
	})
}

// A page that lacks the entries of a provider for a fault of it counts against the version that was asked.
func TestFaultsInListsCount(t *testing.T) {
	s := newTrialled(t)
	s.canary.missing = []resource.Degraded{{Provider: "notes", Code: abi.CodeTrap}, {Provider: "other", Code: abi.CodeTrap}}
	for range 60 {
		var missing []resource.Degraded
		ctx := resource.WithDegraded(client("ada", auth.Caller{Version: 2}), &missing)
		if _, err := s.List(ctx, &resource.Request{}); err != nil || len(missing) != 2 && len(s.failed) == 0 {
			t.Fatalf("got %v, %v: the page says nothing of what is missing", missing, err)
		}
	}
	if len(s.failed) != 1 {
		t.Errorf("got %q, want failed once", s.failed)
	}
}

// A call of another provider says nothing of the canary, and neither does one that its client has left.
func TestWhatSaysNothingIsNotCounted(t *testing.T) {
	s := newTrialled(t)
	s.stable.owner, s.canary.owner = "other", "other"
	s.read(60, abi.Errorf(abi.CodeTrap, "crashed"))
	s.stable.owner, s.canary.owner = "", ""
	ctx, leave := context.WithCancel(client("ada", auth.Caller{Version: 2}))
	leave()
	s.canary.fail = abi.Errorf(abi.CodeDeadline, "late")
	for range 60 {
		_, _ = s.Read(ctx, &resource.Request{URI: abi.MustParseURI("notes://1")}, &sink{})
	}
	if active, canary := s.trial.Counts(); active != (rollout.Counts{}) || canary != (rollout.Counts{}) {
		t.Errorf("got %+v and %+v, want nothing", active, canary)
	}
}

func TestWhatConcernsAllReachesAll(t *testing.T) {
	s := newTrialled(t)
	s.EndSession("one")
	s.AfterResponse()
	for _, f := range []*fake{s.stable, s.canary} {
		if len(f.ended) != 1 || f.after != 1 {
			t.Errorf("%s: got %q and %d", f.name, f.ended, f.after)
		}
	}
	if owner, ok := s.Owner(abi.MustParseURI("notes://1")); owner != "notes" || !ok {
		t.Errorf("got owner %q, %v", owner, ok)
	}
	s.canary.owner = "other"
	if owner, ok := s.Owner(abi.MustParseURI("notes://1")); ok {
		t.Errorf("two owners: got %q", owner)
	}
	if _, ok := any(s.Source).(resource.Versioned); ok {
		t.Error("pages of lists may be cached for other clients")
	}
}
