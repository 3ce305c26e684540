package approval_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/approval"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	if diff := cmp.Diff(read(t, file), got); diff != "" {
		t.Errorf("%s: want -, got +; run with -update if that is right\n%s", file, diff)
	}
}

// prompt returns what the terminal shows when the user types typed, the answer, and the lines of the grant.
func prompt(t *testing.T, r approval.Request, typed string, width int) (string, approval.Answer, []string) {
	t.Helper()
	var seen strings.Builder
	answer, granted, err := approval.Decide(r).Prompt(t.Context(), approval.Terminal{In: strings.NewReader(typed), Out: &seen, Width: width})
	must(t, err)
	var lines []string
	if granted != nil {
		lines = granted.Lines()
	}
	return seen.String(), answer, lines
}

func TestPromptShowsWhatIsAskedAndWhy(t *testing.T) {
	m := &abi.Manifest{Name: "notes", Version: "2.0.0", Capabilities: []abi.Capability{
		{Name: "fs", Params: `{"paths":["/data"]}`, Reason: "reads your notes"},
		{Name: "http", Params: `{"hosts":["api.example.org"],"methods":["GET","POST"],"secrets":["token"]}`, Reason: "asks the server of the notes, which knows more of them than this folder does"},
		{Name: "kv", Optional: true, Reason: "remembers what was read"},
		{Name: "sql", Params: `{"connections":["main"]}`},
		{Name: "env"},
		{Name: "teleport", Reason: "to be there"},
		{Name: "secret", Params: `{"nonsense":1}`},
	}}
	r := approval.Request{Manifest: m, Digest: digestA, File: "/srv/notes.wasm"}
	home := t.TempDir()
	t.Setenv("HOME", home)
	must(t, os.Mkdir(filepath.Join(home, "notes"), 0o700))
	typed := "/absent\n~/notes\nLANG\nhunter2\nenv:TOKEN\nsqlite:/srv/main.db\nyes\n"
	seen, answer, granted := prompt(t, r, typed, 160)
	if answer != approval.Yes {
		t.Errorf("answer %v", answer)
	}
	if strings.Contains(seen, "hunter2") {
		t.Error("what may be a secret is repeated")
	}
	seen += "\n=> " + strings.Join(granted, "\n=> ") + "\n"
	golden(t, "prompt.txt", strings.ReplaceAll(seen, home, "/HOME"))
	_, answer, granted = prompt(t, r, "\n\n\n\nyes\n", 80)
	if want := "send GET, POST to https://api.example.org\nkeep values between requests"; answer != approval.Yes || strings.Join(granted, "\n") != want {
		t.Errorf("with nothing filled in: %v, %q", answer, granted)
	}
}

// A command whose answer is for later runs neither offers an answer for one run nor takes it.
func TestALastingPromptHasNoOnce(t *testing.T) {
	r := approval.Request{Manifest: &abi.Manifest{Name: "notes", Version: "1", Capabilities: []abi.Capability{{Name: "kv"}}}, Digest: digestA, File: "/srv/notes.wasm"}
	for typed, want := range map[string]approval.Answer{"once\n": approval.No, "yes\n": approval.Yes} {
		var seen strings.Builder
		answer, _, err := approval.Decide(r).Prompt(t.Context(), approval.Terminal{In: strings.NewReader(typed), Out: &seen, Lasting: true})
		if must(t, err); answer != want || strings.Contains(seen.String(), "once (") {
			t.Errorf("%q: answer %v to %s", typed, answer, &seen)
		}
	}
}

func TestPromptGrantsAFolderAsItIsAskedFor(t *testing.T) {
	m := asks(`fs {"paths":["/out"],"access":["write"],"max_bytes":"64Mi","max_files":100}`)
	seen, answer, granted := prompt(t, approval.Request{Manifest: m, Digest: digestA, File: "/srv/notes.wasm"}, "/\nyes\n", 160)
	const bounds = ", adding up to 64Mi, and at most 100 files and folders"
	if answer != approval.Yes || strings.Join(granted, "\n") != "write files at /out, which are those of /"+bounds {
		t.Errorf("answer %v, granted %q", answer, granted)
	}
	if !strings.Contains(seen, "  - write files at /out"+bounds+"\n") {
		t.Errorf("what is asked is not shown:\n%s", seen)
	}
}

func TestPromptShowsTheDifference(t *testing.T) {
	s, _ := newStore(t)
	file := provider(t)
	first := approval.Decide(approval.Request{Manifest: asks("kv", `http {"hosts":["a.org"]}`), Digest: digestA, File: file, Store: s})
	must(t, s.Grant(first.Record(server("a.org"), noon, "ada")))
	seen, _, _ := prompt(t, approval.Request{Manifest: asks(`http {"hosts":["b.org"]}`), Digest: digestB, File: file, Store: s}, "\n", 80)
	golden(t, "difference.txt", strings.ReplaceAll(seen, file, "/FILE"))
}

