package provider_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A slow sink takes a while for each part, and reports that time, if it is honest.
type slow struct {
	discard
	bytes  int
	each   time.Duration
	waited atomic.Int64
}

func (s *slow) Body(p []byte) error {
	began := time.Now()
	<-time.After(s.each)
	s.waited.Add(int64(time.Since(began))) // a busy machine takes longer
	s.bytes += len(p)
	return nil
}

// Blocked implements [guest.BlockingSink].
func (s *slow) Blocked() time.Duration { return time.Duration(s.waited.Load()) }

func TestTheTimeOfSlowReadersIsNotTheGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for slow readers")
	}
	t.Parallel()                       // the test waits
	const pieces, size = 16, 128 << 10 // more in all than the memory that is shared with a worker
	const each = 150 * time.Millisecond
	for _, tt := range []struct {
		name string
		wait time.Duration
		want abi.Code
	}{
		{"within what is allowed", time.Minute, abi.CodeOK},
		{"beyond it", time.Nanosecond, abi.CodeDeadline},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, run guest.Runner) {
				puppet := &guesttest.Puppet{Next: steps(
					guesttest.Emit((&abi.Content{URI: "x:o", Kind: abi.KindBlob}).Append(nil)),
					guesttest.Body(make([]byte, size)).Times(pieces),
					guesttest.Return(abi.CodeOK),
				)}
				puppet.Manifest = abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead, URIPrefixes: []string{"x:"}}
				m, err := provider.Open(t.Context(), provider.Config{
					Runner: run, Services: puppet.Services(), Limits: limits.Limits{Timeout: pieces * each / 2, Wait: tt.wait},
				}, puppet.Binary(t))
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				s := &slow{each: each}
				_, err = m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, s)
				if got := abi.CodeOf(err); got != tt.want || tt.want == abi.CodeOK && s.bytes != pieces*size {
					t.Errorf("got %v (%v) and %d bytes, want %v", got, err, s.bytes, tt.want)
				}
			})
		})
	}
}

func TestSlowReadersLeaveRoomForOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for slow readers")
	}
	t.Parallel() // the test waits
	both(t, func(t *testing.T, run guest.Runner) {
		puppet := &guesttest.Puppet{Next: steps(
			guesttest.Emit((&abi.Content{URI: "x:o", Kind: abi.KindBlob}).Append(nil)),
			guesttest.Body(make([]byte, 64<<10)).Times(4),
			guesttest.Return(abi.CodeOK),
		)}
		puppet.Manifest = abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead, URIPrefixes: []string{"x:"}}
		m, err := provider.Open(t.Context(), provider.Config{
			Runner: run, Services: puppet.Services(), Limits: limits.Limits{Timeout: patience, Calls: 4},
		}, puppet.Binary(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		codes := make(chan abi.Code)
		for range 3 {
			go func() {
				_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, &slow{each: 1500 * time.Millisecond})
				codes <- abi.CodeOf(err)
			}()
		}
		got := map[abi.Code]int{<-codes: 1}
		for range 2 {
			got[<-codes]++
		}
		if got[abi.CodeOK] != 2 || got[abi.CodeBusy] != 1 {
			t.Errorf("got %v, want two that are let be, and one that is too many", got)
		}
		if _, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, &slow{each: time.Millisecond}); err != nil {
			t.Errorf("got %v after they have gone", err)
		}
	})
}
