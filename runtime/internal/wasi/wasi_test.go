package wasi_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/wasi"
)

// A memory is guest memory without a guest.
type memory []byte

func (m memory) Read(off, n uint32) ([]byte, bool) {
	if uint64(off)+uint64(n) > uint64(len(m)) {
		return nil, false
	}
	return m[off : off+n], true
}

func (m memory) Write(off uint32, p []byte) bool {
	dst, ok := m.Read(off, uint32(len(p)))
	copy(dst, p)
	return ok
}

type output struct{ fd1, fd2 string }

func (o *output) Output(fd uint32, p []byte) {
	if fd == 1 {
		o.fd1 += string(p)
		return
	}
	o.fd2 += string(p)
}

func (o *output) System() wasi.System { return wasi.Real{} }

func call(t *testing.T, ctx context.Context, mem memory, host any, name string, args ...uint64) uint64 {
	t.Helper()
	for _, f := range wasi.Functions() {
		if f.Name == name {
			stack := append(args, 0)
			f.Call(ctx, mem, host, stack)
			return stack[0]
		}
	}
	t.Fatalf("no function %s", name)
	return 0
}

const (
	success = 0
	ebadf   = 8
	efault  = 21
	einval  = 28
)

func TestEveryFunctionOfPreview1CanBeLinked(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range wasi.Functions() {
		if f.Module != wasi.Module || seen[f.Name] {
			t.Errorf("%s.%s is defined twice or elsewhere", f.Module, f.Name)
		}
		seen[f.Name] = true
	}
	if len(seen) != 46 {
		t.Errorf("got %d functions, preview 1 has 46 with sock_accept", len(seen))
	}
}

func TestWriteGoesToTheHostAndNowhereElse(t *testing.T) {
	mem := make(memory, 256)
	copy(mem[100:], "hello world")
	binary.LittleEndian.PutUint32(mem[0:], 100)
	binary.LittleEndian.PutUint32(mem[4:], 6)
	binary.LittleEndian.PutUint32(mem[8:], 106)
	binary.LittleEndian.PutUint32(mem[12:], 5)
	var out output
	if got := call(t, t.Context(), mem, &out, "fd_write", 1, 0, 2, 64); got != success || out.fd1 != "hello world" || mem[64] != 11 {
		t.Errorf("got errno %d, %q, %d bytes", got, out.fd1, mem[64])
	}
	if got := call(t, t.Context(), mem, &out, "fd_write", 2, 8, 1, 64); got != success || out.fd2 != "world" {
		t.Errorf("got errno %d, %q", got, out.fd2)
	}
}

func TestHostileArgumentsAreRefused(t *testing.T) {
	mem := make(memory, 65536)
	binary.LittleEndian.PutUint32(mem[0:], 0xfffffff0)
	binary.LittleEndian.PutUint32(mem[4:], 0xff)
	tests := []struct {
		name string
		args []uint64
		want uint64
	}{
		{"fd_write", []uint64{0, 0, 1, 64}, ebadf},
		{"fd_write", []uint64{3, 0, 1, 64}, ebadf},
		{"fd_write", []uint64{1, 0, 1, 64}, efault},
		{"fd_write", []uint64{1, 65530, 1, 64}, efault},
		{"fd_write", []uint64{1, 0, 1 << 20, 64}, einval},
		{"fd_write", []uint64{1, 0, 0, 65535}, efault},
		{"random_get", []uint64{0, 1 << 30}, einval},
		{"random_get", []uint64{65535, 2}, efault},
		{"clock_time_get", []uint64{2, 0, 0}, einval},
		{"clock_time_get", []uint64{0, 0, 65530}, efault},
		{"clock_res_get", []uint64{9, 0}, einval},
		{"args_sizes_get", []uint64{65534, 0}, efault},
		{"poll_oneoff", []uint64{0, 0, 0, 0}, einval},
		{"poll_oneoff", []uint64{0, 0, 1 << 31, 0}, einval},
		{"poll_oneoff", []uint64{65500, 0, 1, 0}, efault},
		{"fd_fdstat_get", []uint64{0, 0}, ebadf},
		{"fd_fdstat_get", []uint64{1, 65530}, efault},
		{"path_open", []uint64{3, 0, 0, 0, 0, 0, 0, 0, 0}, ebadf},
		{"fd_read", []uint64{0, 0, 1, 64}, ebadf},
		{"fd_prestat_get", []uint64{3, 0}, ebadf},
	}
	for _, tt := range tests {
		if got := call(t, t.Context(), mem, nil, tt.name, tt.args...); got != tt.want {
			t.Errorf("%s%v: got errno %d, want %d", tt.name, tt.args, got, tt.want)
		}
	}
}

