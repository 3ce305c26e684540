package process_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

// role is what a child of the tests does, by its name; nil for any other process.
func role(name string) func() {
	switch name {
	case "byte":
		return func() { write(os.Stdout, "x") }
	case "wait":
		return func() { write(os.Stdout, "x"); time.Sleep(time.Hour) }
	case "tied":
		return func() { process.Tie(); write(os.Stdout, "x"); time.Sleep(time.Hour) }
	case "exit":
		return func() { os.Exit(7) }
	case "crash":
		return func() { panic("the child says why") }
	case "echo":
		return func() { pass(os.Stdout, os.Stdin) }
	case "complain":
		return func() { pass(os.Stderr, os.Stdin) }
	case "files":
		return func() { pass(os.NewFile(4, "out"), os.NewFile(3, "in")) }
	case "noise":
		return func() {
			for {
				write(os.Stderr, strings.Repeat("noise", 100))
			}
		}
	}
	return systemRole(name)
}

func write(f *os.File, text string) {
	if _, err := f.WriteString(text); err != nil {
		os.Exit(3)
	}
}

func pass(w io.Writer, r io.Reader) {
	if _, err := io.Copy(w, r); err != nil {
		os.Exit(3)
	}
}

func TestMain(m *testing.M) {
	if !systemMain() {
		process.Main()
	}
	if len(os.Args) == 1 {
		if play := role(os.Args[0]); play != nil {
			play()
			os.Exit(0)
		}
	}
	process.ForkServer() // is there before goroutines are counted
	os.Exit(m.Run())
}

// start starts a child that is gone when the test is over.
func start(tb testing.TB, cfg process.Config) *process.Process {
	tb.Helper()
	if cfg.Env == nil && cfg.Name != "report" {
		cfg.Env = []string{"GORACE=atexit_sleep_ms=0"} // else it takes a second to end
	}
	p, err := process.Start(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { p.Kill(); <-p.Done() })
	return p
}

// pipe returns both ends, which are closed at the end if they are not before.
func pipe(tb testing.TB) (r, w *os.File) {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		for _, f := range []*os.File{r, w} {
			if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
				tb.Error(err)
			}
		}
	})
	return r, w
}

// both runs a test without and with namespaces.
func both(t *testing.T, test func(t *testing.T, own bool)) {
	t.Helper()
	t.Run("plain", func(t *testing.T) { test(t, false) })
	t.Run("namespaces", func(t *testing.T) { test(t, true) })
}
