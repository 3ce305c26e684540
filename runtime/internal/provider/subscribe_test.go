package provider

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A subscriber is a guest that notes subscriptions.
type subscriber struct {
	pollMillis uint32
	answer     func(op abi.Op, uri string) error // called when the guest has noted the operation; nil for no error

	mu   sync.Mutex // guards the fields below
	held map[string]bool
	seen []string // operations with their URIs, in the order in which they began, but for polls
}

func (s *subscriber) about(_ context.Context, op abi.Op, uri, _ string, _ abi.Sink) (*abi.Reply, error) {
	s.note(op, uri)
	if s.answer != nil {
		if err := s.answer(op, uri); err != nil {
			return nil, err
		}
	}
	return &abi.Reply{PollMillis: s.pollMillis}, nil
}

func (s *subscriber) note(op abi.Op, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch op {
	case abi.OpSubscribe:
		s.held[uri] = true
	case abi.OpUnsubscribe:
		delete(s.held, uri)
	default:
		return
	}
	s.seen = append(s.seen, fmt.Sprint(op, " ", uri))
}

func (s *subscriber) implements(abi.Op) bool { return true }
func (s *subscriber) changed(string)         {}

// testHub runs test in a bubble, over a hub with one turn.
func testHub(t *testing.T, guest *subscriber, test func(t *testing.T, h *hub)) {
	synctest.Test(t, func(t *testing.T) {
		guest.held = map[string]bool{}
		h := newHub(guest, slog.New(slog.DiscardHandler), 1, nil)
		defer h.close()
		test(t, h)
		synctest.Wait()
		for uri := range guest.held {
			if h.poll(uri) == nil {
				t.Errorf("the guest holds a subscription to %s, which has no watcher", uri)
			}
		}
		for uri := range h.polls {
			if !guest.held[uri] {
				t.Errorf("%s has a watcher, and the guest holds no subscription", uri)
			}
		}
		if len(h.calling)+len(h.leaving) > 0 {
			t.Errorf("calls are left over: %v running, %v due", h.calling, h.leaving)
		}
	})
}

func acquire(t *testing.T, h *hub, uri string) {
	t.Helper()
	if err := h.acquire(t.Context(), uri); err != nil {
		t.Fatal(err)
	}
}

func TestUnsubscribeIsLeftOutForANewWatcher(t *testing.T) {
	guest := &subscriber{}
	testHub(t, guest, func(t *testing.T, h *hub) {
		acquire(t, h, "x:a")
		h.turns <- struct{}{} // OpUnsubscribe waits for this turn
		go h.release([]string{"x:a"})
		synctest.Wait()
		acquire(t, h, "x:a")
		<-h.turns
		synctest.Wait()
		if want := []string{"subscribe x:a"}; !slices.Equal(guest.seen, want) {
			t.Errorf("the guest saw %q, want %q", guest.seen, want)
		}
	})
}

func TestSubscribeWaitsForTheUnsubscribeThatRuns(t *testing.T) {
	goOn := make(chan struct{})
	guest := &subscriber{answer: func(op abi.Op, _ string) error {
		if op == abi.OpUnsubscribe {
			<-goOn
		}
		return nil
	}}
	testHub(t, guest, func(t *testing.T, h *hub) {
		goOn = make(chan struct{})
		acquire(t, h, "x:a")
		go h.release([]string{"x:a"})
		synctest.Wait()
		impatient, cancel := context.WithCancel(t.Context())
		var gaveUp error
		go func() { gaveUp = h.acquire(impatient, "x:a") }()
		for range 3 {
			go func() {
				if err := h.acquire(t.Context(), "x:a"); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if gaveUp != context.Canceled {
			t.Errorf("got %v for a watcher that gave up, want %v", gaveUp, context.Canceled)
		}
		close(goOn)
		synctest.Wait()
		if want := []string{"subscribe x:a", "unsubscribe x:a", "subscribe x:a"}; !slices.Equal(guest.seen, want) {
			t.Errorf("the guest saw %q, want %q", guest.seen, want)
		}
		if refs := h.poll("x:a").refs; refs != 3 {
			t.Errorf("%d watchers are counted, want 3", refs)
		}
	})
}

func TestARefusedPollIsUnsubscribed(t *testing.T) {
	guest := &subscriber{pollMillis: 100}
	testHub(t, guest, func(t *testing.T, h *hub) {
		h.polled = maxPolled
		if err := h.acquire(t.Context(), "x:a"); abi.CodeOf(err) != abi.CodeBusy {
			t.Errorf("got %v, want busy", err)
		}
	})
	if want := []string{"subscribe x:a", "unsubscribe x:a"}; !slices.Equal(guest.seen, want) {
		t.Errorf("the guest saw %q, want %q", guest.seen, want)
	}
}

// TestASubscriptionOfUnknownOutcomeIsEnded loses what the guest answers when it has noted the subscription.
func TestASubscriptionOfUnknownOutcomeIsEnded(t *testing.T) {
	for _, code := range []abi.Code{abi.CodeInternal, abi.CodeCancelled, abi.CodeDeadline, abi.CodeTrap} {
		guest := &subscriber{answer: func(op abi.Op, _ string) error {
			if op == abi.OpSubscribe {
				return &abi.Error{Code: code}
			}
			return nil
		}}
		testHub(t, guest, func(t *testing.T, h *hub) {
			h.turns <- struct{}{}
			for range 2 { // the second comes while OpUnsubscribe is due, and does not rely on the first
				if err := h.acquire(t.Context(), "x:a"); abi.CodeOf(err) != code {
					t.Errorf("got %v, want %v", err, code)
				}
			}
			<-h.turns
		})
		if want := []string{"subscribe x:a", "subscribe x:a", "unsubscribe x:a"}; !slices.Equal(guest.seen, want) {
			t.Errorf("%v: the guest saw %q, want %q", code, guest.seen, want)
		}
	}
}

func TestARefusedSubscriptionIsNotEnded(t *testing.T) {
	for _, code := range []abi.Code{abi.CodeNotFound, abi.CodeDenied, abi.CodeInvalidParams, abi.CodeUnavailable, abi.CodeBusy} {
		guest := &subscriber{answer: func(abi.Op, string) error { return &abi.Error{Code: code} }}
		testHub(t, guest, func(t *testing.T, h *hub) {
			if err := h.acquire(t.Context(), "x:a"); abi.CodeOf(err) != code {
				t.Errorf("got %v, want %v", err, code)
			}
			delete(guest.held, "x:a") // it refused
		})
		if want := []string{"subscribe x:a"}; !slices.Equal(guest.seen, want) {
			t.Errorf("%v: the guest saw %q, want %q", code, guest.seen, want)
		}
	}
}

// TestPollingGoesOnForANewWatcher leaves OpUnsubscribe out, and polls as often as the guest asked when it was subscribed.
func TestPollingGoesOnForANewWatcher(t *testing.T) {
	guest := &subscriber{pollMillis: 700}
	testHub(t, guest, func(t *testing.T, h *hub) {
		acquire(t, h, "x:a")
		synctest.Wait()
		h.turns <- struct{}{}
		go h.release([]string{"x:a"})
		synctest.Wait()
		acquire(t, h, "x:a")
		<-h.turns
		if every := h.poll("x:a").every; every != 700*time.Millisecond || h.polled != 1 {
			t.Errorf("polled every %v, %d in all, want every 700ms, 1", every, h.polled)
		}
	})
}
