package confine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/confine"
)

func encoded(t *testing.T, v any) io.Reader {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}

// childLimits runs into each limit and tells how.
func childLimits([]string) error {
	outcomes := map[string]string{}
	_, err := confine.Enter(confine.Profile{Read: []string{"/nonexistent"}, Files: 1000, FileSize: 1 << 30})
	outcomes["a path that is not there"] = fmt.Sprint(err)
	if _, err = confine.Enter(confine.Profile{Memory: 2 << 30, Files: 20, FileSize: 8192}); err != nil {
		return err
	}
	fd, err := unix.MemfdCreate("x", 0)
	if err != nil {
		return err
	}
	outcomes["a file as long as may be"] = fmt.Sprint(unix.Ftruncate(fd, 8192))
	outcomes["a longer file"] = fmt.Sprint(unix.Ftruncate(fd, 8193))
	outcomes["writing behind that"] = fmt.Sprint(discard(unix.Pwrite(fd, []byte("x"), 8192)))
	outcomes["memory as much as may be"] = fmt.Sprint(discard(unix.Mmap(-1, 0, 64<<20, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE)))
	outcomes["more memory"] = fmt.Sprint(discard(unix.Mmap(-1, 0, 2<<30, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE)))
	for err == nil {
		var next int
		if next, err = unix.MemfdCreate("x", 0); err == nil && next >= 20 {
			err = errors.New("one descriptor too many")
		}
	}
	outcomes["too many files"] = fmt.Sprint(err)
	return tell(outcomes)
}

func TestLimits(t *testing.T) {
	var outcomes map[string]string
	child{args: []string{"limits"}}.run(t, &outcomes)
	for name, want := range map[string]string{
		"a path that is not there": "/nonexistent: no such file",
		"a file as long as may be": "<nil>",
		"a longer file":            unix.EFBIG.Error(),
		"writing behind that":      unix.EFBIG.Error(),
		"memory as much as may be": "<nil>",
		"more memory":              unix.ENOMEM.Error(),
		"too many files":           unix.EMFILE.Error(),
	} {
		if got := outcomes[name]; !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// childData runs into the limit of what it may write, beside much that it only reserves.
func childData([]string) error {
	if _, err := confine.Enter(confine.Profile{Memory: 64 << 30, Data: 128 << 20}); err != nil {
		return err
	}
	const private = unix.MAP_ANON | unix.MAP_PRIVATE | unix.MAP_NORESERVE
	return tell(map[string]string{
		"reserved, never written": fmt.Sprint(discard(unix.Mmap(-1, 0, 32<<30, unix.PROT_NONE, private))),
		"as much as may be":       fmt.Sprint(discard(unix.Mmap(-1, 0, 64<<20, unix.PROT_WRITE, private))),
		"more":                    fmt.Sprint(discard(unix.Mmap(-1, 0, 192<<20, unix.PROT_WRITE, private))),
	})
}

func TestWhatIsReservedMayNotBeWritten(t *testing.T) {
	var outcomes map[string]string
	child{args: []string{"data"}}.run(t, &outcomes)
	for name, want := range map[string]string{"reserved, never written": "<nil>", "as much as may be": "<nil>", "more": unix.ENOMEM.Error()} {
		if got := outcomes[name]; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func childSpin([]string) error {
	layers, err := confine.Enter(confine.Profile{CPU: time.Millisecond}) // a second
	if err == nil {
		_, err = confine.Seal(layers)
	}
	if err != nil {
		return err
	}
	var turns atomic.Uint64
	for {
		turns.Add(1)
	}
}

func TestProcessorTimeEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it keeps a processor busy for a second")
	}
	state := child{args: []string{"spin"}}.run(t, nil)
	status := state.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Errorf("got %v, want a kill", state)
	}
	if used := state.UserTime() + state.SystemTime(); used > 5*time.Second {
		t.Errorf("used %v of processor time, want about a second", used)
	}
}

// childOnlySeal skips the first stage.
func childOnlySeal([]string) error {
	layers, err := confine.Seal(nil)
	if err != nil {
		return err
	}
	return errors.Join(tell(layers), discardUnless(os.ReadFile("/etc/passwd")))
}

// discardUnless is an error when there is none.
func discardUnless(_ []byte, err error) error {
	if !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("got %v, want %w", err, unix.EPERM)
	}
	return nil
}

func TestSealAlone(t *testing.T) {
	machine(t, confine.Seccomp)
	var layers confine.Layers
	child{args: []string{"only"}}.run(t, &layers)
	if !layers.On(confine.Seccomp) || !layers.On(confine.NoNewPrivs) || layers.On(confine.Rlimits) || layers.On(confine.Landlock) {
		t.Errorf("got %v, want only seccomp and what comes with it", layers)
	}
}

// childTime tells how long the stages took, in nanoseconds.
func childTime(args []string) error {
	start := time.Now()
	layers, err := confine.Enter(confine.Profile{Memory: 1 << 30, FileSize: 1 << 20, Write: args})
	if err != nil {
		return err
	}
	entered := time.Now()
	if _, err := confine.Seal(layers); err != nil {
		return err
	}
	return tell([]time.Duration{entered.Sub(start), time.Since(entered)})
}

func BenchmarkEnterAndSeal(b *testing.B) {
	dir := b.TempDir()
	var enter, seal time.Duration
	for b.Loop() {
		var took [2]time.Duration
		child{args: []string{"time", dir}}.run(b, &took)
		enter, seal = enter+took[0], seal+took[1]
	}
	b.ReportMetric(float64(enter.Nanoseconds())/float64(b.N), "enter-ns/op")
	b.ReportMetric(float64(seal.Nanoseconds())/float64(b.N), "seal-ns/op")
}
