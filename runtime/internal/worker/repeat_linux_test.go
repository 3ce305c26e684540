package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// A counter is a service that says nothing of which of its requests may be repeated.
type counter struct{ uses atomic.Int32 }

func (c *counter) Call(context.Context, []byte) (capability.Response, error) {
	c.uses.Add(1)
	return capability.Response{}, nil
}

// A repeatable counter repeats requests that begin with "r".
type repeatable struct{ counter }

func (*repeatable) MayRepeat(request []byte) bool { return string(request[:1]) == "r" }

// TestACallThatMayHaveChangedSomethingIsNotRepeated kills the worker when a service has been used, and before the guest
// has answered anything.
func TestACallThatMayHaveChangedSomethingIsNotRepeated(t *testing.T) {
	takesLong(t)
	for _, tt := range []struct {
		name    string
		service abi.Service
		request string
		uses    int32 // of both services
	}{
		{"a service that says nothing of repeating", abi.ServiceSQL, "r", 1},
		{"a request that changes something", abi.ServiceHTTP, "write", 1},
		{"a request that reads", abi.ServiceHTTP, "read", 2},
		{"a service that is not granted", abi.ServiceKVPut, "put", 0},
		{"a notice", abi.ServiceNotifyList, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			silent, open := &counter{}, &repeatable{}
			var killed atomic.Bool
			p := puppetThat(func(ctx context.Context, n int, _ *abi.Request) guesttest.Step {
				switch n {
				case 0:
					return guesttest.Ask(tt.service, []byte(tt.request))
				case 1:
					if killed.CompareAndSwap(false, true) {
						signal(t, unix.SIGKILL)
					}
					return fine
				}
				return guesttest.Return(abi.CodeOK)
			})
			services := p.Services()
			services[abi.ServiceSQL], services[abi.ServiceHTTP] = silent, open
			m := load(t, provider.Config{
				Runner: newRunner(t, worker.Config{}), Services: services, Limits: limits.Limits{Timeout: patience},
			}, p.Binary(t))
			_, err := read(t.Context(), m, "x:a")
			if uses := silent.uses.Load() + open.uses.Load(); uses != tt.uses {
				t.Errorf("one read used the service %d times, want %d", uses, tt.uses)
			}
			if tt.uses != 1 {
				if err != nil {
					t.Errorf("got %v, want the call repeated", err)
				}
				return
			}
			var e *abi.Error
			if !errors.As(err, &e) || e.Code != abi.CodeUnavailable || e.RetryAfter != 0 {
				t.Errorf("got %#v, want unavailable, and no time to try again", err)
			}
			works(t, m)
		})
	}
}
