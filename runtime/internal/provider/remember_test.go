package provider_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// loadTaking loads a guest that tries to take requests while no operation runs, and whose reads answer what it got.
func loadTaking(t *testing.T, run guest.Runner, lifecycle abi.Lifecycle, d *guest.Clock) *provider.Provider {
	t.Helper()
	manifest := abi.Manifest{
		Name: "taking", Ops: 1<<abi.OpRead | 1<<abi.OpList | 1<<abi.OpConfigure, Limits: abi.ManifestLimits{Lifecycle: lifecycle},
	}
	binary, err := wasm.WithCustom(readModule(t, "takes.wasm"), abi.ManifestSection, manifest.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	return openBinary(t, provider.Config{
		Runner: run, Lifecycle: lifecycle, Clock: d, Values: `{"k":"token-of-the-operator"}`,
		Services: capability.Services{abi.ServiceConfig: capability.Config{"k": "token-of-the-service"}},
	}, binary)
}

func TestThereIsNothingToTakeOutsideOfAnOperation(t *testing.T) {
	determined := &guest.Clock{Time: time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)}
	both(t, func(t *testing.T, run guest.Runner) {
		for _, lifecycle := range []abi.Lifecycle{abi.LifecycleFresh, abi.LifecycleSession, abi.LifecycleShared} {
			for name, d := range map[string]*guest.Clock{"": nil, " with determinism": determined} {
				t.Run(lifecycle.String()+name, func(t *testing.T) {
					m := loadTaking(t, run, lifecycle, d)
					for i := range 30 {
						token := fmt.Sprintf("token-of-client-%d", i%3)
						req := &abi.Request{
							URI: "x:" + token, Vars: []abi.Var{{Name: "v", Value: token}}, Session: token,
							Principal: &abi.Principal{Subject: token}, Meta: `{"t":"` + token + `"}`,
						}
						if i%3 == 0 {
							if _, err := m.Call(t.Context(), abi.OpList, req, nil); err != nil {
								t.Fatal(err)
							}
						}
						var got contents
						if _, err := m.Call(t.Context(), abi.OpRead, req, &got); err != nil {
							t.Fatal(err)
						}
						if len(got.body) > 0 {
							t.Fatalf("call %d: the guest got %.300q before its operation began", i, got.body)
						}
						if i%2 == 0 {
							m.AfterResponse()
						}
					}
				})
			}
		}
	})
}

// token gives the token that a client puts into all its requests.
var token = regexp.MustCompile(`token-of-(client-[a-z]|the-operator)`)

