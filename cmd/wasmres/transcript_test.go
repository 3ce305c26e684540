package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/guesttest"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// A transcript is a session with the program on its standard input and output: a head of # lines, a line "$ EXAMPLE
// FLAGS…" that says what runs, then what the client says (->) and what it gets (<-) until it has its answer.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcript/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "faults" {
				t.Skip("its requests run into a time limit")
			}
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("want -, got +; run with -update if that is right:\n%s", diff)
			}
		})
	}
}

// replay says what the client says in a transcript and gives the transcript that comes of it.
func replay(t *testing.T, transcript string) string {
	t.Helper()
	var said strings.Builder
	var s *session
	for line := range strings.Lines(transcript) {
		if strings.HasPrefix(line, "<- ") {
			continue
		}
		said.WriteString(line)
		if args, ok := strings.CutPrefix(line, "$ "); ok {
			s = start(t, strings.Fields(args))
		}
		if message, ok := strings.CutPrefix(line, "-> "); ok {
			s.say(t, strings.TrimSpace(message), &said)
		}
	}
	s.end(t)
	return said.String()
}

type session struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, args []string) *session {
	t.Helper()
	all := append([]string{"run", "--log-level", "error", "--cache-dir", guesttest.CacheDir(t)}, args[1:]...)
	s := &session{cmd: exec.Command("wasmres", append(all, guesttest.File(t, args[0]))...)}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// changing is what is new in every run.
var changing = regexp.MustCompile(`"errorId":"[A-Z0-9]+"`)

// say sends a message and, when it is a request, notes what comes back until its answer.
func (s *session) say(t *testing.T, message string, said *strings.Builder) {
	t.Helper()
	if _, err := io.WriteString(s.in, message+"\n"); err != nil {
		t.Fatal(err)
	}
	var asked, answered struct{ ID json.RawMessage }
	if json.Unmarshal([]byte(message), &asked) == nil && asked.ID == nil {
		return
	}
	for answered.ID == nil {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatalf("no answer to %s: %v", message, err)
		}
		said.WriteString("<- " + changing.ReplaceAllString(line, `"errorId":"…"`))
		if err := json.Unmarshal([]byte(line), &answered); err != nil {
			t.Fatalf("standard output carries something else than the protocol: %s", line)
		}
		if asked.ID == nil || strings.Contains(line, `"error":`) {
			return // what could not be parsed is answered without an id
		}
	}
}

func (s *session) end(t *testing.T) {
	t.Helper()
	if err := s.in.Close(); err != nil {
		t.Error(err)
	}
	rest, err := io.ReadAll(s.out)
	if err != nil || len(rest) > 0 {
		t.Errorf("after the end of the input: got %.200q, %v, want nothing", rest, err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("wasmres: %v", err)
	}
}
