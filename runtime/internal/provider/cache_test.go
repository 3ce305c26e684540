package provider_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A counting provider answers each read with its number, from 1, and with ttl and scope.
type counting struct {
	*provider.Provider
	reads atomic.Int64
	ttl   uint64
	scope abi.CacheScope
	size  int                    // bytes of each content, at least
	begun func(n int64)          // called while the guest reads
	code  func(n int64) abi.Code // how it ends; nil: always CodeOK
}

// openCounting opens one whose template is t.
func openCounting(tb testing.TB, c *counting, t abi.Template) *counting {
	tb.Helper()
	t.URITemplate, t.Name = "x:{id}", "x"
	c.Provider = openPuppet(tb, provider.Config{Cache: true}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: 1<<abi.OpRead | 1<<abi.OpSubscribe, Templates: []abi.Template{t}},
		Next:     c.next,
	})
	return c
}

func (c *counting) next(ctx context.Context, op abi.Op, n int, req *abi.Request) guesttest.Step {
	if op != abi.OpRead {
		return guesttest.Return(abi.CodeOK)
	}
	switch n {
	case 0:
		read := c.reads.Add(1)
		if c.begun != nil {
			c.begun(read)
		}
		text := fmt.Sprintf("%d ", read)
		return guesttest.Emit((&abi.Content{URI: req.URI, Kind: abi.KindText, MIMEType: "text/plain", Inline: []byte(text)}).Append(nil))
	case 1:
		return guesttest.Body(make([]byte, c.size/2)).Times(2)
	case 2:
		return guesttest.Emit((&abi.Reply{TTLMillis: c.ttl, CacheScope: c.scope}).Append(nil))
	}
	if c.code != nil {
		return guesttest.Return(c.code(c.reads.Load()))
	}
	return guesttest.Return(abi.CodeOK)
}

// get reads and gives the number that came, without the padding, or the code of the error.
func (c *counting) get(t *testing.T, req resource.Request) string {
	t.Helper()
	var got text
	if _, err := c.Read(t.Context(), &req, &got); err != nil {
		return abi.CodeOf(err).String()
	}
	number, _, _ := strings.Cut(got.String(), " ")
	return number
}

