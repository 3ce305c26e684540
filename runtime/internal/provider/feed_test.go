package provider_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A shed is what a guest reads, and the feed that reports changes in it.
type shed struct {
	*provider.Provider
	changes chan capability.FeedChange
	closed  chan struct{}
	told    chan string
	round   int
	delay   time.Duration // of each read

	mu    sync.Mutex // guards the fields below
	texts map[string]string
	reads map[string]int // that were answered with a text
}

// openShed opens a provider of x:NAME with these texts. Those that begin with a quotation mark are etags, too.
func openShed(t *testing.T, texts map[string]string) *shed {
	t.Helper()
	s := &shed{
		changes: make(chan capability.FeedChange), closed: make(chan struct{}), told: make(chan string, 100),
		texts: texts, reads: map[string]int{},
	}
	s.Provider = openPuppet(t, provider.Config{
		Feeds:  []func(context.Context) (capability.Feed, error){func(context.Context) (capability.Feed, error) { return s, nil }},
		Limits: limits.Limits{Calls: 2}, Cache: true,
	}, &guesttest.Puppet{
		Manifest: abi.Manifest{
			Ops:       1<<abi.OpRead | 1<<abi.OpList,
			Templates: []abi.Template{{URITemplate: "x:{id}", Name: "x", TTLMillis: 60_000, CacheScope: abi.CachePublic}},
		},
		Next: s.next,
	})
	return s
}

func (s *shed) next(ctx context.Context, op abi.Op, n int, req *abi.Request) guesttest.Step {
	if op != abi.OpRead || n > 0 {
		return guesttest.Return(abi.CodeOK)
	}
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, there := s.texts[req.URI]
	c := abi.Content{URI: req.URI, Kind: abi.KindText, Inline: []byte(text)}
	first, second, several := strings.Cut(text, "\n")
	switch {
	case several: // of which each line is one
		s.reads[req.URI]++
		return guesttest.Emit((&abi.Content{URI: req.URI + second, Kind: abi.KindText, ETag: second}).Append(
			(&abi.Content{URI: req.URI, Kind: abi.KindText, ETag: first}).Append(nil)))
	case !there:
		return guesttest.Return(abi.CodeNotFound)
	case text == "broken":
		return guesttest.Return(abi.CodeInternal)
	case text == "busy":
		return guesttest.Return(abi.CodeUnavailable)
	case text[0] == '"' && req.IfNoneMatch == text:
		return guesttest.Emit((&abi.Content{URI: req.URI, ETag: text, NotModified: true}).Append(nil))
	case text[0] == '"':
		c.ETag = text
	}
	s.reads[req.URI]++
	return guesttest.Emit(c.Append(nil))
}

// Next implements [capability.Feed].
func (s *shed) Next(ctx context.Context) (capability.FeedChange, error) {
	select {
	case c, open := <-s.changes:
		if !open {
			return c, errors.New("the feed has ended")
		}
		return c, nil
	case <-ctx.Done():
		return capability.FeedChange{}, ctx.Err()
	}
}

// Close implements [capability.Feed].
func (s *shed) Close() error {
	close(s.closed)
	return nil
}

// watch has a client watch the URIs and the list.
func (s *shed) watch(t *testing.T, uris ...string) {
	t.Helper()
	watched, err := s.Subscribe(t.Context(), parse(append(uris, "x:round")...), true, resource.NotifierFunc(func(uri string) { s.told <- uri }))
	if err != nil || len(watched) != len(uris)+1 {
		t.Fatalf("got %q, %v", watched, err)
	}
}

