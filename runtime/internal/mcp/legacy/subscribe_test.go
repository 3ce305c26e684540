package legacy_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
	"github.com/wasmres/wasmres/runtime/resource"
)

const (
	updated     = "notifications/resources/updated"
	listChanged = "notifications/resources/list_changed"
)

func subscribe(t *testing.T, w wire, uri string) {
	t.Helper()
	if m := last(t, w, request(1, "resources/subscribe", `{"uri":`+quote(uri)+`}`)); string(m.Result) != `{}` {
		t.Fatalf("subscribe to %s: %+v", uri, m)
	}
}

func unsubscribe(t *testing.T, w wire, uri string) {
	t.Helper()
	if m := last(t, w, request(1, "resources/unsubscribe", `{"uri":`+quote(uri)+`}`)); string(m.Result) != `{}` {
		t.Fatalf("unsubscribe from %s: %+v", uri, m)
	}
}

// expect checks the next notification.
func expect(t *testing.T, w wire, method, params string) {
	t.Helper()
	if m := w.notification(t); m.Method != method || string(m.Params) != params {
		t.Errorf("got %s %s, want %s %s", m.Method, m.Params, method, params)
	}
}

func TestUpdatesReachOnlySubscribers(t *testing.T) {
	f := newFake()
	front := newFront(t, f)
	ann, bob := dialStdio(t, front, "2025-06-18"), dialHTTP(t, front, "2025-11-25")
	subscribe(t, ann, "test://watched")
	subscribe(t, bob, "test://other")

	// Both get the change of the list, which comes after the update that one of them must not get.
	f.change("test://watched")
	expect(t, ann, updated, `{"uri":"test://watched"}`)
	f.change("")
	expect(t, ann, listChanged, `{}`)
	expect(t, bob, listChanged, `{}`)

	f.change("test://other")
	expect(t, bob, updated, `{"uri":"test://other"}`)
	f.change("")
	expect(t, bob, listChanged, `{}`)
	expect(t, ann, listChanged, `{}`)
}

func TestSubscriptionsOfOneSessionAreIndependent(t *testing.T) {
	onBoth(t, "2025-06-18", func(t *testing.T, f *fake, w wire) {
		subscribe(t, w, "test://watched")
		subscribe(t, w, "test://other")
		subscribe(t, w, "test://other")
		if got := f.watching(); got != 3 {
			t.Errorf("got %d watches, want two resources and the list", got)
		}
		f.change("test://watched")
		expect(t, w, updated, `{"uri":"test://watched"}`)
		f.change("test://other")
		expect(t, w, updated, `{"uri":"test://other"}`)

		unsubscribe(t, w, "test://other")
		unsubscribe(t, w, "test://other")
		unsubscribe(t, w, "test://never")
		f.change("test://other")
		f.change("test://watched")
		expect(t, w, updated, `{"uri":"test://watched"}`)
	})
}

func TestNoNotificationBeforeTheEndOfTheHandshake(t *testing.T) {
	f := newFake()
	w := connectStdio(t, newFront(t, f))
	last(t, w, initializeLine("2025-06-18"))
	if got := f.watching(); got != 0 {
		t.Errorf("got %d watches before notifications/initialized", got)
	}
	w.notify(t, initializedLine)
	eventually(t, "the list is watched", func() bool { return f.watching() == 1 })
}

func TestSubscriptionsAreBounded(t *testing.T) {
	onBoth(t, "2025-06-18", func(t *testing.T, f *fake, w wire) {
		subscribe(t, w, "test://text")
		subscribe(t, w, "test://watched")
		if m := last(t, w, request(1, "resources/subscribe", `{"uri":"test://other"}`)); code(m) != 413 || string(m.Error.Data) != `{"code":"too_many"}` {
			t.Errorf("got %+v, want the limit", m)
		}
		unsubscribe(t, w, "test://text")
		subscribe(t, w, "test://other")
	}, func(c *legacy.Config) { c.MaxSubscriptions = 2 })
}

// A hasty source reports a change before it has accepted the subscription, and after the subscription has ended.
type hasty struct {
	*fake
	notifier chan resource.Notifier
}

func (h hasty) Subscribe(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) ([]abi.URI, error) {
	if !list {
		n.Updated(uris[0].String())
		h.notifier <- n
	}
	return h.fake.Subscribe(ctx, uris, list, n)
}

func TestChangeWhileSubscribingIsReported(t *testing.T) {
	f := newFake()
	h := hasty{f, make(chan resource.Notifier, 1)}
	w := dialStdio(t, newFront(t, f, func(c *legacy.Config) { c.Source = h }), "2025-06-18")
	w.notify(t, request(1, "resources/subscribe", `{"uri":"test://watched"}`))
	received := make(map[string]bool) // the answer may come first or last
	for range 2 {
		m := w.notification(t)
		received[m.Method+string(m.Result)] = true
	}
	if !received[updated] || !received["{}"] {
		t.Errorf("got %v, want the update and the answer", received)
	}
	unsubscribe(t, w, "test://watched")
	within(t, "the notifier", h.notifier).Updated("test://watched")
	f.change("")
	expect(t, w, listChanged, `{}`)
}

// A gated source answers each subscription to a resource when the test permits it.
type gated struct {
	*fake
	asked, goOn chan struct{}
	release     func() // closes goOn
}

func (g gated) Subscribe(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) ([]abi.URI, error) {
	if !list {
		g.asked <- struct{}{}
		<-g.goOn
	}
	return g.fake.Subscribe(ctx, uris, list, n)
}