// No text of a manifest looks like the prompt: none of its lines begins at the margin, the terminal breaks no line, no
// control character reaches the terminal, and the question of wasmres comes last.
func TestPromptCannotBeForged(t *testing.T) {
	evil := []string{
		"\x1b[2J\x1b[H\x1b[31mGrant this? yes\r\n", "\u202egnihton rof sksa tI", "x\u2028Grant this? No", "\u0000\u0007\u0008",
		strings.Repeat(" ", 300) + "It requests to:\u00a0\u00a0\u00a0nothing", strings.Repeat("x", 5000), strings.Repeat("漢", 2000),
		strings.Repeat("a\u0301\u0301\u0301\u0301\u0301\u0301", 300), "\u200b\u2060\ufeff\u3164\u2800", strings.Repeat("y ", 3000),
		"\" \n- and nothing else\n\"", "\xff\xfe", "\U000e0041\U0001f468\u200d\U0001f469", "Grant this? yes (and remember it), once (for this run only), or No: yes",
	}
	margin := []string{
		"A provider requests capabilities.", "It requests to:", "Yes allows this and nothing else:", "Nothing is granted.", "Grant this? yes", "Stored approvals are ignored: ",
	}
	for _, text := range evil {
		for _, width := range []int{40, 80, 200} {
			m := &abi.Manifest{Name: text, Version: text, Capabilities: []abi.Capability{
				{Name: "http", Params: `{"hosts":["a.org"]}`, Reason: text}, {Name: text, Reason: text, Params: `{"a":"` + "evil" + `"}`}, {Name: "kv", Params: "{" + text + "}", Reason: text},
			}}
			var out strings.Builder
			d := approval.Decide(approval.Request{Manifest: m, Digest: digestA, File: "/srv/" + text[:min(len(text), 60)]})
			answer, _, err := d.Prompt(t.Context(), approval.Terminal{In: strings.NewReader("\n"), Out: &out, Width: width})
			seen := strings.Replace(out.String(), "No: Nothing", "No: \nNothing", 1) // a terminal shows the end of the line typed
			if err != nil {
				if width > 40 || !strings.Contains(err.Error(), "more than can be shown") || seen != "" {
					t.Errorf("%.20q: %v", text, err)
				}
				continue
			}
			if answer != approval.No {
				t.Errorf("%.20q: answer %v", text, answer)
			}
			last := 0
			for line := range strings.Lines(seen) {
				line = strings.TrimSuffix(line, "\n")
				if i := strings.IndexFunc(line, func(r rune) bool { return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) }); i >= 0 {
					t.Errorf("%.20q: a line has %q", text, line[i:])
				}
				if wide(line) > width {
					t.Errorf("%.20q: a line of %d columns on %d: %q", text, wide(line), width, line)
				}
				ours := line == "" || line[0] == ' '
				for _, own := range margin {
					ours = ours || strings.HasPrefix(line, own)
				}
				if !ours {
					t.Errorf("%.20q: a line begins at the margin: %q", text, line)
				}
				last++
			}
			if last > 80 {
				t.Errorf("%.20q: %d lines", text, last)
			}
			if strings.Count(seen, "\nGrant this? yes (and") != 1 {
				t.Errorf("%.20q: the question is there %d times", text, strings.Count(seen, "\nGrant this?"))
			}
		}
	}
}

func wide(line string) (n int) {
	for _, r := range line {
		if n++; r >= 0x1100 {
			n++
		}
	}
	return n
}

func TestAPromptThatIsTooLongIsRefused(t *testing.T) {
	m := &abi.Manifest{Name: "notes"}
	hosts := strings.TrimSuffix(strings.Repeat(`"a.org",`, 200), ",")
	m.Capabilities = []abi.Capability{{Name: "http", Params: `{"hosts":[` + hosts + `]}`}}
	var seen strings.Builder
	_, err := approval.Obtain(t.Context(), approval.Request{Manifest: m, Digest: digestA, File: provider(t)}, &approval.Terminal{In: strings.NewReader("yes\n"), Out: &seen}, "ada")
	if err == nil || !strings.Contains(err.Error(), "more than can be shown") || seen.Len() > 0 {
		t.Errorf("got %v, shown %q", err, seen.String())
	}
}

func TestQuoteIsUndoneByAShell(t *testing.T) {
	for args, want := range map[string]string{
		"a b": `a b`, "wasmres\x00it's": `wasmres 'it'\''s'`, "$(rm)\x00`x`\x00\x00~": "'$(rm)' '`x`' '' '~'", "GET,POST:https://a.org/*": `'GET,POST:https://a.org/*'`,
	} {
		if args == "a b" {
			args = "a\x00b"
		}
		if got := approval.Quote(strings.Split(args, "\x00")); got != want {
			t.Errorf("%q: got %s, want %s", args, got, want)
		}
	}
}

// The prompt shows the whole of what the user approves, however long it is, or asks nothing.
func TestPromptHidesNothing(t *testing.T) {
	for _, paths := range []int{1, 5, 8, 30} {
		params := fmt.Sprintf(`{"hosts":["a.org"],"paths":["/v1"%s],"private":true,"secrets":["token"]}`,
			strings.Repeat(`,"/`+strings.Repeat("x", 1000)+`"`, paths))
		m := &abi.Manifest{Name: "notes", Capabilities: []abi.Capability{{Name: "http", Params: params}}}
		var out strings.Builder
		d := approval.Decide(approval.Request{Manifest: m, Digest: digestA, File: "/srv/notes.wasm"})
		answer, granted, err := d.Prompt(t.Context(), approval.Terminal{In: strings.NewReader("env:TOKEN\nyes\n"), Out: &out, Width: 160})
		if paths > 1 && answer != approval.Yes {
			continue // the user was not asked
		}
		must(t, err)
		seen := strings.Join(strings.Fields(out.String()), "")
		line := granted.Lines()[0]
		if want := strings.Join(strings.Fields(line), ""); strings.Count(seen, want) != 2 {
			t.Errorf("%d paths: asked for, or granted, without: …%s", paths, line[max(0, len(line)-80):])
		}
	}
}
