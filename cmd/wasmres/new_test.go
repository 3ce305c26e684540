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

// In each language the commands that "wasmres new" prints work, offline, and lead to a provider that answers as those
// in the other languages do.
func TestNewProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("builds projects")
	}
	for _, lang := range project.Languages() {
		t.Run(string(lang), func(t *testing.T) {
			dir := t.TempDir()
			said := shell(t, dir, "wasmres new --lang "+string(lang)+" notes")
			folder := filepath.Join(dir, "notes")
			steps := printedSteps(said)
			if guesttest.NeedsNode(lang) {
				installed := guesttest.NodeModules(t, lang)
				if err := os.Symlink(installed, filepath.Join(folder, "node_modules")); err != nil {
					t.Fatal(err)
				}
				steps = strings.Replace(steps, " && npm install\n", "\n", 1) // it would ask the registry
			}
			said = shell(t, dir, steps)
			if want := regexp.MustCompile(`(?m)^ok +tests/notes.txtar  7 steps`); !want.MatchString(said) {
				t.Errorf("the test says\n%s\nwant %s", said, want)
			}
			if !strings.HasSuffix(said, "\n"+aboutNotes) {
				t.Errorf("the last step says\n%s\nwant it to end with\n%s", said, aboutNotes)
			}
			if want := regexp.MustCompile(`(?m)^fuel +[1-9][0-9,]* for notes://about, `); !want.MatchString(said) {
				t.Errorf("the build says\n%s\nwant %s", said, want)
			}
			if diff := cmp.Diff(newSession, shell(t, folder, newQuestions)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if own := nativeTest[lang]; own != "" {
				shell(t, folder, own)
			}
			testPacked(t, folder)
		})
	}
}

// nativeTest is the command of a new project's README that tests without wasmres, where the language has one.
var nativeTest = map[project.Language]string{
	project.Go: "go test .", project.Rust: "cargo test", project.TypeScript: "npm test && npm run check",
}

const aboutNotes = "# notes\n\nNotes about what a provider is made of, at `notes://notes/{id}`.\n"

const newQuestions = `wasmres check --strict notes.wasm
wasmres list --output-format json notes.wasm | tr -d ' \n'; echo
wasmres templates --output-format json notes.wasm | tr -d ' \n'; echo
wasmres read notes.wasm notes://notes/templates
wasmres complete notes.wasm 'notes://notes/{id}' id RE
wasmres complete notes.wasm 'notes://notes/{id}' id x
wasmres read notes.wasm notes://notes/no%20such || echo $?
wasmres read notes.wasm notes://other || echo $?
wasmres inspect notes.wasm | grep ^manifest
`

const newSession = `no errors, no warnings; 4 resources listed, 1 template, 4 read
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

// printedSteps returns the commands, at most four, in the output of "wasmres new".
func printedSteps(said string) string {
	var steps strings.Builder
	for line := range strings.Lines(said) {
		if step, ok := strings.CutPrefix(line, "   "); ok {
			steps.WriteString(step)
		}
	}
	return steps.String()
}

// shell runs commands in dir, up to the first that fails, and gives what they print. It ends the test when a command
// fails, for want of a compiler without a fault.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "WASMRES_CACHE_DIR="+guesttest.CacheDir(t),
		"GOFLAGS=", "GOPROXY=off", "GOTOOLCHAIN=local", "CARGO_NET_OFFLINE=true", "CARGO_TARGET_DIR=target", "RUSTFLAGS=")
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