// tokens are those in a text, each once, sorted.
func tokens[T string | []byte](text T) []string {
	found := token.FindAllString(string(text), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// A listener is the service that receives the reports of a probe. It checks each one, and answers with the token of the client.
type listener struct {
	mu      sync.Mutex
	reports int      // guarded by mu
	wrong   []string // guarded by mu
}

func (l *listener) Call(_ context.Context, report []byte) (capability.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reports++
	found := tokens(report)
	if n := bytes.Count(report, []byte("token-of-the-operator")); n != 2 { // a probe reads all channels twice
		l.wrong = append(l.wrong, fmt.Sprintf("the configuration was there to be taken %d times, want 2: in configure", n))
	}
	found = slices.DeleteFunc(found, func(t string) bool { return t == "token-of-the-operator" })
	if len(found) != 1 {
		l.wrong = append(l.wrong, fmt.Sprintf("a report has the tokens %q", found))
		return capability.Response{}, nil
	}
	answer := []byte("answer to " + found[0])
	return capability.Response{Message: answer, Body: slices.Clone(answer)}, nil
}

// judge fails the test if a report was wrong, or none was made.
func (l *listener) judge(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reports == 0 {
		t.Error("no guest has reported anything")
	}
	for _, w := range l.wrong[:min(len(l.wrong), 3)] {
		t.Error(w)
	}
	l.reports, l.wrong = 0, nil
}

// loadProbe loads a guest that reads all it can, in every phase.
func loadProbe(t *testing.T, run guest.Runner, lifecycle abi.Lifecycle, boot bool, log *syncBuffer) (*provider.Provider, *listener) {
	t.Helper()
	heard := &listener{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	m, err := provider.Open(t.Context(), provider.Config{
		Runner: run, Lifecycle: lifecycle, Values: `{"k":"token-of-the-operator"}`, Logger: logger,
		Services: capability.Services{abi.ServiceConfig: heard}, Limits: limits.Limits{Timeout: patience, Log: 1 << 20, LogLines: 10_000},
	}, hostile.Probe(lifecycle, boot))
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, heard
}

// requestOf puts the token of a client into all fields of a request.
func requestOf(client, ending string) *abi.Request {
	planted := "token-of-client-" + client
	return &abi.Request{
		URI: "x:" + planted + "/" + ending, Vars: []abi.Var{{Name: planted, Value: planted}}, Cursor: planted, IfNoneMatch: planted,
		Arg: planted, Value: planted, Meta: `{"t":"` + planted + `"}`, Session: planted,
		Principal: &abi.Principal{Subject: planted, Tenant: planted, Scopes: []string{planted}, Claims: `{"t":"` + planted + `"}`},
	}
}

// visit makes one call for a client, and gives all that the client sees, and the crash.
func visit(t *testing.T, m *provider.Provider, op abi.Op, client, ending string) string {
	t.Helper()
	var got contents
	reply, err := m.Call(t.Context(), op, requestOf(client, ending), &got)
	seen := fmt.Sprintf("%s %+v %+v %s", got.body, got.heads, reply, describe(err))
	want := map[string]abi.Code{"e": abi.CodeNotFound, "t": abi.CodeTrap, "x": abi.CodeExit}[ending]
	if abi.CodeOf(err) != want {
		t.Errorf("%v of client %s, %q: got %v, want %v", op, client, ending, err, want)
	}
	return seen
}

// plan is the calls of each client, in order.
var plan = []struct {
	op     abi.Op
	ending string
}{
	{abi.OpRead, "a"}, {abi.OpList, "a"}, {abi.OpRead, "e"}, {abi.OpComplete, "a"}, {abi.OpRead, "x"}, {abi.OpSubscribe, "a"},
	{abi.OpPoll, "a"}, {abi.OpRead, "t"}, {abi.OpUnsubscribe, "a"}, {abi.OpPoll, "e"},
}

func TestAClientSeesNothingOfAnother(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts twelve providers")
	}
	both(t, func(t *testing.T, run guest.Runner) {
		for _, lifecycle := range []abi.Lifecycle{abi.LifecycleFresh, abi.LifecycleSession, abi.LifecycleShared} {
			for name, boot := range map[string]bool{"": false, " booted": true} {
				t.Run(lifecycle.String()+name, func(t *testing.T) {
					var log syncBuffer
					m, heard := loadProbe(t, run, lifecycle, boot, &log)
					check := func(client, what, seen string) {
						for _, found := range tokens(seen) {
							if found != "token-of-client-"+client && found != "token-of-the-operator" {
								t.Errorf("%s of client %s has %s", what, client, found)
							}
						}
					}
					for _, step := range plan {
						for _, client := range []string{"a", "b", "c"} {
							before := len(log.String())
							check(client, "the answer", visit(t, m, step.op, client, step.ending))
							check(client, "the log", log.String()[before:])
							m.AfterResponse()
						}
					}
					heard.judge(t)
					var wg sync.WaitGroup
					for _, client := range []string{"a", "b", "c"} {
						wg.Go(func() {
							for _, step := range plan {
								check(client, "the answer", visit(t, m, step.op, client, step.ending))
								m.AfterResponse()
							}
						})
					}
					wg.Wait()
					heard.judge(t)
				})
			}
		}
	})
}
