package provider_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A progressSink records reports of progress.
type progressSink struct {
	contents
	done []float64
}

func (s *progressSink) Progress(p abi.Progress) { s.done = append(s.done, p.Done) }

// reported is a frame with reports of progress from one number to another.
func reported(from, to int) (frame []byte) {
	for i := from; i <= to; i++ {
		frame = (&abi.Progress{Done: float64(i)}).Append(frame)
	}
	return frame
}

func TestReportsOfProgressAreMerged(t *testing.T) {
	var play []guesttest.Step
	for i := range 13 {
		play = append(play, guesttest.Emit(reported(10*i, 10*i+9)))
	}
	e := openEngine(t)
	synctest.Test(t, func(t *testing.T) {
		m := loadPuppet(t, provider.Config{Runner: pool.InProcess{Engine: e}}, &guesttest.Puppet{
			Next: func(ctx context.Context, op abi.Op, n int, req *abi.Request) guesttest.Step {
				switch n {
				case len(play):
					time.Sleep(150 * time.Millisecond)
					return guesttest.Log(abi.LogDebug, "some time has passed")
				case len(play) + 1:
					return guesttest.Emit(fine)
				}
				return steps(play...)(ctx, op, n, req)
			},
		})
		var got progressSink
		if _, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, &got); err != nil {
			t.Fatal(err)
		}
		if want := []float64{9, 19, 29, 39, 49, 59, 69, 79, 89, 99, 129}; !slices.Equal(got.done, want) {
			t.Errorf("got %v, want the last of ten frames, and after a while of all: %v", got.done, want)
		}
	})
}

func TestAtMostTwentyReportsOfProgressPassInASecond(t *testing.T) {
	e := openEngine(t)
	synctest.Test(t, func(t *testing.T) {
		const pause, rounds = 5 * time.Millisecond, 400
		m := loadPuppet(t, provider.Config{Runner: pool.InProcess{Engine: e}, Limits: limits.Limits{Timeout: time.Minute}}, &guesttest.Puppet{
			Next: func(_ context.Context, _ abi.Op, n int, _ *abi.Request) guesttest.Step {
				if n == rounds {
					return guesttest.Emit(fine)
				}
				if n > rounds {
					return guesttest.Return(abi.CodeOK)
				}
				time.Sleep(pause)
				return guesttest.Emit(reported(n, n))
			},
		})
		var got progressSink
		if _, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, &got); err != nil {
			t.Fatal(err)
		}
		for i, done := range got.done {
			within := 0
			for _, later := range got.done[i:] {
				if time.Duration(later-done)*pause < time.Second {
					within++
				}
			}
			if within > 20 {
				t.Fatalf("%d reports in the second from report %v on: %v", within, done, got.done)
			}
		}
		if last := got.done[len(got.done)-1]; last < rounds-25 {
			t.Errorf("the last of %d reports is %v, want one of the newest", rounds, last)
		}
	})
}

func TestReportsOfProgressCountAsCallsOfTheHost(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		var used limits.Usage
		m := loadPuppet(t, provider.Config{
			Runner: run, Limits: limits.Limits{HostCalls: 1000}, OnCall: func(_ context.Context, u limits.Usage) { used = u },
		}, &guesttest.Puppet{Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
			switch {
			case req.URI == "x:many" && n < 2:
				return guesttest.Emit(reported(0, 600))
			case n == 0:
				return guesttest.Emit(reported(0, 499))
			case n == 1:
				return guesttest.Emit(fine)
			}
			return guesttest.Return(abi.CodeOK)
		}})
		if _, err := readURI(t, m, "x:o"); err != nil || used.HostCalls < 500 {
			t.Errorf("500 reports: got %v and %d calls of the host, want at least 500", err, used.HostCalls)
		}
		if _, err := readURI(t, m, "x:many"); abi.CodeOf(err) != abi.CodeHostCalls {
			t.Errorf("1200 reports: got %v, want too many calls of the host", err)
		}
	})
}

// A talker is a runner and its guests in one, whose guest answers each call with one frame.
type talker struct {
	frame  []byte
	before func()
	signal abi.Signal // the answer to the last frame
}

func (g *talker) Open(context.Context, *guest.Host) (guest.Guests, error) {
	return g, nil
}

func (g *talker) MaxCalls() int { return 1 }

func (g *talker) Call(_ *deadline.Context, c *guest.Call) error {
	g.before()
	g.signal = c.Emit(g.frame)
	return nil
}

func (g *talker) ResetUsed()        {}
func (g *talker) EndSession(string) {}
func (g *talker) Info() guest.Info  { return guest.Info{Reset: guest.ResetInPlace} }
func (g *talker) Close() error      { return nil }

func TestDecodingAFrameEndsWithTheCall(t *testing.T) {
	binary := (&guesttest.Puppet{Manifest: abi.Manifest{Name: "talker", Ops: 1 << abi.OpRead}}).Binary(t)
	large := append(reported(1, 50_000), fine...)
	for name, c := range map[string]struct {
		frame  []byte
		limits limits.Limits
		before func(cancel func())
		want   abi.Code
	}{
		"in time":             {large, limits.Limits{}, func(func()) {}, abi.CodeOK},
		"deadline":            {large, limits.Limits{Timeout: time.Second}, func(func()) { time.Sleep(time.Second) }, abi.CodeDeadline},
		"cancelled":           {large, limits.Limits{}, func(cancel func()) { cancel() }, abi.CodeCancelled},
		"too many host calls": {large, limits.Limits{HostCalls: 1000}, func(func()) {}, abi.CodeHostCalls},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				g := &talker{frame: c.frame, before: func() { c.before(cancel) }}
				m, err := provider.Open(ctx, provider.Config{Runner: g, Limits: c.limits}, binary)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				var got progressSink
				_, err = m.Call(ctx, abi.OpRead, &abi.Request{URI: "x:o"}, &got)
				if abi.CodeOf(err) != c.want {
					t.Errorf("the call: got %v, want %v", err, c.want)
				}
				if stopped := g.signal != abi.SignalMore; stopped != (c.want != abi.CodeOK) {
					t.Errorf("the frame: got signal %v", g.signal)
				}
				if c.want != abi.CodeOK && len(got.done) > 0 {
					t.Errorf("of a frame that was not decoded to its end came the reports %v", got.done)
				}
			})
		})
	}
}
