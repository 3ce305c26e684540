// Package captest is the behaviour every power of the host must show, whatever it does.
//
// It owns that suite. The tests of the packages below runtime/capability import it.
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

// A Power is one that was opened for a test, and what to ask of it.
type Power struct {
	Name     string // as in [capability.Use]
	Services capability.Services
	Close    func() error // nil when there is nothing to close

	Granted Request // is answered
	Refused Request // is not granted
	Slow    Request // would take minutes; without a service when there is none such
	Large   Request // would answer more than one answer may have; without a service when there is none such
}

// MaxAnswer is the bytes of a message or a body that one answer may have.
const MaxAnswer = 1 << 20

// Run holds the power that open gives to the behaviour. open is called for each test, and tells observe of each use.
func Run(t *testing.T, open func(t *testing.T, observe capability.Observer) Power) {
	for name, test := range map[string]func(t *testing.T, p Power, seen *uses){
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
			p := open(t, seen.observe)
			if p.Close != nil {
				t.Cleanup(func() {
					if err := p.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				})
			}
			test(t, p, seen)
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

// take gives the uses since the last time.
func (u *uses) take() []capability.Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := u.list
	u.list = nil
	return list
}

// expect checks that there was one use since the last time, and how it ended.
func (u *uses) expect(t *testing.T, p Power, code abi.Code) {
	t.Helper()
	list := u.take()
	if len(list) != 1 {
		t.Fatalf("%d uses were observed, want one: %+v", len(list), list)
	}
	if use := list[0]; use.Power != p.Name || use.Subject == "" || use.Code != code || use.Elapsed < 0 {
		t.Errorf("observed %+v, want one of %s that ended with %v", use, p.Name, code)
	}
}

func (p *Power) ask(ctx context.Context, r Request) (capability.Response, error) {
	return p.Services[r.Service].Call(ctx, r.Message)
}

func denies(t *testing.T, p Power, seen *uses) {
	if _, err := p.ask(t.Context(), p.Granted); err != nil {
		t.Errorf("what is granted: %v", err)
	}
	seen.expect(t, p, abi.CodeOK)
	_, err := p.ask(t.Context(), p.Refused)
	if abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("what is not granted: got %v, want %v", err, abi.CodeDenied)
	}
	seen.expect(t, p, abi.CodeDenied)
}

func refusesMalformed(t *testing.T, p Power, _ *uses) {
	for id, service := range p.Services {
		for _, message := range [][]byte{{0xff}, {0x0a, 0xff, 0x01}, {0x0a, 1, 0xff}} {
			if resp, err := service.Call(t.Context(), message); err == nil || abi.CodeOf(err) == abi.CodeInternal {
				t.Errorf("service %d: %x: got %+v, %v", id, message, resp, err)
			}
		}
	}
}

func honoursCancellation(t *testing.T, p Power, seen *uses) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.ask(ctx, p.Granted); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("before it begins: got %v", err)
	}
	if p.Slow.Service == 0 {
		return
	}
	seen.take()
	ctx, cancel = context.WithCancel(t.Context())
	stop := time.AfterFunc(50*time.Millisecond, cancel)
	defer stop.Stop()
	began := time.Now()
	if _, err := p.ask(ctx, p.Slow); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("halfway: got %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it went on for %v", took)
	}
	seen.expect(t, p, abi.CodeCancelled)
}

func honoursDeadline(t *testing.T, p Power, _ *uses) {
	if p.Slow.Service == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := p.ask(ctx, p.Slow); abi.CodeOf(err) != abi.CodeDeadline {
		t.Errorf("got %v, want %v", err, abi.CodeDeadline)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it went on for %v", took)
	}
}

func bounds(t *testing.T, p Power, _ *uses) {
	for _, r := range []Request{p.Granted, p.Large} {
		if r.Service == 0 {
			continue
		}
		resp, err := p.ask(t.Context(), r)
		if err != nil && abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("got %v", err)
		}
		if len(resp.Message) > MaxAnswer || len(resp.Body) > MaxAnswer {
			t.Errorf("got a message of %d bytes and a body of %d", len(resp.Message), len(resp.Body))
		}
	}
}

func concurrent(t *testing.T, p Power, seen *uses) {
	const each = 8
	var running sync.WaitGroup
	for range each {
		running.Go(func() {
			if _, err := p.ask(t.Context(), p.Granted); err != nil {
				t.Error(err)
			}
			if _, err := p.ask(t.Context(), p.Refused); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("got %v", err)
			}
		})
	}
	running.Wait()
	if list := seen.take(); len(list) != 2*each {
		t.Errorf("%d uses were observed, want %d", len(list), 2*each)
	}
}

func closes(t *testing.T, p Power, _ *uses) {
	if p.Close == nil {
		return
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if resp, err := p.ask(t.Context(), p.Granted); err == nil {
		t.Errorf("after it was closed: got %+v", resp)
	}
}
