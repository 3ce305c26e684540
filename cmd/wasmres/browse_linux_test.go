package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/ptytest"
	"github.com/wasmres/wasmres/internal/textwidth"
)

// onTerminal returns a command at a terminal of a folder with documents, one of which would steer it.
func onTerminal(t *testing.T, command string, args ...string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"plan.md": "# Plan\n\nA **bold** [link](https://example.org/). 漢字\n",
		"evil.md": "\x1b]52;c;YQ==\a\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\ &#27;[31m \u202eabc\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args = append([]string{command, "--dir", dir + ":/project:ro", "--cache-dir", guesttest.CacheDir(t), guesttest.File(t, "project")}, args...)
	cmd = exec.Command("wasmres", args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", "ACCESSIBLE=")
	return cmd, dir
}

func TestBrowse(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a provider")
	}
	cmd, dir := onTerminal(t, "browse")
	term := ptytest.Start(t, cmd, 80, 24)
	term.AwaitText("project://file/plan.md")
	term.AwaitText("q quit")

	term.Type("/plan")
	term.Await("one entry", func(s string) bool { return strings.Contains(s, "plan.md") && !strings.Contains(s, "evil.md") })
	term.Type("\r\r")
	term.AwaitText("# Plan")
	term.AwaitText("A bold link (https://example.org/). 漢字")

	if err := os.WriteFile(filepath.Join(dir, "plan.md"), []byte("# Changed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	term.AwaitText("# Changed")

	for _, columns := range []int{60, 120, 200} {
		term.Resize(columns, 20)
		screen := term.Await(fmt.Sprintf("%d columns", columns), func(s string) bool {
			return strings.Contains(s, strings.Repeat("─", columns)) && strings.Contains(s, "# Changed") && strings.Contains(s, "q quit")
		})
		for line := range strings.Lines(screen) {
			if width := textwidth.Of(strings.TrimRight(line, "\n")); width > columns {
				t.Errorf("%q has %d columns of %d", line, width, columns)
			}
		}
	}

	term.Type("\x1b")
	term.AwaitText("enter open")
	term.Type("\x1b")
	term.AwaitText("evil.md")
	term.Type("g\r")
	term.AwaitText("filename: _")
	term.Type("ev")
	term.AwaitText("  evil.md")
	term.Type("\t\r")
	term.AwaitText(`\x1b]52;c;YQ==\a\x1b]8;;https://example.org\x1b\here`)
	term.AwaitText(`\x1b[31m \u202eabc`)
	term.Type("q")
	if err := term.Wait(); err != nil {
		t.Error(err)
	}
	if out := term.Output(); strings.Contains(out, "\x1b]52") || strings.Contains(out, "\x1b]8;;h") || strings.Contains(out, "\u202e") {
		t.Errorf("the provider has steered the terminal: %q", out)
	}
}

// withPicture returns a command at a terminal of a folder that has a picture, dot.png.
func withPicture(t *testing.T, command string, args ...string) *exec.Cmd {
	t.Helper()
	cmd, dir := onTerminal(t, command, args...)
	cmd.Env = append(cmd.Env, "KITTY_WINDOW_ID=", "TERM_PROGRAM=", "TMUX=")
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 20, 10))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dot.png"), file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return cmd
}

const sixelImage = "\x1bP0;1q\"1;1;20;10"

func TestPicturesOnATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a provider")
	}
	for name, tt := range map[string]struct {
		terminal []ptytest.Attributes
		isDrawn  bool
	}{
		"draws sixels":    {[]ptytest.Attributes{ptytest.Sixels}, true},
		"draws none":      {nil, false},
		"does not answer": {[]ptytest.Attributes{ptytest.Silent}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			term := ptytest.Start(t, withPicture(t, "read", "project://file/dot.png"), 80, 24, tt.terminal...)
			if err := term.Wait(); err != nil {
				t.Errorf("%v: %s", err, term.Output())
			}
			if out := term.Output(); strings.Contains(out, sixelImage) != tt.isDrawn || strings.Contains(out, "B of image/png") == tt.isDrawn {
				t.Errorf("got %q", out)
			}
		})
	}
}

func TestBrowseDrawsPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a provider")
	}
	for name, tt := range map[string]struct {
		terminal []ptytest.Attributes
		shows    string
	}{
		"draws sixels": {[]ptytest.Attributes{ptytest.Sixels}, "Enter: back"}, "draws none": {nil, "this terminal draws no pictures"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			term := ptytest.Start(t, withPicture(t, "browse"), 80, 24, tt.terminal...)
			term.AwaitText("project://file/dot.png")
			term.Type("/dot")
			term.Await("one entry", func(s string) bool { return strings.Contains(s, "dot.png") && !strings.Contains(s, "evil.md") })
			term.Type("\r\r")
			term.AwaitText("p picture")
			term.Type("p")
			term.AwaitText(tt.shows)
			if strings.Contains(term.Output(), sixelImage) != (tt.terminal != nil) {
				t.Errorf("got %q", term.Output())
			}
			if tt.terminal != nil {
				term.Type("\r")
				term.AwaitText("p picture")
			}
			term.Type("q")
			if err := term.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBrowseNeedsATerminal(t *testing.T) {
	cmd, _ := onTerminal(t, "browse")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "browse needs a terminal") || !strings.Contains(string(out), "wasmres read") {
		t.Errorf("got %v, %s", err, out)
	}
	for _, name := range []string{"TERM=dumb", "ACCESSIBLE=1"} {
		cmd, _ := onTerminal(t, "browse")
		cmd.Env = append(cmd.Env, name)
		term := ptytest.Start(t, cmd, 80, 24)
		if err := term.Wait(); err == nil || !strings.Contains(term.Output(), "browse needs a terminal") {
			t.Errorf("%s: got %v, %s", name, err, term.Output())
		}
	}
}

func TestReadOnATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a provider")
	}
	for name, tt := range map[string]struct {
		args, env []string
		want      string
	}{
		"styled":   {[]string{"project://file/plan.md"}, nil, "A \x1b[1mbold\x1b[0m \x1b[4mlink\x1b[0m \x1b[2m(https://example.org/)\x1b[0m. 漢字"},
		"no color": {[]string{"project://file/plan.md"}, []string{"NO_COLOR=1"}, "A bold link (https://example.org/). 漢字"},
		"dumb":     {[]string{"project://file/plan.md"}, []string{"TERM=dumb"}, "A bold link (https://example.org/). 漢字"},
		"raw":      {[]string{"--raw", "project://file/plan.md"}, nil, "A **bold** [link](https://example.org/). 漢字"},
		"hostile":  {[]string{"project://file/evil.md"}, []string{"NO_COLOR=1"}, `\x1b[31m \u202eabc`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, _ := onTerminal(t, "read", tt.args...)
			cmd.Env = slices.Concat(cmd.Env, tt.env)
			term := ptytest.Start(t, cmd, 100, 24)
			if err := term.Wait(); err != nil || !strings.Contains(term.Output(), tt.want) {
				t.Errorf("got %v, %q, want %q", err, term.Output(), tt.want)
			}
		})
	}
}
