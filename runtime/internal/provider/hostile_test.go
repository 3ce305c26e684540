package provider_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// openPuppet opens a provider that does what p says until the end of the test.
func openPuppet(t testing.TB, cfg provider.Config, p *guesttest.Puppet) *provider.Provider {
	t.Helper()
	p.Manifest.Name, cfg.Services = "puppet", p.Services()
	return openBinary(t, cfg, p.Binary(t))
}

const watching = 1<<abi.OpRead | 1<<abi.OpSubscribe | 1<<abi.OpUnsubscribe | 1<<abi.OpPoll

// pollOften is what a guest emits that wants to be polled every 100 ms.
var pollOften = guesttest.Emit((&abi.Reply{PollMillis: 1}).Append(nil))

func content(uri, text string) guesttest.Step {
	return guesttest.Emit((&abi.Content{URI: uri, Kind: abi.KindText, Inline: []byte(text)}).Append(nil))
}

func entry(uri string) guesttest.Step {
	return guesttest.Emit((&abi.Reply{Resources: []abi.Resource{{URI: uri, Name: "e"}}, TTLMillis: 5000, CacheScope: abi.CachePublic}).Append(nil))
}

func numbered(n int) []string {
	uris := make([]string, n)
	for i := range uris {
		uris[i] = fmt.Sprint("x:", i)
	}
	return uris
}

var ignore = resource.NotifierFunc(func(string) {})

func TestAllPagesOfAListAgreeOnCaching(t *testing.T) {
	p := openPuppet(t, provider.Config{PageSize: 1}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: 1 << abi.OpList, Resources: []abi.Resource{{URI: "x:s", Name: "s"}}},
		Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
			switch {
			case n == 0:
				return entry("x:" + req.Cursor + "e")
			case n == 1 && req.Cursor == "":
				return guesttest.Emit((&abi.Reply{NextCursor: "1"}).Append(nil))
			}
			return guesttest.Return(abi.CodeOK)
		},
	})
	req := &resource.Request{}
	for page := 1; ; page++ {
		reply, err := p.List(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if reply.TTLMillis != 0 || reply.CacheScope != abi.CachePrivate {
			t.Errorf("page %d: got %d ms, scope %d, want what the first page has: none, private", page, reply.TTLMillis, reply.CacheScope)
		}
		if req.Cursor = reply.NextCursor; req.Cursor == "" {
			break
		}
	}
}

func TestListsTellTheGuestWhoAsksAndWhatElseTheRequestSays(t *testing.T) {
	var got abi.Request
	p := openPuppet(t, provider.Config{}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: 1 << abi.OpList},
		Next: func(_ context.Context, _ abi.Op, _ int, req *abi.Request) guesttest.Step {
			got = *req
			return guesttest.Return(abi.CodeOK)
		},
	})
	if _, err := p.List(t.Context(), &resource.Request{Meta: `{"a":1}`, Principal: &abi.Principal{Subject: "ada"}}); err != nil {
		t.Fatal(err)
	}
	if got.Meta != `{"a":1}` || got.Principal == nil || got.Principal.Subject != "ada" {
		t.Errorf("got %+v", got)
	}
}

func TestManyURIsAreSubscribedSeveralAtATime(t *testing.T) {
	meet := make(chan struct{})
	p := openPuppet(t, provider.Config{Limits: limits.Limits{Calls: 8, Timeout: 5 * time.Second}}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: watching},
		Next: func(ctx context.Context, op abi.Op, _ int, _ *abi.Request) guesttest.Step {
			if op == abi.OpSubscribe { // one at a time would never meet another
				select {
				case meet <- struct{}{}:
				case <-meet:
				case <-ctx.Done():
				}
			}
			return guesttest.Return(abi.CodeOK)
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	uris := numbered(64)
	if got, err := p.Subscribe(ctx, parse(uris...), false, ignore); err != nil || !slices.Equal(texts(got), uris) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestPollsLeaveRoomForReads(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for a clock")
	}
	p := openPuppet(t, provider.Config{Limits: limits.Limits{Calls: 2, Timeout: time.Hour}}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: watching},
		Next: func(ctx context.Context, op abi.Op, n int, req *abi.Request) guesttest.Step {
			switch {
			case op == abi.OpPoll:
				<-ctx.Done()
			case op == abi.OpSubscribe && n == 0:
				return pollOften
			case op == abi.OpRead && n == 0:
				return content(req.URI, "fine")
			}
			return guesttest.Return(abi.CodeOK)
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := p.Subscribe(ctx, parse(numbered(8)...), false, ignore); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < 300*time.Millisecond; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := read(ctx, p, "x:r")
		cancel()
		if err != nil {
			t.Fatalf("after %v: %v", time.Since(begin), err)
		}
	}
}

func TestAWatchThatFailsDoesNotWaitForTheGuestToLetGo(t *testing.T) {
	returned := make(chan struct{})
	waited, released := make(chan bool, 8), make(chan string, 8)
	// With two calls at once, subscribing has one turn: the first three URIs are held when the fourth fails.
	limits := limits.Limits{Timeout: patience, Calls: 2}
	p := openPuppet(t, provider.Config{Limits: limits}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: watching},
		Next: func(ctx context.Context, op abi.Op, _ int, req *abi.Request) guesttest.Step {
			switch {
			case op == abi.OpSubscribe && req.URI == "x:3":
				return guesttest.Return(abi.CodeInternal)
			case op == abi.OpUnsubscribe:
				released <- req.URI
				select {
				case <-returned:
				case <-ctx.Done():
					waited <- true
				}
			}
			return guesttest.Return(abi.CodeOK)
		},
	})
	if got, err := p.Subscribe(t.Context(), parse(numbered(4)...), false, ignore); abi.CodeOf(err) != abi.CodeInternal {
		t.Errorf("got %v, %v, want internal", got, err)
	}
	close(returned)
	<-released
	if len(waited) > 0 {
		t.Error("Watch waited for the guest")
	}
}