// change changes texts, of which the empty one removes it, reports that, and returns what the client receives.
func (s *shed) change(entries bool, texts map[string]string) []string {
	s.mu.Lock()
	for uri, text := range texts {
		if s.texts[uri] = text; text == "" {
			delete(s.texts, uri)
		}
	}
	s.mu.Unlock()
	told := map[string]bool{}
	for range 3 { // all of the first time has been told when something of the third is
		time.Sleep(time.Minute) // until what was before has been looked at, in the bubble's time
		change := capability.FeedChange{Since: time.Now().Add(-time.Millisecond), Entries: entries}
		entries = false
		s.mu.Lock()
		s.round++
		s.texts["x:round"] = fmt.Sprint("round ", s.round)
		s.mu.Unlock()
		s.changes <- change
		for uri := range s.told {
			if uri == "x:round" {
				break
			}
			told[uri] = true
		}
	}
	var all []string
	for uri := range told {
		all = append(all, uri)
	}
	slices.Sort(all)
	return all
}

func TestAFeedHasWatchedResourcesLookedAt(t *testing.T) {
	synctest.Test(t, testAFeedHasWatchedResourcesLookedAt)
}

func testAFeedHasWatchedResourcesLookedAt(t *testing.T) {
	s := openShed(t, map[string]string{
		"x:a": "text", "x:b": "text", "x:tag": `"1"`, "x:broken": "broken", "x:busy": "busy", "x:round": "round 0",
	})
	s.watch(t, "x:a", "x:b", "x:tag", "x:later", "x:broken", "x:busy")
	s.change(false, nil) // now all of them have been looked at
	for _, tt := range []struct {
		name    string
		entries bool
		texts   map[string]string
		want    []string
	}{
		{"nothing", false, nil, []string{"x:busy"}}, // of which nothing is known
		{"one", false, map[string]string{"x:a": "other"}, []string{"x:a", "x:busy"}},
		{"an etag", false, map[string]string{"x:tag": `"2"`}, []string{"x:busy", "x:tag"}},
		{"an etag that goes", false, map[string]string{"x:tag": "none"}, []string{"x:busy", "x:tag"}},
		{"what comes", true, map[string]string{"x:later": "here"}, []string{"", "x:busy", "x:later"}},
		{"what goes", true, map[string]string{"x:later": ""}, []string{"", "x:busy", "x:later"}},
		{"what can be read again", false, map[string]string{"x:busy": "free"}, []string{"x:busy"}},
		{"what breaks", false, map[string]string{"x:b": "broken"}, []string{"x:b"}},
		{"what is mended", false, map[string]string{"x:broken": "well"}, []string{"x:broken"}},
		{"nothing at last", false, nil, nil},
	} {
		version := s.ListVersion()
		if got := s.change(tt.entries, tt.texts); !slices.Equal(got, tt.want) {
			t.Errorf("%s: told of %q, want %q", tt.name, got, tt.want)
		}
		if s.ListVersion() == version {
			t.Errorf("%s: the list counts as the same", tt.name)
		}
	}
	if err := s.Provider.Close(); err != nil {
		t.Error(err)
	}
	<-s.closed
}

func TestAnEtagSparesTheReading(t *testing.T) { synctest.Test(t, testAnEtagSparesTheReading) }

