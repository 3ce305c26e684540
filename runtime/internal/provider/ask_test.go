package provider_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// grace is how long after its deadline, or its cancellation, a call may wait for a service.
const grace = 25 * time.Millisecond

// An asker is a runner whose guests call one service and return its answer. It has no engine.
type asker struct {
	guest.Guests
	id abi.Service
}

func (a *asker) Open(context.Context, *guest.Host) (guest.Guests, error) { return a, nil }
func (a *asker) MaxCalls() int                                           { return math.MaxInt }
func (a *asker) Close() error                                            { return nil }
func (a *asker) Call(ctx *deadline.Context, c *guest.Call) error {
	_, code := c.Service(ctx, a.id, []byte("request"))
	return c.Result(code)
}

// A serviceFunc is a service.
type serviceFunc func(ctx context.Context, request []byte) (capability.Response, error)

func (f serviceFunc) Call(ctx context.Context, request []byte) (capability.Response, error) {
	return f(ctx, request)
}

// openAsker opens a module of one call at once, with a timeout of one second. Each call calls the service once.
func openAsker(t *testing.T, s serviceFunc) *provider.Provider {
	t.Helper()
	puppet := &guesttest.Puppet{Manifest: abi.Manifest{Name: "asker", Ops: 1 << abi.OpSubscribe}}
	return openBinary(t, provider.Config{
		Runner: &asker{id: abi.ServiceKVGet}, Services: capability.Services{abi.ServiceKVGet: s},
		Limits: limits.Limits{Timeout: time.Second, Calls: 1},
	}, puppet.Binary(t))
}

// subscribe makes a call and gives its outcome and how long it took.
func subscribe(ctx context.Context, m *provider.Provider) (abi.Code, time.Duration) {
	began := time.Now()
	_, err := m.Call(ctx, abi.OpSubscribe, &abi.Request{URI: "x:y"}, nil)
	return abi.CodeOf(err), time.Since(began)
}

// endKey is the key of a channel that is closed at the end of a test.
type endKey struct{}

func TestACallEndsWhateverItsServiceDoes(t *testing.T) {
	hang := func(ctx context.Context) { <-ctx.Value(endKey{}).(chan struct{}) }
	for name, tt := range map[string]struct {
		service     func(ctx context.Context)
		cancelAfter time.Duration // 0 for never
		code        abi.Code
		took        time.Duration
	}{
		"answers":                     {func(context.Context) { time.Sleep(time.Second / 2) }, 0, abi.CodeOK, time.Second / 2},
		"answers in the grace":        {func(context.Context) { time.Sleep(time.Second + grace/2) }, 0, abi.CodeOK, time.Second + grace/2},
		"observes the deadline":       {func(ctx context.Context) { <-ctx.Done() }, 0, abi.CodeOK, time.Second},
		"hangs":                       {hang, 0, abi.CodeDeadline, time.Second + grace},
		"hangs, cancelled":            {hang, time.Second / 4, abi.CodeCancelled, time.Second/4 + grace},
		"hangs, cancelled at the end": {hang, time.Second + grace/2, abi.CodeCancelled, time.Second + 3*grace/2},
		"panics":                      {func(context.Context) { panic("the host") }, 0, abi.CodeInternal, 0},
		"ends its goroutine":          {func(context.Context) { goruntime.Goexit() }, 0, abi.CodeInternal, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := openAsker(t, func(ctx context.Context, _ []byte) (capability.Response, error) {
					tt.service(ctx)
					return capability.Response{}, nil
				})
				end := make(chan struct{})
				defer close(end)
				for range 3 { // the slot is free again
					ctx, cancel := context.WithCancel(context.WithValue(t.Context(), endKey{}, end))
					if tt.cancelAfter > 0 {
						time.AfterFunc(tt.cancelAfter, cancel)
					}
					if code, took := subscribe(ctx, m); code != tt.code || took != tt.took {
						t.Errorf("got %v after %v, want %v after %v", code, took, tt.code, tt.took)
					}
					cancel()
				}
			})
		})
	}
}

func TestAServiceThatHangsIsNotCalledWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 16
		hang := make(chan struct{})
		m := openAsker(t, func(context.Context, []byte) (capability.Response, error) {
			<-hang
			return capability.Response{}, nil
		})
		for range most {
			if code, _ := subscribe(t.Context(), m); code != abi.CodeDeadline {
				t.Fatalf("got %v", code)
			}
		}
		if code, took := subscribe(t.Context(), m); code != abi.CodeBusy || took != 0 {
			t.Errorf("with %d abandoned calls: got %v after %v, want busy at once", most, code, took)
		}
		close(hang)
		synctest.Wait()
		if code, took := subscribe(t.Context(), m); code != abi.CodeOK || took != 0 {
			t.Errorf("when they have ended: got %v after %v", code, took)
		}
	})
}

func TestClosingDoesNotWaitForAnAbandonedService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		m := openAsker(t, func(context.Context, []byte) (capability.Response, error) {
			<-hang
			return capability.Response{}, nil
		})
		go subscribe(t.Context(), m)
		synctest.Wait()
		began := time.Now()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Second+grace {
			t.Errorf("closing took %v, want the time that was left to the call", took)
		}
	})
}

// An abandoned service has its own copy of the request: guests and links reuse their memory.
func TestAnAbandonedServiceKeepsItsRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for two deadlines")
	}
	t.Parallel() // the test waits
	both(t, func(t *testing.T, run guest.Runner) {
		hang, kept := make(chan struct{}), make(chan []byte, 1)
		request := bytes.Repeat([]byte("request "), 1000)
		p := &guesttest.Puppet{
			Manifest: abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead},
			Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
				switch {
				case n == 0 && req.URI == "x:hang":
					return guesttest.Ask(abi.ServiceKVGet, request)
				case n == 0:
					return guesttest.Ask(abi.ServiceFileStat, bytes.Repeat([]byte("another "), 2000)).Times(10)
				case n == 1:
					return guesttest.Emit(fine)
				}
				return guesttest.Return(abi.CodeOK)
			},
		}
		services := p.Services()
		services[abi.ServiceKVGet] = serviceFunc(func(_ context.Context, request []byte) (capability.Response, error) {
			<-hang
			kept <- request
			return capability.Response{}, errors.New("late")
		})
		services[abi.ServiceFileStat] = serviceFunc(func(context.Context, []byte) (capability.Response, error) {
			return capability.Response{}, nil
		})
		m, err := provider.Open(t.Context(), provider.Config{Runner: run, Services: services, Limits: limits.Limits{Timeout: patience / 10}}, p.Binary(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if _, err := readURI(t, m, "x:hang"); abi.CodeOf(err) != abi.CodeDeadline {
			t.Errorf("got %v", err)
		}
		for range 3 {
			if _, err := readURI(t, m, "x:o"); err != nil {
				t.Error(err)
			}
		}
		close(hang)
		if got := <-kept; !bytes.Equal(got, request) {
			t.Errorf("the request has changed: %.60q", got)
		}
	})
}
