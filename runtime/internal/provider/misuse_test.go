package provider_test

import (
	"context"
	"log/slog"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// steps are the steps of a puppet in every call; after the last one it returns.
func steps(list ...guesttest.Step) func(context.Context, abi.Op, int, *abi.Request) guesttest.Step {
	return func(_ context.Context, _ abi.Op, n int, _ *abi.Request) guesttest.Step {
		if n < len(list) {
			return list[n]
		}
		return guesttest.Return(abi.CodeOK)
	}
}

func loadPuppet(t testing.TB, cfg provider.Config, p *guesttest.Puppet) *provider.Provider {
	t.Helper()
	p.Manifest.Ops = 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete
	return openPuppet(t, cfg, p)
}

var fine = (&abi.Content{URI: "x:o", Kind: abi.KindText, Inline: []byte("fine")}).Append(nil)

func TestCloseIsIdempotentAndLaterCallsAreRefusedAtOnce(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m, err := provider.Open(t.Context(), provider.Config{Runner: run, Limits: limits.Limits{Timeout: time.Minute}}, readModule(t, "faults.wasm"))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if _, err := readURI(t, m, "x:o"); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("got %v, want unavailable", err)
		}
	})
}

func TestCloseWaitsForRunningCallsAndRefusesThoseInTheQueue(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		running, finish := make(chan struct{}), make(chan struct{})
		m := loadPuppet(t, provider.Config{Runner: run, Limits: limits.Limits{Timeout: time.Minute, Calls: 1}}, &guesttest.Puppet{
			Next: func(_ context.Context, _ abi.Op, n int, _ *abi.Request) guesttest.Step {
				if n == 0 {
					running <- struct{}{}
					<-finish
					return guesttest.Emit(fine)
				}
				return guesttest.Return(abi.CodeOK)
			},
		})
		results := make(chan error, 2)
		read := func() { _, err := readURI(t, m, "x:o"); results <- err }
		go read()
		<-running
		go read()
		closed := make(chan error)
		go func() { closed <- m.Close() }()
		if err := <-results; abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("queued call: got %v, want unavailable", err)
		}
		close(finish)
		if err := <-results; err != nil {
			t.Errorf("running call: got %v", err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

func TestMessagesAreBoundedInAllAsContentsAre(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		entry := abi.Resource{URI: "x:o", Name: "o", Meta: `{"k":"` + strings.Repeat("m", 15<<10) + `"}`}
		head := abi.Content{URI: "x:o", Kind: abi.KindText, Meta: entry.Meta}
		for name, tt := range map[string]struct {
			op    abi.Op
			frame []byte
		}{
			"entries of a list":   {abi.OpList, (&abi.Reply{Resources: []abi.Resource{entry}}).Append(nil)},
			"heads of contents":   {abi.OpRead, head.Append(nil)},
			"templates, reserved": {abi.OpList, (&abi.Reply{Templates: []abi.Template{{URITemplate: "x:{o}", Name: "o", Meta: entry.Meta}}}).Append(nil)},
		} {
			t.Run(name, func(t *testing.T) {
				m := loadPuppet(t, provider.Config{Runner: run, Limits: limits.Limits{Output: 1 << 20}}, &guesttest.Puppet{
					Next: steps(guesttest.Emit(tt.frame).Times(200)),
				})
				var got contents
				if _, err := m.Call(t.Context(), tt.op, &abi.Request{URI: "x:o"}, &got); abi.CodeOf(err) != abi.CodeTooLarge {
					t.Errorf("got %v, want too_large", err)
				}
			})
		}
	})
}

func TestInlineContentsMayFillTheOutputLimit(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		half := (&abi.Content{URI: "x:o", Kind: abi.KindBlob, Inline: make([]byte, 32<<10)}).Append(nil)
		m := loadPuppet(t, provider.Config{Runner: run, Limits: limits.Limits{Output: 64 << 10}}, &guesttest.Puppet{Next: steps(guesttest.Emit(half).Times(2))})
		if body, err := readURI(t, m, "x:o"); err != nil || len(body) != 64<<10 {
			t.Errorf("got %d bytes, %v", len(body), err)
		}
	})
}

func TestTheErrorTextOfAGuestIsOneLine(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		for name, tt := range map[string]struct{ said, want string }{
			"plain":              {"nothing here", "nothing here"},
			"control characters": {"\x1b[2Jgone\r\nforged \u0085line", `\x1b[2Jgone  forged  line`},
			"cut within a rune":  {strings.Repeat("x", 1023) + "é", strings.Repeat("x", 1023)},
			"cut within a word":  {strings.Repeat("é", 600), strings.Repeat("é", 512)},
		} {
			t.Run(name, func(t *testing.T) {
				frame := (&abi.Reply{Error: &abi.GuestError{Message: tt.said}}).Append(nil)
				m := loadPuppet(t, provider.Config{Runner: run}, &guesttest.Puppet{Next: steps(guesttest.Emit(frame), guesttest.Return(abi.CodeNotFound))})
				_, err := readURI(t, m, "x:o")
				if got := err.Error(); got != tt.want || !utf8.ValidString(got) || abi.CodeOf(err) != abi.CodeNotFound {
					t.Errorf("got %v %q, want %q", abi.CodeOf(err), got, tt.want)
				}
			})
		}
	})
}