func testAnEtagSparesTheReading(t *testing.T) {
	s := openShed(t, map[string]string{"x:tag": `"1"`, "x:round": "round 0"})
	s.watch(t, "x:tag")
	for range 5 {
		s.change(false, nil)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.reads["x:tag"]; n != 1 {
		t.Errorf("it was read %d times", n)
	}
}

// TestOnlyChangesAreToldRightAfterSubscribing has a feed report a change at once: what the client subscribed to was seen
// before it was told that it is subscribed.
func TestOnlyChangesAreToldRightAfterSubscribing(t *testing.T) {
	synctest.Test(t, testOnlyChangesAreToldRightAfterSubscribing)
}

func testOnlyChangesAreToldRightAfterSubscribing(t *testing.T) {
	s := openShed(t, map[string]string{
		"x:a": "text", "x:b": "text", "x:tag": `"1"`, "x:broken": "broken", "x:other": "text", "x:round": "round 0",
	})
	before := time.Now()
	s.watch(t, "x:a", "x:b", "x:tag", "x:nowhere", "x:broken")
	s.mu.Lock()
	s.texts["x:other"], s.texts["x:b"], s.texts["x:round"] = "changed", "changed", "round 1"
	s.mu.Unlock()
	s.changes <- capability.FeedChange{Since: before}
	synctest.Wait()
	close(s.told)
	var told []string
	for uri := range s.told {
		told = append(told, uri)
	}
	if slices.Sort(told); !slices.Equal(told, []string{"x:b", "x:round"}) {
		t.Errorf("told of %q", told)
	}
}

// TestAChangeBeforeTheFirstLookIsTold has the first look take longer than a client waits to be subscribed: what was seen
// after a change says nothing of the time before.
func TestAChangeBeforeTheFirstLookIsTold(t *testing.T) {
	synctest.Test(t, testAChangeBeforeTheFirstLookIsTold)
}

func testAChangeBeforeTheFirstLookIsTold(t *testing.T) {
	s := openShed(t, map[string]string{"x:a": "text", "x:round": "round 0"})
	s.delay = 1500 * time.Millisecond
	before := time.Now()
	s.watch(t, "x:a")
	s.changes <- capability.FeedChange{Since: before}
	var told []string
	for len(told) < 2 {
		told = append(told, <-s.told)
	}
	if slices.Sort(told); !slices.Equal(told, []string{"x:a", "x:round"}) {
		t.Errorf("told of %q", told)
	}
}

// TestASubscriberReadsWhatIsCompared has a change that no feed has reported yet: what was cached before the client was
// subscribed is as old as the change, and no notice would follow.
func TestASubscriberReadsWhatIsCompared(t *testing.T) {
	synctest.Test(t, testASubscriberReadsWhatIsCompared)
}

func testASubscriberReadsWhatIsCompared(t *testing.T) {
	s := openShed(t, map[string]string{"x:a": "old", "x:round": "round 0"})
	if got, err := read(t.Context(), s.Provider, "x:a"); got != "old" || err != nil {
		t.Fatalf("got %q, %v", got, err)
	}
	s.mu.Lock()
	s.texts["x:a"] = "new"
	s.mu.Unlock()
	s.watch(t, "x:a")
	if got, err := read(t.Context(), s.Provider, "x:a"); got != "new" || err != nil {
		t.Errorf("got %q, %v, want what was compared", got, err)
	}
}

func TestWhatIsKeptGoesWithAFeed(t *testing.T) { synctest.Test(t, testWhatIsKeptGoesWithAFeed) }

func testWhatIsKeptGoesWithAFeed(t *testing.T) {
	s := openShed(t, map[string]string{"x:a": "old", "x:round": "round 0"})
	s.watch(t)
	for _, text := range []string{"old", "new"} {
		s.change(false, map[string]string{"x:a": text})
		for range 2 {
			if got, err := read(t.Context(), s.Provider, "x:a"); got != text || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, text)
			}
		}
	}
	if n := s.reads["x:a"]; n != 2 {
		t.Errorf("it was read %d times, want one for each text", n)
	}
	close(s.changes)
	<-s.closed
	if got, err := read(t.Context(), s.Provider, "x:a"); got != "new" || err != nil {
		t.Errorf("after the feed: got %q, %v", got, err)
	}
}

// A resource of several contents is another one when any of them is.
func TestEachContentCounts(t *testing.T) { synctest.Test(t, testEachContentCounts) }

func testEachContentCounts(t *testing.T) {
	s := openShed(t, map[string]string{"x:folder": `"1"`, "x:round": "round 0"})
	s.watch(t, "x:folder")
	s.change(false, nil)
	s.change(false, map[string]string{"x:folder": "\"1\"\n\"1\""})
	if got := s.change(false, map[string]string{"x:folder": "\"1\"\n\"2\""}); !slices.Equal(got, []string{"x:folder"}) {
		t.Errorf("told of %q", got)
	}
}

// Who comes and goes leaves no work behind.
func TestResourcesWithoutSubscribersAreNotCompared(t *testing.T) {
	synctest.Test(t, testResourcesWithoutSubscribersAreNotCompared)
}