func TestTheLastWatcherOfAURIEndsTheAsking(t *testing.T) {
	ended := make(chan string, 8)
	p := openPuppet(t, provider.Config{}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: watching},
		Next: func(_ context.Context, op abi.Op, _ int, req *abi.Request) guesttest.Step {
			if op == abi.OpUnsubscribe {
				ended <- req.URI
			}
			return guesttest.Return(abi.CodeOK)
		},
	})
	var cancels []context.CancelFunc
	for _, uris := range [][]string{{"x:1", "x:1", "x:0"}, {"x:1", "x:2"}} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cancels = append(cancels, cancel)
		if _, err := p.Subscribe(ctx, parse(uris...), false, ignore); err != nil {
			t.Fatal(err)
		}
	}
	cancels[0]()
	if got := <-ended; got != "x:0" || len(ended) > 0 { // the last of those let go
		t.Errorf("%s was released while a client watched it", got)
	}
	cancels[1]()
	got := []string{<-ended, <-ended}
	slices.Sort(got)
	if !slices.Equal(got, []string{"x:1", "x:2"}) || len(ended) > 0 {
		t.Errorf("got %v and %d more, want each once", got, len(ended))
	}
}

func TestOneSlowWatcherDelaysNoOther(t *testing.T) {
	p := openPuppet(t, provider.Config{}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: 1 << abi.OpRead},
		Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
			switch n {
			case 0:
				return guesttest.Ask(abi.ServiceNotifyUpdated, (&abi.NotifyRequest{URI: "x:w"}).Append(nil)).Times(1000)
			case 1:
				return content(req.URI, "fine")
			}
			return guesttest.Return(abi.CodeOK)
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stalled, quick := make(chan struct{}), make(chan string, 100_000)
	defer close(stalled)
	for _, notify := range []func(string){func(string) { <-stalled }, func(uri string) { quick <- uri }} {
		if _, err := p.Subscribe(ctx, parse("x:w"), false, merging(ctx, notify)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := read(t.Context(), p, "x:r"); err != nil {
			t.Fatal(err)
		}
		<-quick
	}
}

func TestHowManyResourcesArePolledIsBounded(t *testing.T) {
	p := openPuppet(t, provider.Config{Limits: limits.Limits{Timeout: 20 * time.Second}}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: watching},
		Next: func(_ context.Context, op abi.Op, n int, _ *abi.Request) guesttest.Step {
			if op == abi.OpSubscribe && n == 0 {
				return guesttest.Emit((&abi.Reply{PollMillis: 3_600_000}).Append(nil))
			}
			return guesttest.Return(abi.CodeOK)
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	uris := numbered(5000)
	var err error
	for len(uris) > 0 && err == nil {
		_, err = p.Subscribe(ctx, parse(uris[:1000]...), false, ignore)
		uris = uris[1000:]
	}
	if abi.CodeOf(err) != abi.CodeBusy {
		t.Errorf("got %v, want busy", err)
	}
}

// TestHammer does everything at once, and closes the provider while it goes on.
func TestHammer(t *testing.T) {
	before := goruntime.NumGoroutine()
	p := openPuppet(t, provider.Config{PageSize: 1, Limits: limits.Limits{Calls: 4}}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: watching | 1<<abi.OpList, Resources: []abi.Resource{{URI: "x:0", Name: "s"}}}, Next: hammered,
	})
	var wg sync.WaitGroup
	var closed, told atomic.Int64
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; closed.Load() == 0; i++ {
				hammer(t, p, worker+i, &told)
			}
		})
	}
	for told.Load() < 200 {
		time.Sleep(time.Millisecond)
	}
	for range 2 {
		wg.Go(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			closed.Add(1)
		})
	}
	wg.Wait()
	if _, err := p.Subscribe(t.Context(), parse("x:1"), true, ignore); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("watch after close: got %v, want unavailable", err)
	}
	if told.Load() == 0 {
		t.Error("no watcher was told of anything")
	}
	awaitGoroutines(t, before)
}

