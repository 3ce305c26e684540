package subscribe

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

// A noter is a guest that notes subscriptions.
type noter struct {
	pollMillis uint32
	answer     func(op abi.Op, uri string) error // called when the guest has noted the operation; nil for no error

	mu   sync.Mutex // guards the fields below
	held map[string]bool
	seen []string // operations with their URIs, in the order in which they began, but for polls
}

func (s *noter) call(_ context.Context, op abi.Op, uri, _ string, _ abi.Sink) (*abi.Reply, error) {
	s.note(op, uri)
	if s.answer != nil {
		if err := s.answer(op, uri); err != nil {
			return nil, err
		}
	}
	return &abi.Reply{PollMillis: s.pollMillis}, nil
}

func (s *noter) note(op abi.Op, uri string) {
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

// testBroker runs test in a bubble, over a Broker with one slot.
func testBroker(t *testing.T, guest *noter, test func(t *testing.T, b *Broker)) {
	synctest.Test(t, func(t *testing.T) {
		guest.held = map[string]bool{}
		b := New(Config{
			Call: guest.call, Implements: func(abi.Op) bool { return true }, OnChange: func(string) {}, MaxCalls: 1,
			Logger: slog.New(slog.DiscardHandler),
		})
		defer b.Close()
		test(t, b)
		synctest.Wait()
		for uri := range guest.held {
			if b.find(uri) == nil {
				t.Errorf("the guest holds a subscription to %s, which has no subscriber", uri)
			}
		}
		for uri := range b.subscriptions {
			if !guest.held[uri] {
				t.Errorf("%s has a subscriber, and the guest holds no subscription", uri)
			}
		}
		if len(b.calling)+len(b.leaving) > 0 {
			t.Errorf("calls are left over: %v running, %v due", b.calling, b.leaving)
		}
	})
}

func acquire(t *testing.T, b *Broker, uri string) {
	t.Helper()
	if err := b.acquire(t.Context(), uri); err != nil {
		t.Fatal(err)
	}
}

func TestUnsubscribeIsLeftOutForANewSubscriber(t *testing.T) {
	guest := &noter{}
	testBroker(t, guest, func(t *testing.T, b *Broker) {
		acquire(t, b, "x:a")
		b.slots <- struct{}{} // OpUnsubscribe waits for this slot
		go b.release([]string{"x:a"})
		synctest.Wait()
		acquire(t, b, "x:a")
		<-b.slots
		synctest.Wait()
		if want := []string{"subscribe x:a"}; !slices.Equal(guest.seen, want) {
			t.Errorf("the guest saw %q, want %q", guest.seen, want)
		}
	})
}

func TestSubscribeWaitsForTheUnsubscribeThatRuns(t *testing.T) {
	goOn := make(chan struct{})
	guest := &noter{answer: func(op abi.Op, _ string) error {
		if op == abi.OpUnsubscribe {
			<-goOn
		}
		return nil
	}}
	testBroker(t, guest, func(t *testing.T, b *Broker) {
		goOn = make(chan struct{})
		acquire(t, b, "x:a")
		go b.release([]string{"x:a"})
		synctest.Wait()
		impatient, cancel := context.WithCancel(t.Context())
		var gaveUp error
		go func() { gaveUp = b.acquire(impatient, "x:a") }()
		for range 3 {
			go func() {
				if err := b.acquire(t.Context(), "x:a"); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if gaveUp != context.Canceled {
			t.Errorf("got %v for a subscriber that gave up, want %v", gaveUp, context.Canceled)
		}
		close(goOn)
		synctest.Wait()
		if want := []string{"subscribe x:a", "unsubscribe x:a", "subscribe x:a"}; !slices.Equal(guest.seen, want) {
			t.Errorf("the guest saw %q, want %q", guest.seen, want)
		}
		if refs := b.find("x:a").refs; refs != 3 {
			t.Errorf("%d subscribers are counted, want 3", refs)
		}
	})
}

func TestARefusedPollIsUnsubscribed(t *testing.T) {
	guest := &noter{pollMillis: 100}
	testBroker(t, guest, func(t *testing.T, b *Broker) {
		b.compared = maxCompared
		if err := b.acquire(t.Context(), "x:a"); abi.CodeOf(err) != abi.CodeBusy {
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
		guest := &noter{answer: func(op abi.Op, _ string) error {
			if op == abi.OpSubscribe {
				return &abi.Error{Code: code}
			}
			return nil
		}}
		testBroker(t, guest, func(t *testing.T, b *Broker) {
			b.slots <- struct{}{}
			for range 2 { // the second comes while OpUnsubscribe is due, and does not rely on the first
				if err := b.acquire(t.Context(), "x:a"); abi.CodeOf(err) != code {
					t.Errorf("got %v, want %v", err, code)
				}
			}
			<-b.slots
		})
		if want := []string{"subscribe x:a", "subscribe x:a", "unsubscribe x:a"}; !slices.Equal(guest.seen, want) {
			t.Errorf("%v: the guest saw %q, want %q", code, guest.seen, want)
		}
	}
}

func TestARefusedSubscriptionIsNotEnded(t *testing.T) {
	for _, code := range []abi.Code{abi.CodeNotFound, abi.CodeDenied, abi.CodeInvalidParams, abi.CodeUnavailable, abi.CodeBusy} {
		guest := &noter{answer: func(abi.Op, string) error { return &abi.Error{Code: code} }}
		testBroker(t, guest, func(t *testing.T, b *Broker) {
			if err := b.acquire(t.Context(), "x:a"); abi.CodeOf(err) != code {
				t.Errorf("got %v, want %v", err, code)
			}
			delete(guest.held, "x:a") // it refused
		})
		if want := []string{"subscribe x:a"}; !slices.Equal(guest.seen, want) {
			t.Errorf("%v: the guest saw %q, want %q", code, guest.seen, want)
		}
	}
}

// TestPollingGoesOnForANewSubscriber leaves OpUnsubscribe out, and polls as often as the guest asked when it was subscribed.
func TestPollingGoesOnForANewSubscriber(t *testing.T) {
	guest := &noter{pollMillis: 700}
	testBroker(t, guest, func(t *testing.T, b *Broker) {
		acquire(t, b, "x:a")
		synctest.Wait()
		b.slots <- struct{}{}
		go b.release([]string{"x:a"})
		synctest.Wait()
		acquire(t, b, "x:a")
		<-b.slots
		if every := b.find("x:a").every; every != 700*time.Millisecond || b.compared != 1 {
			t.Errorf("polled every %v, %d in all, want every 700ms, 1", every, b.compared)
		}
	})
}