func testResourcesWithoutSubscribersAreNotCompared(t *testing.T) {
	var reads atomic.Int64
	reading, goOn := make(chan struct{}, 1), make(chan struct{})
	changes := make(chan capability.FeedChange)
	s := &shed{changes: changes, closed: make(chan struct{})}
	p := openPuppet(t, provider.Config{
		Feeds:  []func(context.Context) (capability.Feed, error){func(context.Context) (capability.Feed, error) { return s, nil }},
		Limits: limits.Limits{Calls: 2, Timeout: time.Hour},
	}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: 1 << abi.OpRead},
		Next: func(_ context.Context, _ abi.Op, _ int, _ *abi.Request) guesttest.Step {
			if reads.Add(1) == 1 {
				reading <- struct{}{}
				<-goOn
			}
			return guesttest.Return(abi.CodeNotFound)
		},
	})
	before := goruntime.NumGoroutine()
	watch := func(uri string) context.CancelFunc {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := p.Subscribe(ctx, parse(uri), false, ignore); err != nil {
			t.Fatal(err)
		}
		return cancel
	}
	defer watch("x:first")()
	<-reading
	for i := range 200 {
		watch(fmt.Sprint("x:", i))()
	}
	awaitGoroutines(t, before+10)
	close(goOn)
	defer watch("x:last")()
	changes <- capability.FeedChange{}
	changes <- capability.FeedChange{} // what was to be looked at was
	if n := reads.Load(); n > 20 {
		t.Errorf("the guest was asked %d times", n)
	}
}

// What is too many to be looked at is told of whenever anything has changed.
func TestHowManyAreLookedAtIsBounded(t *testing.T) { synctest.Test(t, testHowManyAreLookedAtIsBounded) }

func testHowManyAreLookedAtIsBounded(t *testing.T) {
	const all, most = 5000, 4096
	s := openShed(t, map[string]string{"x:round": "round 0"})
	s.told = make(chan string, 10*all)
	if watched, err := s.Subscribe(t.Context(), parse(numbered(all)...), false, resource.NotifierFunc(func(uri string) { s.told <- uri })); err != nil || len(watched) != all {
		t.Fatalf("got %d, %v", len(watched), err)
	}
	synctest.Wait()
	s.changes <- capability.FeedChange{Since: time.Now()}
	synctest.Wait()
	if n := len(s.told); n != all-most {
		t.Errorf("%d were told of, want %d", n, all-most)
	}
}

// A feed that cannot be opened is no reason not to watch: guests may speak up by themselves.
func TestWithoutItsFeedAProviderIsWatched(t *testing.T) {
	broken := func(context.Context) (capability.Feed, error) { return nil, errors.New("no such folder") }
	p := openPuppet(t, provider.Config{Feeds: []func(context.Context) (capability.Feed, error){broken}}, &guesttest.Puppet{
		Manifest: abi.Manifest{Ops: 1 << abi.OpRead},
	})
	told := make(chan string, 1)
	if _, err := p.Subscribe(t.Context(), parse("x:a"), false, resource.NotifierFunc(func(uri string) { told <- uri })); err != nil {
		t.Fatal(err)
	}
	p.Changed("x:a")
	if got := <-told; got != "x:a" {
		t.Errorf("told of %q", got)
	}
}

// A feed may take long to open, as a large folder does: who closes the provider does not wait for it.
func TestAProviderIsClosedWhileItsFeedIsOpened(t *testing.T) {
	opening := make(chan struct{})
	p := openPuppet(t, provider.Config{Feeds: []func(context.Context) (capability.Feed, error){
		func(ctx context.Context) (capability.Feed, error) {
			close(opening)
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}}, &guesttest.Puppet{Manifest: abi.Manifest{Ops: 1 << abi.OpRead}})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_, _ = p.Subscribe(context.Background(), parse("x:a"), false, resource.NotifierFunc(func(string) {}))
	}()
	<-opening
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	<-watched
}
