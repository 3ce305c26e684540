//go:build cgo

package confine_test

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/confine"
)

func init() { taggedChildren["deaf"] = childDeaf }

// childDeaf has a thread that gets no signals.
func childDeaf([]string) error {
	confine.SetThreadPatience(100 * time.Millisecond)
	deaf := make(chan error)
	go func() { // until the process ends
		goruntime.LockOSThread()
		deaf <- unix.PthreadSigmask(unix.SIG_SETMASK, allSignals(), nil)
		select {}
	}()
	if err := <-deaf; err != nil {
		return err
	}
	_, err := confine.Enter(confine.Profile{})
	return tell(fmt.Sprint(err))
}

// A thread that cannot be restricted is an error after a while, neither a wait for ever nor a layer that is off.
func TestAThreadThatDoesNotRestrictItself(t *testing.T) {
	machine(t, confine.Landlock)
	inNamespaces(t, func(t *testing.T, flags uintptr) {
		var got string
		child{args: []string{"deaf"}, flags: flags}.run(t, &got)
		if want := "threads of this process did not restrict themselves within 100ms: build wasmres with"; !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestCountThreads(t *testing.T) {
	const fields = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 %s 18 19"
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"usual":                 {"7 (wasmres)" + fmt.Sprintf(fields, "12"), 12},
		"a name like the rest":  {"7 (a) S 1 (b) 1 2" + ") (x)" + fmt.Sprintf(fields, "3"), 3},
		"no number":             {"7 (wasmres)" + fmt.Sprintf(fields, "x"), 0},
		"too short":             {"7 (wasmres) S 1 2 3", 0},
		"nothing":               {"", 0},
		"not what it should be": {strings.Repeat("x", 10_000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "stat")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := confine.CountThreads(f)
			if got != c.want || (err == nil) != (c.want > 0) {
				t.Errorf("got %d, %v, want %d", got, err, c.want)
			}
		})
	}
}