// hammered is a guest whose polls always see a change, and whose reads report one.
func hammered(_ context.Context, op abi.Op, n int, req *abi.Request) guesttest.Step {
	switch {
	case op == abi.OpSubscribe && n == 0:
		return pollOften
	case op == abi.OpPoll && n == 0:
		return guesttest.Emit((&abi.Content{URI: req.URI, ETag: strconv.FormatInt(time.Now().UnixNano(), 36)}).Append(nil))
	case op == abi.OpList && n == 0:
		return entry("x:1")
	case op == abi.OpRead && n == 0:
		return guesttest.Ask(abi.ServiceNotifyUpdated, (&abi.NotifyRequest{URI: req.URI}).Append(nil))
	case op == abi.OpRead && n == 1:
		return content(req.URI, "fine")
	}
	return guesttest.Return(abi.CodeOK)
}

// hammer does one thing of many.
func hammer(t *testing.T, p *provider.Provider, i int, told *atomic.Int64) {
	ctx, cancel := context.WithCancel(t.Context()) // which ends the subscription
	defer cancel()
	uri := fmt.Sprint("x:", i%5)
	var err error
	switch i % 4 {
	case 0:
		_, err = p.List(ctx, &resource.Request{Cursor: []string{"", "g", "s1"}[i%3]})
	case 1:
		_, err = p.Subscribe(ctx, parse(uri, "x:0", "x:0"), true, resource.NotifierFunc(func(string) { told.Add(1) }))
		_, _ = read(ctx, p, uri)
	default:
		_, err = read(ctx, p, uri)
	}
	switch abi.CodeOf(err) {
	case abi.CodeOK, abi.CodeUnavailable, abi.CodeCancelled, abi.CodeInvalidParams:
	default:
		t.Errorf("%d: got %v", i, err)
	}
}

// awaitGoroutines waits until there are no more goroutines than before: those of the engine that watch contexts have
// no end of their own to wait for.
func awaitGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(patience); goruntime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got %d goroutines, %d before", goruntime.NumGoroutine(), before)
		}
	}
}

// FuzzCursor lists from whatever a client comes up with. The guest accepts every cursor, so that a failure is ours.
func FuzzCursor(f *testing.F) {
	p := openPuppet(f, provider.Config{PageSize: 2, Limits: limits.Limits{Timeout: 20 * time.Second}}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: 1 << abi.OpList, Resources: []abi.Resource{
			{URI: "x:1", Name: "1"}, {URI: "x:2", Name: "2"}, {URI: "x:3", Name: "3"}}},
		Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
			if n == 0 && req.Limit > 0 {
				return entry("x:e")
			}
			return guesttest.Return(abi.CodeOK)
		},
	})
	for _, seed := range []string{"", "s2", "s3", "s-1", "s+2", "s02", "s18446744073709551616", "g", "gx", "g\x00", "g\xff", "\xff", "é", strings.Repeat("g", 4097), strings.Repeat("g", 4098)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		page, err := p.List(t.Context(), &resource.Request{Cursor: cursor})
		switch abi.CodeOf(err) {
		case abi.CodeInvalidParams:
			return
		case abi.CodeOK:
		default:
			t.Fatalf("cursor %q: got %v", cursor, err)
		}
		if n := len(page.Resources); n == 0 || n > 2 {
			t.Errorf("cursor %q: got %d entries, want 1 or 2", cursor, n)
		}
		if page.NextCursor == "" {
			return
		}
		if _, err := p.List(t.Context(), &resource.Request{Cursor: page.NextCursor}); err != nil {
			t.Errorf("next cursor %q: got %v", page.NextCursor, err)
		}
	})
}

// parse gives URIs that are valid.
func parse(uris ...string) (parsed []abi.URI) {
	for _, uri := range uris {
		parsed = append(parsed, abi.MustParseURI(uri))
	}
	return parsed
}

// texts gives URIs as they were given.
func texts(uris []abi.URI) (list []string) {
	for _, uri := range uris {
		list = append(list, uri.String())
	}
	return list
}