// sleepFor writes a clock subscription of d at 0.
func sleepFor(mem memory, d time.Duration) {
	mem[8] = 0                                 // clock
	binary.LittleEndian.PutUint32(mem[16:], 1) // monotonic
	binary.LittleEndian.PutUint64(mem[24:], uint64(d))
	binary.LittleEndian.PutUint64(mem[0:], 0xabcd) // userdata
}

func TestSleepTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := make(memory, 256)
		sleepFor(mem, 90*time.Second)
		began := time.Now()
		if got := call(t, t.Context(), mem, nil, "poll_oneoff", 0, 100, 1, 200); got != success || time.Since(began) != 90*time.Second {
			t.Errorf("got errno %d after %v", got, time.Since(began))
		}
		if binary.LittleEndian.Uint64(mem[100:]) != 0xabcd || mem[200] != 1 {
			t.Error("the event does not carry the subscription's userdata")
		}
	})
}

func TestSleepEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		mem := make(memory, 256)
		sleepFor(mem, time.Hour)
		began := time.Now()
		defer func() {
			stop, ok := recover().(engine.Stop)
			if !ok || !errors.Is(stop, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("got %v after %v, want a stop at the deadline", stop, time.Since(began))
			}
		}()
		call(t, ctx, mem, nil, "poll_oneoff", 0, 100, 1, 200)
	})
}

func TestExitIsAStopTheHostCanTellApart(t *testing.T) {
	defer func() {
		stop, ok := recover().(engine.Stop)
		var exit wasi.Exit
		if !ok || !errors.As(stop, &exit) || exit.Status != 0xffffffff {
			t.Errorf("got %v, want an exit with status 2^32-1", stop)
		}
	}()
	call(t, t.Context(), nil, nil, "proc_exit", 0xffffffff)
}

func TestRandomnessIsNotRepeated(t *testing.T) {
	a, b := make(memory, 64), make(memory, 64)
	call(t, t.Context(), a, nil, "random_get", 0, 64)
	call(t, t.Context(), b, nil, "random_get", 0, 64)
	if string(a) == string(b) {
		t.Error("two calls gave the same bytes")
	}
}

// A still world is one in which nothing happens but sleep.
type still struct {
	output
	now   uint64
	slept time.Duration
}

func (s *still) System() wasi.System { return s }

func (s *still) Now(c wasi.Clock) uint64 { return s.now + uint64(c) }

func (s *still) Sleep(_ context.Context, d time.Duration) { s.slept += d }

func (s *still) Random(p []byte) {
	for i := range p {
		p[i] = 7
	}
}

func TestAGuestSeesTheSystemOfItsHost(t *testing.T) {
	mem, host := make(memory, 256), &still{now: 1_000_000}
	for clock := range uint64(2) {
		if got := call(t, t.Context(), mem, host, "clock_time_get", clock, 1, 0); got != success {
			t.Fatalf("got errno %d", got)
		}
		if got := binary.LittleEndian.Uint64(mem); got != 1_000_000+clock {
			t.Errorf("clock %d: got %d", clock, got)
		}
	}
	if got := call(t, t.Context(), mem, host, "random_get", 8, 8); got != success || binary.LittleEndian.Uint64(mem[8:]) != 0x0707070707070707 || mem[16] != 0 {
		t.Errorf("random_get: got errno %d, %x", got, mem[:24])
	}
	clear(mem)
	sleepFor(mem, time.Hour)
	if got := call(t, t.Context(), mem, host, "poll_oneoff", 0, 100, 1, 200); got != success || host.slept != time.Hour || mem[200] != 1 {
		t.Errorf("for an hour: got errno %d, slept %v", got, host.slept)
	}
	sleepFor(mem, 1_500_001) // of the monotonic clock, which is at 1,000,001
	mem[40] = 1              // until then
	if got := call(t, t.Context(), mem, host, "poll_oneoff", 0, 100, 1, 200); got != success || host.slept != time.Hour+500_000 || mem[200] != 1 {
		t.Errorf("until then: got errno %d, slept %v", got, host.slept)
	}
}

func TestTheMonotonicClockContinues(t *testing.T) {
	now := func() uint64 { return wasi.Real{}.Now(wasi.Monotonic) }
	for _, reading := range []uint64{now(), 1e18, 1 << 63, 1<<64 - 1} {
		wasi.Continue(reading)
		first, second := now(), now()
		if first < min(reading, 3e18) || second < first || first > 1<<62 {
			t.Errorf("after %d the clock says %d, then %d", reading, first, second)
		}
	}
	wasi.Continue(0)
}