func openGated(t *testing.T) (gated, *stdioWire) {
	goOn := make(chan struct{})
	g := gated{newFake(), make(chan struct{}, 10), goOn, sync.OnceFunc(func() { close(goOn) })}
	defer t.Cleanup(g.release) // before the front is closed
	return g, dialStdio(t, newFront(t, g.fake, func(c *legacy.Config) { c.Source = g }), "2025-06-18")
}

func TestRequestsForOneSubscriptionGetOneAnswer(t *testing.T) {
	for uri, want := range map[string]int{"test://watched": 0, "test://nothing": -32002} {
		g, w := openGated(t)
		w.notify(t, request(1, "resources/subscribe", `{"uri":`+quote(uri)+`}`))
		within(t, "the first request", g.asked)
		w.notify(t, request(2, "resources/subscribe", `{"uri":`+quote(uri)+`}`))
		g.release()
		for range 2 {
			if m := w.notification(t); m.Error == nil && want != 0 || m.Error != nil && code(m) != want {
				t.Errorf("%s: got %+v, want code %d", uri, m, want)
			}
		}
		if want != 0 {
			eventually(t, "only the list is watched", func() bool { return g.watching() == 1 })
			continue
		}
		if n := len(g.asked); n > 0 || g.watching() != 2 {
			t.Errorf("%d more calls of the source, got %d watches, want the resource and the list", n, g.watching())
		}
	}
}

func TestASubscriptionCanEndBeforeItHasBegun(t *testing.T) {
	g, w := openGated(t)
	w.notify(t, request(7, "resources/subscribe", `{"uri":"test://watched"}`))
	within(t, "the request", g.asked)
	unsubscribe(t, w, "test://watched")
	g.release()
	if m := w.notification(t); string(m.Result) != `{}` {
		t.Errorf("got %+v", m)
	}
	eventually(t, "only the list is watched", func() bool { return g.watching() == 1 })
	g.change("test://watched")
	g.change("")
	expect(t, w, listChanged, `{}`)
}

func TestEverythingIsReleasedAtTheEnd(t *testing.T) {
	subscribed := func(t *testing.T, f *fake, w wire) {
		subscribe(t, w, "test://watched")
		subscribe(t, w, "test://other")
		eventually(t, "all three are watched", func() bool { return f.watching() == 3 })
	}
	released := func(t *testing.T, f *fake) {
		eventually(t, "nothing is watched", func() bool { return f.watching() == 0 })
	}
	t.Run("DELETE", func(t *testing.T) {
		f := newFake()
		w := dialHTTP(t, newFront(t, f), "2025-06-18")
		subscribed(t, f, w)
		res := w.do(t, t.Context(), http.MethodDelete, "")
		if res.Body.Close(); res.StatusCode != http.StatusNoContent {
			t.Errorf("got %s", res.Status)
		}
		if res, _ := w.post(t, request(1, "ping", "")); res.StatusCode != http.StatusNotFound {
			t.Errorf("afterwards got %s", res.Status)
		}
		released(t, f)
	})
	t.Run("close of stdio", func(t *testing.T) {
		f := newFake()
		w := dialStdio(t, newFront(t, f), "2025-06-18")
		subscribed(t, f, w)
		w.session.Close()
		w.session.Close()
		if err := w.session.Receive([]byte(request(1, "ping", ""))); err == nil {
			t.Error("a line was taken afterwards")
		}
		released(t, f)
	})
	t.Run("close of the front", func(t *testing.T) {
		f := newFake()
		front := newFront(t, f)
		subscribed(t, f, dialStdio(t, front, "2025-06-18"))
		front.Close()
		front.Close()
		if _, err := front.Connect(t.Context(), func([]byte) error { return nil }); err == nil {
			t.Error("a session was opened afterwards")
		}
		released(t, f)
	})
}

func TestProgressComesOnTheStreamOfItsRequest(t *testing.T) {
	for _, token := range []string{`"tok"`, `9007199254740993`} {
		onBoth(t, "2025-06-18", func(t *testing.T, _ *fake, w wire) {
			all := w.ask(t, request(1, "resources/read", `{"uri":"test://progress","_meta":{"progressToken":`+token+`}}`))
			if len(all) != 3 {
				t.Fatalf("got %d messages, want two of progress and the result: %+v", len(all), all)
			}
			for i, done := range []string{"1", "2"} {
				want := `{"progressToken":` + token + `,"progress":` + done + `,"total":2}`
				if all[i].Method != "notifications/progress" || string(all[i].Params) != want {
					t.Errorf("got %s %s, want %s", all[i].Method, all[i].Params, want)
				}
			}
			if !strings.Contains(string(all[2].Result), "hello") {
				t.Errorf("got %+v", all[2])
			}
		})
	}
}

// A client whose subscriptions fail again and again cannot fill the log.
func TestFailedSubscriptionsDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := openBubble(t, newFake(), func(c *legacy.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		for n := range 500 {
			b.serve(t.Context(), http.MethodPost, request(n+1, "resources/subscribe", `{"uri":"test://broken"}`))
		}
		b.front.Close()
		lines := strings.Count(log.String(), "\n")
		if lines != 2 || strings.Count(log.String(), `msg="subscription refused" uri=test://broken code=unavailable err="come back later: context deadline exceeded"`) != 2 || !strings.HasSuffix(log.String(), " left_out=498\n") {
			t.Errorf("got %d lines:\n%.2000s", lines, log.String())
		}
	})
}
