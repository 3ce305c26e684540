//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/completion"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// completionCases are command lines, and some words that a shell must offer in the place of the last.
var completionCases = []struct {
	line    string
	offered []string
	not     string // which it must not offer
}{
	{"wasmres re", []string{"read", "reload", "reject"}, "run"},
	{"wasmres version ", []string{"list", "show"}, "read"},
	{"wasmres help re", []string{"read"}, "run"},
	{"wasmres read --output", []string{"--output", "--output-format"}, "--memory"},
	{"wasmres read --output-format ", []string{"table", "json", "yaml"}, "xml"},
	{"wasmres read hello.wasm --lifecycle s", []string{"session", "shared"}, "fresh"},
	{"wasmres new --lang py", []string{"python"}, "go"},
	{"wasmres install --client cu", []string{"cursor"}, "codex"},
	{"wasmres read ", []string{"hello.wasm"}, "list"},
	{"wasmres policy check ", []string{"notes.txt"}, ""},
}

// completionFolder makes a folder in which wasmres and hello.wasm are, for completing in it.
func completionFolder(t *testing.T) (dir string, env []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs shells")
	}
	bin := filepath.Dir(guesttest.Program(t))
	dir = t.TempDir()
	if err := os.Symlink(guesttest.File(t, "hello"), filepath.Join(dir, "hello.wasm")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "WASMRES_CACHE_DIR="+guesttest.CacheDir(t), "HOME="+dir, "TERM=dumb")
}

// shellOffers has a shell run a script, and returns the words that it prints. %LINE% in the script is the command line.
func shellOffers(t *testing.T, dir string, env []string, line, shell string, args ...string) []string {
	t.Helper()
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "%LINE%", line)
	}
	cmd := exec.CommandContext(t.Context(), shell, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", shell, line, err, out)
	}
	var words []string
	for text := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimRight(text, "\r\n"), "\t")
		words = append(words, strings.ReplaceAll(strings.TrimSpace(word), `\`, ""))
	}
	return words
}

func checkOffers(t *testing.T, offers func(line string) []string) {
	t.Helper()
	for _, c := range completionCases {
		got := offers(c.line)
		for _, want := range c.offered {
			if !slices.Contains(got, want) {
				t.Errorf("%q: %q is not offered, but %q", c.line, want, got)
			}
		}
		if slices.Contains(got, c.not) && c.not != "" {
			t.Errorf("%q: %q is offered", c.line, c.not)
		}
	}
}

func TestCompletionInBash(t *testing.T) {
	dir, env := completionFolder(t)
	const script = `source <(wasmres completion bash)
COMP_LINE='%LINE%' COMP_WORDS=(wasmres)
COMP_POINT=${#COMP_LINE}
_wasmres
printf '%s\n' "${COMPREPLY[@]}"`
	checkOffers(t, func(line string) []string {
		return shellOffers(t, dir, env, line, guesttest.Tool(t, "bash", "bash"), "--norc", "-c", script)
	})
}

func TestCompletionInFish(t *testing.T) {
	dir, env := completionFolder(t)
	checkOffers(t, func(line string) []string {
		return shellOffers(t, dir, env, line, guesttest.Tool(t, "fish", "fish"), "--no-config", "-c", "wasmres completion fish | source; complete -C '%LINE%'")
	})
}

// TestCompletionInPwsh asks as the script does and reads the answer as it does: there is no PowerShell to run it here.
// Where nothing is offered, PowerShell offers files.
func TestCompletionInPwsh(t *testing.T) {
	dir, env := completionFolder(t)
	script := string(completion.Script("wasmres.ps1"))
	for _, part := range []string{`@('__complete', "--word=$wordToComplete", '--')`, "Select-Object -Skip 1 | ForEach-Object", "-split \"`t\", 2"} {
		if !strings.Contains(script, part) {
			t.Errorf("the script lacks %s: this test does what an earlier script did", part)
		}
	}
	checkOffers(t, func(line string) []string {
		words, word := strings.Fields(line)[1:], ""
		if !strings.HasSuffix(line, " ") {
			words, word = words[:len(words)-1], words[len(words)-1]
		}
		got := shellOffers(t, dir, env, line, filepath.Join(binOf(env), "wasmres"), append([]string{"__complete", "--word=" + word, "--"}, words...)...)
		if got = got[1:]; len(got) > 0 {
			return got
		}
		return shellOffers(t, dir, env, line, "ls")
	})
}

// binOf returns the first folder of the last PATH of an environment.
func binOf(env []string) (bin string) {
	for _, set := range env {
		if path, ok := strings.CutPrefix(set, "PATH="); ok {
			bin, _, _ = strings.Cut(path, ":")
		}
	}
	return bin
}

// TestCompletionOfURIs asks as the scripts do, with as much time as a busy machine needs.
func TestCompletionOfURIs(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a provider")
	}
	cache := "--cache-dir=" + guesttest.CacheDir(t)
	got := helpOf(t, "__complete", "--patience=1m", "--word=", "--", "read", cache, "--isolation", "in-process", guesttest.File(t, "hello"))
	if got != "none\nhello://about\tabout\ngreeting://\tgreeting\n" {
		t.Errorf("got %q", got)
	}
}

// TestCompletionScripts holds the scripts to the rule that none is stale: the command prints them.
func TestCompletionScripts(t *testing.T) {
	for _, s := range completion.Shells() {
		if got := helpOf(t, "completion", s[0]); got != string(completion.Script(s[1])) {
			t.Errorf("completion %s prints %q", s[0], got)
		}
	}
}
