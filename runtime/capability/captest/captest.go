// Package captest is a test suite for the behaviour that all capabilities share.
//
// The tests of the packages below runtime/capability run it.
package captest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// A Request is one call of a service.
type Request struct {
	Service abi.Service
	Message []byte
}

// A Capability is one that was opened for a test, with requests to it.
type Capability struct {
	Name     string // as in [capability.Use]
	Services capability.Services
	Close    func() error // nil when there is nothing to close

	Granted Request // succeeds
	Refused Request // is not granted
	Slow    Request // would take minutes; without a service when the capability has no such request
	Large   Request // its answer would exceed the bound; without a service when the capability has no such request
}

// MaxAnswer is the most bytes of a message or a body in one answer.
const MaxAnswer = 1 << 20

// Run tests a capability. It calls open for each test; the capability must report its uses to observe.
func Run(t *testing.T, open func(t *testing.T, observe capability.Observer) Capability) {
	for name, test := range map[string]func(t *testing.T, c Capability, seen *uses){
		"denies what is not granted":  denies,
		"refuses malformed requests":  refusesMalformed,
		"honours cancellation":        honoursCancellation,
		"honours a deadline":          honoursDeadline,
		"bounds its answers":          bounds,
		"is safe for concurrent use":  concurrent,
		"closes once, and then fails": closes,
	} {
		t.Run(name, func(t *testing.T) {
			seen := &uses{}
			c := open(t, seen.observe)
			if c.Close != nil {
				t.Cleanup(func() {
					if err := c.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				})
			}
			test(t, c, seen)
		})
	}
}

// uses are those that were observed.
type uses struct {
	mu   sync.Mutex
	list []capability.Use // guarded by mu
}

func (u *uses) observe(_ context.Context, use capability.Use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.list = append(u.list, use)
}

// take returns the uses since the last call of take.
func (u *uses) take() []capability.Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := u.list
	u.list = nil
	return list
}

// expect checks that there was one use since the last call of take, and that it ended with code.
func (u *uses) expect(t *testing.T, c Capability, code abi.Code) {
	t.Helper()
	list := u.take()
	if len(list) != 1 {
		t.Fatalf("%d uses were observed, want one: %+v", len(list), list)
	}
	if use := list[0]; use.Capability != c.Name || use.Subject == "" || use.Code != code || use.Elapsed < 0 {
		t.Errorf("observed %+v, want one of %s that ended with %v", use, c.Name, code)
	}
}

func (c *Capability) ask(ctx context.Context, r Request) (capability.Response, error) {
	return c.Services[r.Service].Call(ctx, r.Message)
}

func denies(t *testing.T, c Capability, seen *uses) {
	if _, err := c.ask(t.Context(), c.Granted); err != nil {
		t.Errorf("what is granted: %v", err)
	}
	seen.expect(t, c, abi.CodeOK)
	_, err := c.ask(t.Context(), c.Refused)
	if abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("what is not granted: got %v, want %v", err, abi.CodeDenied)
	}
	seen.expect(t, c, abi.CodeDenied)
}

func refusesMalformed(t *testing.T, c Capability, _ *uses) {
	for id, service := range c.Services {
		for _, message := range [][]byte{{0xff}, {0x0a, 0xff, 0x01}, {0x0a, 1, 0xff}} {
			if resp, err := service.Call(t.Context(), message); err == nil || abi.CodeOf(err) == abi.CodeInternal {
				t.Errorf("service %d: %x: got %+v, %v", id, message, resp, err)
			}
		}
	}
}

func honoursCancellation(t *testing.T, c Capability, seen *uses) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.ask(ctx, c.Granted); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("before it begins: got %v", err)
	}
	if c.Slow.Service == 0 {
		return
	}
	seen.take()
	ctx, cancel = context.WithCancel(t.Context())
	stop := time.AfterFunc(50*time.Millisecond, cancel)
	defer stop.Stop()
	began := time.Now()
	if _, err := c.ask(ctx, c.Slow); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("halfway: got %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it went on for %v", took)
	}
	seen.expect(t, c, abi.CodeCancelled)
}

func honoursDeadline(t *testing.T, c Capability, _ *uses) {
	if c.Slow.Service == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := c.ask(ctx, c.Slow); abi.CodeOf(err) != abi.CodeDeadline {
		t.Errorf("got %v, want %v", err, abi.CodeDeadline)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it went on for %v", took)
	}
}

func bounds(t *testing.T, c Capability, _ *uses) {
	for _, r := range []Request{c.Granted, c.Large} {
		if r.Service == 0 {
			continue
		}
		resp, err := c.ask(t.Context(), r)
		if err != nil && abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("got %v", err)
		}
		if len(resp.Message) > MaxAnswer || len(resp.Body) > MaxAnswer {
			t.Errorf("got a message of %d bytes and a body of %d", len(resp.Message), len(resp.Body))
		}
	}
}

func concurrent(t *testing.T, c Capability, seen *uses) {
	const each = 8
	var running sync.WaitGroup
	for range each {
		running.Go(func() {
			if _, err := c.ask(t.Context(), c.Granted); err != nil {
				t.Error(err)
			}
			if _, err := c.ask(t.Context(), c.Refused); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("got %v", err)
			}
		})
	}
	running.Wait()
	if list := seen.take(); len(list) != 2*each {
		t.Errorf("%d uses were observed, want %d", len(list), 2*each)
	}
}

func closes(t *testing.T, c Capability, _ *uses) {
	if c.Close == nil {
		return
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	if resp, err := c.ask(t.Context(), c.Granted); err == nil {
		t.Errorf("after it was closed: got %+v", resp)
	}
}
