package process_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

func TestAChildIsFedAndHeard(t *testing.T) {
	both(t, func(t *testing.T, own bool) {
		text := strings.Repeat("to and fro ", 100_000)
		var out bytes.Buffer
		p := start(t, process.Config{Name: "echo", Stdin: strings.NewReader(text), Stdout: &out, Namespaces: own})
		if e := p.End(); e.Status != 0 || e.Signal != 0 || e.Killed || out.String() != text {
			t.Errorf("got %+v and %d bytes, want exit status 0 and %d bytes", e, out.Len(), len(text))
		}
	})
}

func TestAnEndIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		status       int
		text, stderr string
	}{
		"byte":  {0, "exit status 0", ""},
		"exit":  {7, "exit status 7", ""},
		"crash": {2, "exit status 2", "panic: the child says why"},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, own bool) {
				e := start(t, process.Config{Name: name, MaxStderr: 4096, Namespaces: own}).End()
				if e.Status != tt.status || e.Killed || e.String() != tt.text || e.CPU <= 0 {
					t.Errorf("got %+v, %v, want %d, %s", e, e, tt.status, tt.text)
				}
				if !strings.HasPrefix(e.Stderr, tt.stderr) || tt.stderr == "" && e.Stderr != "" {
					t.Errorf("got %q, want %q", e.Stderr, tt.stderr)
				}
			})
		})
	}
}

func TestStandardErrorIsKeptInPart(t *testing.T) {
	const long = "0123456789abcdefghijklmnopqrstuvwxyz"
	for name, tt := range map[string]struct {
		max        int
		text, want string
	}{
		"none":         {0, long, ""},
		"silent":       {10, "", ""},
		"short":        {10, "abc", "abc"},
		"half":         {10, "abcde", "abcde"},
		"fits":         {10, "abcdefghij", "abcdefghij"},
		"one too long": {10, "abcdefghijk", "abcde\n… 1 bytes …\nghijk"},
		"long":         {10, long, "01234\n… 26 bytes …\nvwxyz"},
		"odd":          {7, long, "012\n… 29 bytes …\nwxyz"},
		"one":          {1, long, "\n… 35 bytes …\nz"},
		"very long":    {6, strings.Repeat(long, 1000), "012\n… 35994 bytes …\nxyz"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := process.Config{Name: "complain", Stdin: strings.NewReader(tt.text), MaxStderr: tt.max}
			if e := start(t, cfg).End(); e.Stderr != tt.want || e.Status != 0 {
				t.Errorf("got %v, %q, want %q", e, e.Stderr, tt.want)
			}
		})
	}
}

func TestAChildThatDoesNotStopTalkingIsNotListenedTo(t *testing.T) {
	e := start(t, process.Config{Name: "noise", MaxStderr: 100}).End()
	if e.Status == 0 || e.Killed || len(e.Stderr) > 150 || !strings.HasPrefix(e.Stderr, "noise") {
		t.Errorf("got %+v, want a child that has ended for want of a reader", e)
	}
}

func TestFilesAreHandedOver(t *testing.T) {
	both(t, func(t *testing.T, own bool) {
		in, feed := pipe(t)
		hear, out := pipe(t)
		start(t, process.Config{Name: "files", Files: []*os.File{in, out}, Namespaces: own})
		for _, f := range []*os.File{in, out} {
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := feed.WriteString("through the files"); err != nil {
			t.Fatal(err)
		}
		if err := feed.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(hear); err != nil || string(got) != "through the files" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	for name, file := range map[string]string{"missing": "nothing", "a folder": "", "relative": "../nothing"} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, own bool) {
				path := filepath.Join(t.TempDir(), file)
				if name == "relative" {
					path = file
				}
				_, err := process.Start(process.Config{Executable: path, MaxStderr: 10, Namespaces: own})
				if err == nil || !strings.Contains(err.Error(), "start child: fork/exec /") {
					t.Errorf("got %v, want an error that names the program", err)
				}
			})
		})
	}
}

func TestKillMayBeCalledAtAnyTime(t *testing.T) {
	both(t, func(t *testing.T, own bool) {
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				p, err := process.Start(process.Config{Name: []string{"byte", "wait"}[i%2], MaxStderr: i % 3, Namespaces: own})
				if err != nil {
					t.Error(err)
					return
				}
				wg.Go(p.Kill)
				p.Kill()
				if e := p.End(); !e.Killed {
					// It had ended before.
					if i%2 == 1 || e.Status != 0 {
						t.Errorf("child %d: got %+v", i, e)
					}
				}
				p.Kill()
			})
		}
		wg.Wait()
	})
}