func TestCacheableAnswersAreReadOnce(t *testing.T) {
	minute := abi.Template{TTLMillis: 60_000, CacheScope: abi.CachePublic}
	for name, c := range map[string]struct {
		guest    *counting
		template abi.Template
		request  resource.Request
		want     string
	}{
		"as the reply says":    {&counting{ttl: 60_000, scope: abi.CachePublic}, abi.Template{}, resource.Request{}, "1 2 2 2"},
		"as the template says": {&counting{}, minute, resource.Request{}, "1 1 1 1"},
		"not private":          {&counting{ttl: 60_000}, abi.Template{}, resource.Request{}, "1 2 3 4"},
		"not without a TTL":    {&counting{scope: abi.CachePublic}, abi.Template{}, resource.Request{}, "1 2 3 4"},
		"not with metadata":    {&counting{}, minute, resource.Request{Meta: `{"a":1}`}, "1 2 3 4"},
		"not when too large":   {&counting{size: 1 << 20}, minute, resource.Request{}, "1 2 3 4"},
	} {
		t.Run(name, func(t *testing.T) {
			guest := openCounting(t, c.guest, c.template)
			if c.request.URI.IsZero() {
				c.request.URI = abi.MustParseURI("x:a")
			}
			var got []string
			for range 4 {
				got = append(got, guest.get(t, c.request))
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestACachedAnswerIsComplete(t *testing.T) {
	c := openCounting(t, &counting{ttl: 60_000, scope: abi.CachePublic}, abi.Template{TTLMillis: 1, CacheScope: abi.CachePublic})
	type answer struct {
		contents recorded
		reply    *abi.Reply
	}
	ask := func() (a answer) {
		reply, err := c.Read(t.Context(), &resource.Request{URI: abi.MustParseURI("x:a")}, &a.contents)
		if err != nil {
			t.Fatal(err)
		}
		a.reply = reply
		return a
	}
	first, second := ask(), ask()
	if c.reads.Load() != 1 {
		t.Fatalf("the guest was asked %d times", c.reads.Load())
	}
	if fmt.Sprint(first.contents) != fmt.Sprint(second.contents) {
		t.Errorf("got %+v, then %+v", first.contents, second.contents)
	}
	if ttl := second.reply.TTLMillis; ttl == 0 || ttl > first.reply.TTLMillis || second.reply.CacheScope != abi.CachePublic {
		t.Errorf("got %+v, then %+v", first.reply, second.reply)
	}
}

// recorded is all that a sink receives, but for sizes.
type recorded []string

func (r *recorded) Content(c *abi.Content) error {
	*r = append(*r, fmt.Sprint(c.URI, c.MIMEType, c.Kind, c.ETag, c.Meta))
	return nil
}
func (r *recorded) Body(p []byte) error   { (*r)[len(*r)-1] += string(p); return nil }
func (r *recorded) Progress(abi.Progress) {}

func TestNothingIsCachedUnlessConfigured(t *testing.T) {
	c := &counting{}
	c.Provider = openPuppet(t, provider.Config{}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: 1 << abi.OpRead, Templates: []abi.Template{
			{URITemplate: "x:{id}", Name: "x", TTLMillis: 60_000, CacheScope: abi.CachePublic},
		}}, Next: c.next,
	})
	for _, want := range []string{"1", "2"} {
		if got := c.get(t, resource.Request{URI: abi.MustParseURI("x:a")}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestEntriesExpireAndAreInvalidated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openCounting(t, &counting{}, abi.Template{TTLMillis: 60_000, CacheScope: abi.CachePublic})
		expect := func(uri, want string) {
			t.Helper()
			if got := c.get(t, resource.Request{URI: abi.MustParseURI(uri)}); got != want {
				t.Errorf("%s: got %s, want %s", uri, got, want)
			}
		}
		expect("x:a", "1")
		expect("x:b", "2")
		time.Sleep(59 * time.Second)
		expect("x:a", "1")
		time.Sleep(2 * time.Second)
		expect("x:a", "3")
		expect("x:a", "3")
		c.Changed("x:b")
		expect("x:a", "3")
		c.Changed("x:a")
		expect("x:a", "4")
		expect("x:b", "5")
		c.Changed("")
		expect("x:a", "6")
		expect("x:b", "7")
	})
}

func TestReadsAtTheSameTimeShareOneFetch(t *testing.T) {
	const readers = 20
	for name, c := range map[string]struct {
		size  int
		first abi.Code // how the first read ends
		alter bool     // what it reads changes meanwhile
		reads int64    // in all, with one more afterwards
	}{
		"succeeds":          {reads: 1},
		"fails":             {first: abi.CodeInternal, reads: 0},
		"too large":         {size: 1 << 20, reads: readers + 1},
		"changes meanwhile": {alter: true, reads: 0},
	} {
		t.Run(name, func(t *testing.T) {
			began, goOn := make(chan struct{}), make(chan struct{})
			c2 := &counting{size: c.size, begun: func(n int64) {
				if n == 1 {
					close(began)
					<-goOn
				}
			}, code: func(n int64) abi.Code {
				if n == 1 {
					return c.first
				}
				return abi.CodeOK
			}}
			openCounting(t, c2, abi.Template{TTLMillis: 60_000, CacheScope: abi.CachePublic})
			var done sync.WaitGroup
			failed := atomic.Int64{}
			ask := func() {
				var got text
				if _, err := c2.Read(t.Context(), &resource.Request{URI: abi.MustParseURI("x:a")}, &got); err != nil {
					failed.Add(1)
				}
			}
			done.Go(ask)
			<-began
			for range readers - 1 {
				done.Go(ask)
			}
			if c.alter {
				c2.Changed("x:a")
			}
			close(goOn)
			done.Wait()
			ask()
			if want := int64(0); c.first == abi.CodeOK && failed.Load() != want || c.first != abi.CodeOK && failed.Load() != 1 {
				t.Errorf("%d reads failed", failed.Load())
			}
			if got := c2.reads.Load(); c.reads > 0 && got != c.reads || c.reads == 0 && got < 2 {
				t.Errorf("the guest was asked %d times, want %d", got, c.reads)
			}
		})
	}
}

func TestACancelledReadStopsWaitingForTheFetch(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	c := openCounting(t, &counting{begun: func(int64) { close(began); <-goOn }}, abi.Template{TTLMillis: 60_000, CacheScope: abi.CachePublic})
	var first sync.WaitGroup
	first.Go(func() { c.get(t, resource.Request{URI: abi.MustParseURI("x:a")}) })
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Read(ctx, &resource.Request{URI: abi.MustParseURI("x:a")}, &text{}); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("got %v", err)
	}
	close(goOn)
	first.Wait()
}

// A stuck sink is that of a client that reads nothing.
type stuck struct {
	text
	began, goOn chan struct{}
}

func (s *stuck) Content(*abi.Content) error {
	close(s.began)
	<-s.goOn
	return nil
}

func TestASlowClientDoesNotDelayOtherReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openCounting(t, &counting{}, abi.Template{TTLMillis: 60_000, CacheScope: abi.CachePublic})
		slow := &stuck{began: make(chan struct{}), goOn: make(chan struct{})}
		var first sync.WaitGroup
		first.Go(func() {
			if _, err := c.Read(t.Context(), &resource.Request{URI: abi.MustParseURI("x:a")}, slow); err != nil {
				t.Error(err)
			}
		})
		<-slow.began
		began := time.Now()
		if got := c.get(t, resource.Request{URI: abi.MustParseURI("x:a")}); got != "2" || time.Since(began) > time.Second {
			t.Errorf("got %s after %v", got, time.Since(began))
		}
		close(slow.goOn)
		first.Wait()
	})
}

func TestTheCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no client is slow
		c := openCounting(t, &counting{size: 900 << 10}, abi.Template{TTLMillis: 60_000, CacheScope: abi.CachePublic})
		const all = 45 // of which about 36 fit
		for i := range all {
			c.get(t, resource.Request{URI: abi.MustParseURI(fmt.Sprint("x:", i))})
		}
		if got := c.get(t, resource.Request{URI: abi.MustParseURI(fmt.Sprint("x:", all-1))}); got != fmt.Sprint(all) {
			t.Errorf("the last was read again, as %s", got)
		}
		if got := c.get(t, resource.Request{URI: abi.MustParseURI("x:0")}); got != fmt.Sprint(all+1) {
			t.Errorf("the first is still cached, as %s", got)
		}
	})
}

// BenchmarkCachedRead is a read that the cache answers.
func BenchmarkCachedRead(b *testing.B) {
	c := openCounting(b, &counting{}, abi.Template{TTLMillis: 3_600_000, CacheScope: abi.CachePublic})
	req := &resource.Request{URI: abi.MustParseURI("x:a")}
	var sink discard
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Read(b.Context(), req, sink); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Content(*abi.Content) error { return nil }
func (discard) Body([]byte) error          { return nil }
func (discard) Progress(abi.Progress)      {}
