package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// testNewProject asks the provider that the reader of a page about a language has made with "wasmres new" and built, in
// its folder. The commands that "wasmres new" prints work, offline, and lead to a provider that answers as those in the
// other languages do.
func (r *reader) testNewProject(lang project.Language) {
	r.t.Helper()
	for command, printed := range r.printed {
		if !strings.HasPrefix(command, "wasmres new ") {
			continue
		}
		for _, step := range printedSteps(printed) {
			if _, done := r.printed[step]; !done && !strings.Contains(newQuestions, step+"\n") {
				r.t.Errorf("%s: nothing runs %q, a step that %q prints", r.page, step, command)
			}
		}
	}
	said := r.printed["wasmres build"]
	if want := regexp.MustCompile(`(?m)^fuel +[1-9][0-9,]* for notes://about, `); !want.MatchString(said) {
		r.t.Errorf("%s: the build says\n%s\nwant %s", r.page, said, want)
	}
	if diff := cmp.Diff(newSession, shell(r.t, r.dir, newQuestions)); diff != "" {
		r.t.Errorf("%s: want -, got +:\n%s", r.page, diff)
	}
	if lang == project.TypeScript {
		shell(r.t, r.dir, "npm run check") // which the page leaves to editors
	}
	testPacked(r.t, r.dir)
}

const newQuestions = `wasmres read notes.wasm notes://about
wasmres check --strict notes.wasm
wasmres list --output-format json notes.wasm | tr -d ' \n'; echo
wasmres templates --output-format json notes.wasm | tr -d ' \n'; echo
wasmres read notes.wasm notes://notes/templates
wasmres complete notes.wasm 'notes://notes/{id}' id RE
wasmres complete notes.wasm 'notes://notes/{id}' id x
wasmres read notes.wasm notes://notes/no%20such || echo $?
wasmres read notes.wasm notes://other || echo $?
wasmres inspect notes.wasm | grep ^manifest
`

const newSession = "# notes\n\nNotes about what a provider is made of, at `notes://notes/{id}`.\n" + `no errors, no warnings; 4 resources listed, 1 template, 4 read
{"resources":[` +
	`{"uri":"notes://about","name":"about","title":"About","description":"Whatthisprovideroffers.",` +
	`"mimeType":"text/markdown"},` +
	`{"uri":"notes://notes/resources","name":"resources","title":"Resources","mimeType":"text/plain"},` +
	`{"uri":"notes://notes/templates","name":"templates","title":"Templates","mimeType":"text/plain"},` +
	`{"uri":"notes://notes/completions","name":"completions","title":"Completions","mimeType":"text/plain"}]}
{"resourceTemplates":[{"uriTemplate":"notes://notes/{id}","name":"note","title":"Note","description":"Anotebyitsid.",` +
	`"mimeType":"text/plain"}]}
A template describes many URIs at once: notes://notes/{id} led to this note.
resources
wasmres: read notes://notes/no%20such: there is no note no such
1
wasmres: read notes://other: no such resource (see 'wasmres list' and 'wasmres templates')
1
manifest       packed into the module
`

// Without a compiler the exit status is one of its own, and the message says how to get it.
func TestBuildWithoutCompiler(t *testing.T) {
	dir := t.TempDir()
	shell(t, dir, "wasmres new notes")
	wasmres, err := exec.LookPath("wasmres")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), wasmres, "build", "notes")
	cmd.Dir, cmd.Env = dir, append(cmd.Environ(), "PATH=")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != cli.StatusMissing {
		t.Errorf("got %v, want exit status %d", err, cli.StatusMissing)
	}
	if !strings.HasPrefix(string(out), "wasmres: go is missing: ") {
		t.Errorf("got %s", out)
	}
}

// printedSteps returns the commands in the output of "wasmres new".
func printedSteps(said string) (steps []string) {
	for line := range strings.Lines(said) {
		if step, ok := strings.CutPrefix(line, "   "); ok {
			steps = append(steps, strings.Split(strings.TrimSpace(step), " && ")...)
		}
	}
	return steps
}

// shell runs commands in dir, up to the first that fails, and gives what they print. It ends the test when a command
// fails, for want of a compiler without a fault.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "WASMRES_CACHE_DIR="+guesttest.CacheDir(t),
		"GOFLAGS=-trimpath", "GOPROXY=off", "GOTOOLCHAIN=local", "CARGO_NET_OFFLINE=true", "CARGO_TARGET_DIR=target", "RUSTFLAGS=")
	out, err := cmd.CombinedOutput()
	const noCommand = 127 // of sh
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && (exit.ExitCode() == cli.StatusMissing || exit.ExitCode() == noCommand):
		guesttest.Missing(t, "%s\n%s", script, out)
	case err != nil:
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return string(out)
}

// testPacked holds both modules of a build to what the provider says when it is asked.
func testPacked(t *testing.T, folder string) {
	t.Helper()
	packed, debug := readFile(t, folder, "notes.wasm"), readFile(t, folder, "notes.debug.wasm")
	bare := withoutManifest(t, packed)
	host, err := runtime.NewHost(runtime.HostConfig{Isolation: runtime.IsolateNone})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	p, err := host.Load(t.Context(), bare, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	asked := p.Manifest()
	for name, module := range map[string][]byte{"notes.wasm": packed, "notes.debug.wasm": debug} {
		found, err := wasm.Custom(module, abi.ManifestSection)
		if err != nil || !bytes.Equal(found, asked.Append(nil)) {
			t.Errorf("%s: the manifest packed in is %q, the provider says %q (%v)", name, found, asked.Append(nil), err)
		}
		names, err := wasm.Custom(module, "name")
		if err != nil || (names != nil) != (name == "notes.debug.wasm") {
			t.Errorf("%s has %d bytes of names, %v", name, len(names), err)
		}
	}
}

// withoutManifest returns a module without its first section, which is the manifest.
func withoutManifest(t *testing.T, module []byte) []byte {
	t.Helper()
	for s, err := range wasm.Sections(module) {
		if err != nil || s.ID != wasm.SectionCustom || string(s.Reader().Name()) != abi.ManifestSection {
			t.Fatalf("the first section is of kind %d, %v", s.ID, err)
		}
		const header = 8
		return append(bytes.Clone(module[:header]), module[header+len(s.Raw):]...)
	}
	t.Fatal("the module is empty")
	return nil
}

func readFile(t *testing.T, parts ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