func TestManyShortLinesAreBoundedToo(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		for name, step := range map[string]guesttest.Step{
			"one text of many lines":        guesttest.Log(abi.LogInfo, strings.Repeat("a\n", 8000)),
			"many texts":                    guesttest.Log(abi.LogInfo, "a").Times(16_000),
			"services that are not granted": guesttest.Ask(abi.ServiceFileStat, nil).Times(16_000),
		} {
			t.Run(name, func(t *testing.T) {
				var out syncBuffer
				logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
				m := loadPuppet(t, provider.Config{Runner: logging(t, run, logger), Limits: limits.Limits{Log: 16_000, Timeout: 5 * time.Minute}, Logger: logger},
					&guesttest.Puppet{Next: steps(step, guesttest.Emit(fine))})
				if _, err := readURI(t, m, "x:o"); err != nil {
					t.Fatal(err)
				}
				if got := len(out.String()); got > 64_000 {
					t.Errorf("got %d bytes of log for a budget of 16,000", got)
				}
			})
		}
	})
}

func TestRefusedServicesLeaveTheLogToTheGuest(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		var out syncBuffer
		logger := slog.New(slog.NewTextHandler(&out, nil))
		m := loadPuppet(t, provider.Config{Runner: logging(t, run, logger), Logger: logger}, &guesttest.Puppet{
			Next: steps(guesttest.Ask(abi.ServiceFileStat, nil).Times(5000), guesttest.Log(abi.LogInfo, "still heard"), guesttest.Emit(fine)),
		})
		if _, err := readURI(t, m, "x:o"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "still heard") {
			t.Errorf("the guest's log is missing:\n%.300s", out.String())
		}
	})
}

func TestServicesAreCopiedWhenLoading(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		p := &guesttest.Puppet{Next: steps(guesttest.Emit(fine))}
		p.Manifest = abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead}
		services := p.Services()
		m, err := provider.Open(t.Context(), provider.Config{Runner: run, Services: services}, p.Binary(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		clear(services)
		if body, err := readURI(t, m, "x:o"); body != "fine" || err != nil {
			t.Errorf("got %q, %v: a service is gone", body, err)
		}
	})
}

// A faultySink panics in the configured method.
type faultySink struct {
	contents
	where string
	kinds map[abi.Kind]int // nil: to write to it is a mistake
}

func (s *faultySink) Content(c *abi.Content) error {
	if s.where == "content" {
		s.kinds[c.Kind]++
	}
	return s.contents.Content(c)
}

func (s *faultySink) Progress(abi.Progress) {
	if s.where == "progress" {
		panic("a secret of the host")
	}
}

func TestAPanicOfTheHostEndsThatCallOnlyAndIsNotBlamedOnTheGuest(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		progress := (&abi.Progress{Done: 1}).Append(nil)
		m := loadPuppet(t, provider.Config{Runner: run, Limits: limits.Limits{Calls: 1}}, &guesttest.Puppet{Next: steps(guesttest.Emit(progress), guesttest.Emit(fine))})
		for _, where := range []string{"content", "progress"} {
			_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, &faultySink{where: where})
			if abi.CodeOf(err) != abi.CodeInternal || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: got %v %q, want internal and nothing of the panic", where, abi.CodeOf(err), err)
			}
			if body, err := readURI(t, m, "x:o"); body != "fine" || err != nil {
				t.Errorf("next call: got %q, %v", body, err)
			}
		}
	})
}

func TestAManifestMayNotNameWhatItDoesNotClaim(t *testing.T) {
	for name, manifest := range map[string]abi.Manifest{
		"resource": {Resources: []abi.Resource{{URI: "file:///etc/passwd", Name: "p"}}},
	} {
		manifest.Name, manifest.Ops, manifest.URIPrefixes = "puppet", 1<<abi.OpRead, []string{"mine://"}
		p := &guesttest.Puppet{Manifest: manifest}
		m, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{Engine: openEngine(t)}}, p.Binary(t))
		if err == nil {
			m.Close()
		}
		if abi.CodeOf(err) != abi.CodeInvalidURI {
			t.Errorf("%s: got %v, want invalid_uri", name, err)
		}
	}
}

// A counter is an engine that counts open instances.
type counter struct {
	engine.Engine
	made, open    atomic.Int64
	running, most atomic.Int64 // guests at once
}

type countedModule struct {
	engine.Module
	counter *counter
}

type countedInstance struct {
	engine.Instance
	counter *counter
	close   func() error
}

func (i countedInstance) Call(ctx context.Context, export string, stack []uint64) error {
	c := i.counter
	now := c.running.Add(1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	defer c.running.Add(-1)
	return i.Instance.Call(ctx, export, stack)
}

func (c *counter) Compile(ctx context.Context, wasm []byte, host []engine.HostFunc) (engine.Module, error) {
	m, err := c.Engine.Compile(ctx, wasm, host)
	if err != nil {
		return nil, err
	}
	return countedModule{m, c}, nil
}

func (m countedModule) Instantiate(ctx context.Context, host any, memory engine.LinearMemory) (engine.Instance, error) {
	inst, err := m.Module.Instantiate(ctx, host, memory)
	if err != nil {
		return nil, err
	}
	m.counter.made.Add(1)
	m.counter.open.Add(1)
	return countedInstance{inst, m.counter, sync.OnceValue(func() error { m.counter.open.Add(-1); return inst.Close() })}, nil
}

func (i countedInstance) Close() error { return i.close() }

func TestCallsThatFailLeaveNothingBehind(t *testing.T) {
	e := &counter{Engine: openEngine(t)}
	before := goruntime.NumGoroutine()
	m, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{Engine: e}, Limits: limits.Limits{Memory: 1 << 20, Timeout: patience, Output: 1e6}}, readModule(t, "faults.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	const faults = "abcdefgijlmnoprstu" // all but the slow ones
	for i := range 200 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if i%10 == 0 {
			cancel()
		}
		_, _ = m.Call(ctx, abi.OpRead, &abi.Request{URI: "x:" + faults[i%len(faults):][:1]}, &contents{})
		cancel()
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if got := e.open.Load(); got != 0 {
		t.Errorf("%d instances are open", got)
	}
	awaitGoroutines(t, before)
}
