package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/ptytest"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

var updateCasts = flag.Bool("casts", false, "write the recordings and pictures of docs/casts")

// TestCasts does at a terminal what the recordings in docs/casts show, and fails if the program prints something else: numbers
// do not count. With -casts it writes the recordings, and a picture of the last screen of each.
func TestCasts(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles providers")
	}
	for name, record := range map[string]func(*stage){"install": recordInstall, "author": recordAuthor, "browse": recordBrowse} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			record(s)
			base := filepath.Join(sourcetree.Root(), "docs", "casts", name)
			for file, got := range map[string][]byte{base + ".cast": s.Cast(), base + ".svg": s.SVG()} {
				if *updateCasts {
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(file, ".cast") && shownBy(t, want) != shownBy(t, got) {
					t.Errorf("%s shows\n%s\n-- and the program prints --\n%s\n-- go test ./cmd/wasmres -run TestCasts -casts writes it again",
						file, shownBy(t, want), shownBy(t, got))
				}
			}
		})
	}
}

func recordInstall(s *stage) {
	s.Title = "Install a provider in an MCP client, and read from it"
	s.addFile("hello.wasm", guesttest.File(s.t, "hello"))
	s.command("wasmres install hello.wasm --client cursor --yes")
	s.command("wasmres list hello.wasm")
	s.command("wasmres read hello.wasm greeting://Ada")
}

func recordAuthor(s *stage) {
	s.Title = "Make a provider, build it, and test it"
	s.command("wasmres new notes --lang c")
	s.dir = filepath.Join(s.dir, "notes")
	s.Type("cd notes")
	s.command("wasmres build")
	s.command("wasmres read notes.wasm notes://notes/templates")
	s.command("wasmres test notes.wasm")
}

func recordBrowse(s *stage) {
	s.Title = "Browse the resources of a provider"
	s.addFile("project.wasm", guesttest.File(s.t, "project"))
	for name, text := range map[string]string{"README.md": "# Notes\n\nText of **today**.\n", "plan.md": "# Plan\n\n- write\n- test\n"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	line := "wasmres browse project.wasm --dir .:/project:ro"
	s.Type(line)
	term := ptytest.Start(s.t, s.shell(line), s.Columns, s.Lines)
	term.AwaitText("plan.md")
	s.Screen(s.scrubbed(term.AwaitText("q quit")))
	term.Type("/plan")
	s.Screen(s.scrubbed(term.AwaitText("filter: plan_")))
	term.Type("\r\r")
	s.Screen(s.scrubbed(term.AwaitText("# Plan")))
}

// A stage is where a recording is made: the home of a user with an MCP client.
type stage struct {
	ptytest.Recording
	t    *testing.T
	home string
	dir  string // where the next command runs
}

func newStage(t *testing.T) *stage {
	t.Helper()
	home := t.TempDir()
	for _, dir := range []string{".cursor", ".cache"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(guesttest.CacheDir(t), filepath.Join(home, ".cache", "wasmres")); err != nil {
		t.Fatal(err)
	}
	return &stage{Recording: ptytest.Recording{Columns: 96, Lines: 24}, t: t, home: home, dir: home}
}

func (s *stage) addFile(name, from string) {
	s.t.Helper()
	if err := os.Symlink(from, filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

// shell returns a command line, with nothing of this user but caches.
func (s *stage) shell(line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = s.dir
	for _, set := range os.Environ() {
		if !strings.HasPrefix(set, "WASMRES_") && !strings.HasPrefix(set, "XDG_") {
			cmd.Env = append(cmd.Env, set)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+s.home, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=1", "ACCESSIBLE=", "PWD="+s.dir)
	return cmd
}

// command types a command and records what it prints.
func (s *stage) command(line string) {
	s.t.Helper()
	term := ptytest.Start(s.t, s.shell(line), s.Columns, s.Lines)
	if err := term.Wait(); err != nil {
		s.t.Fatalf("%s: %v\n%s", line, err, term.Output())
	}
	s.Type(line)
	s.Print(s.scrubbed(strings.ReplaceAll(term.Output(), "\r\n", "\n")))
}

// redrawn matches a line that the program has replaced, and sequences that steer a terminal.
var redrawn = regexp.MustCompile(`(?m)^(?:.*\r)?(?:\x1b\[K)?(?:Loading|Compiling)[^\n]*?\r(?:\x1b\[K)?|\x1b\[[0-9;?]*[A-Za-z]`)

// scrubbed returns a text with the home of every reader.
func (s *stage) scrubbed(text string) string {
	program, err := exec.LookPath("wasmres")
	if err != nil {
		s.t.Fatal(err)
	}
	text = redrawn.ReplaceAllString(text, "")
	text = strings.NewReplacer(guesttest.File(s.t, "hello"), "/home/me/hello.wasm", program, "/usr/local/bin/wasmres", s.home, "/home/me").Replace(text)
	return text
}

// shownBy returns all that a recording shows, without its times, and with each number as zero.
func shownBy(t *testing.T, cast []byte) string {
	t.Helper()
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(cast), "\n"), "\n") {
		var event []any
		if err := json.Unmarshal([]byte(line), &event); i > 0 && (err != nil || len(event) != 3) {
			t.Fatalf("line %d: %s: %v", i+1, line, err)
		}
		if i > 0 {
			b.WriteString(event[2].(string))
		}
	}
	return numbers.ReplaceAllString(spaces.ReplaceAllString(b.String(), " "), "0")
}

// numbers have a unit, since that depends on the number.
var numbers = regexp.MustCompile(`[0-9][0-9.,]*(?:(?:µs|ms|s|B|KiB|MiB)\b)?`)
