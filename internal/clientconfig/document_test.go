package clientconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/clientconfig"
)

func TestBrokenConfigurationsAreLeftAlone(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	for _, tt := range []struct {
		id, text string
		want     string // the error, after the name of the file
	}{
		{"cursor", "{\n  \"mcpServers\": {\n    \"a\": {]\n", ":3: not JSON: invalid character ']' at start of value"},
		{"cursor", "{\n\"a\": 1", ":2: not JSON: parsing object after value: unexpected EOF"},
		{"cursor", "[]", ":1: the configuration is not an object"},
		{"cursor", "\n\n{\"a\":" + deep, ":3: objects and lists are nested deeper than 200"},
		{"cursor", "{\"mcpServers\": {\n\"a\": \"\xff\"}}", ""}, // a matter of the client
		{"cursor", "\xff\xfe{\x00}\x00", ":1: not JSON: invalid character '\\xff' at start of value"},
		{"codex", "model = \"a\"\nmodel = \"b\"\n", ":2: not TOML: "},
		{"codex", "a = [\n1,\n", ":2: not TOML: "},
		{"codex", "a = " + deep, ":1: not TOML: "},
		{"goose", "a: 1\nb: [\n", ":2: this is not YAML: "},
		{"goose", "a: 1\na: 2\n", ":2: the key \"a\" is here twice: it is on line 1 already"},
		{"goose", "a: &x 1\nb: *x\n", ":1: anchors and aliases are not allowed: write the value out"},
		{"goose", "- a\n", ":1: the configuration is not a mapping"},
		{"goose", "a: " + deep[:100], ":1: this is nested too deep"},
	} {
		c, s := client(t, tt.id), system(t)
		file := write(t, c, s, tt.text)
		_, err := clientconfig.Open(c, s)
		if tt.want == "" {
			continue
		}
		var syntax *clientconfig.SyntaxError
		if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), file+tt.want) {
			t.Errorf("%.60q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

// Forms that are valid, and in which an entry has no place of its own.
func TestFormsThatAreNotEdited(t *testing.T) {
	for _, tt := range []struct{ id, text, want string }{
		{"cursor", "{\"mcpServers\": []}", ":1: mcpServers is not a table of servers"},
		{"cursor", "{\"mcpServers\": {},\n\"mcpServers\": {}}", ":2: \"mcpServers\" is here twice: remove one of them"},
		{"cursor", "{\"mcpServers\": {\n\"notes\": 1}}", ":2: this is written in a form that wasmres does not edit"},
		{"codex", "mcp_servers = {}\n", ": this is written in a form that wasmres does not edit"},
		{"codex", "mcp_servers = 1\n", ": mcp_servers is not a table of servers"},
		{"codex", "[[mcp_servers]]\n", ": mcp_servers is not a table of servers"},
		{"codex", "\n[mcp_servers]\nnotes = {command = \"x\"}\n", ":3: this is written in a form that wasmres does not edit"},
		{"codex", "mcp_servers.notes.command = \"x\"\n", ":1: this is written in a form that wasmres does not edit"},
		{"goose", "extensions: {a: {type: stdio}}\n", ":1: this is written in a form that wasmres does not edit"},
		{"goose", "extensions: [a]\n", ":1: extensions is not a table of servers"},
		{"goose", "{extensions: {}}\n", ":1: this is written in a form that wasmres does not edit"},
		{"goose", "extensions:\n  notes: {cmd: x}\n", ":2: this is written in a form that wasmres does not edit"},
	} {
		c, s := client(t, tt.id), system(t)
		file := write(t, c, s, tt.text)
		d, err := clientconfig.Open(c, s)
		must(t, err)
		if _, err = d.Set(notes()); err == nil || !strings.HasPrefix(err.Error(), file+tt.want) {
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

// An entry keeps what its user has added to it.
func TestTheUsersFieldsOfAnEntryStay(t *testing.T) {
	for id, text := range map[string]string{
		"windsurf": "{\"mcpServers\": {\"notes\": {\"disabled\": true, \"command\": \"wasmres\", \"args\": [\"run\"], \"env\": {\"A\": \"1\"}}}}",
		"codex":    "[mcp_servers.notes]\nenabled = false # not yet\ncommand = \"wasmres\"\nargs = [\n  # nothing\n]\nenv = { A = \"1\" }\n[mcp_servers.notes.tools.read]\napproval_mode = \"approve\"\n",
		"goose":    "extensions:\n  notes:\n    args: [run]\n    enabled: false\n    cmd: wasmres\n    type: stdio\n    timeout: 10\n    envs:\n      A: \"1\"\n",
	} {
		c, s := client(t, id), system(t)
		write(t, c, s, text)
		server := notes()
		server.Env = map[string]string{"B": "2"}
		after := apply(t, c, s, set(server))
		for _, want := range []string{"disabled\": true", "enabled = false # not yet", "approval_mode", "enabled: false", "timeout: 10"} {
			if strings.Contains(text, want) && !strings.Contains(after, want) {
				t.Errorf("%s: %q is gone:\n%s", id, want, after)
			}
		}
		if !strings.Contains(after, "notes.wasm") || !strings.Contains(after, "A") || !strings.Contains(after, "B") {
			t.Errorf("%s: got\n%s", id, after)
		}
	}
}

func TestWriteKeepsModeAndABackup(t *testing.T) {
	c, s := client(t, "cursor"), system(t)
	file := write(t, c, s, "{}")
	must(t, os.Chmod(file, 0o640))
	var backups []string
	for i := range 8 {
		d, err := clientconfig.Open(c, s)
		must(t, err)
		before := read(t, file)
		server := notes()
		server.Args = []string{"run", fmt.Sprint(i)}
		change, err := d.Set(server)
		must(t, err)
		backup, err := change.Write(time.Unix(int64(i), 0))
		must(t, err)
		if got := read(t, backup); got != before {
			t.Errorf("the backup is %q, want %q", got, before)
		}
		backups = append(backups, backup)
		for _, name := range []string{file, backup} {
			if info, err := os.Stat(name); err != nil || info.Mode() != 0o640 {
				t.Errorf("%s: got %v, %v, want mode 0640", name, info.Mode(), err)
			}
		}
	}
	for i, name := range backups {
		if _, err := os.Stat(name); (err == nil) != (i >= 3) {
			t.Errorf("backup %d of 8: %v, want the newest 5", i+1, err)
		}
	}
}

func TestWriteMakesAFileThatIsMissing(t *testing.T) {
	c, s := client(t, "codex"), system(t)
	d, err := clientconfig.Open(c, s)
	must(t, err)
	change, err := d.Set(notes())
	must(t, err)
	backup, err := change.Write(time.Now())
	must(t, err)
	if backup != "" || !strings.Contains(read(t, d.File), "[mcp_servers.notes]") {
		t.Errorf("got backup %q", backup)
	}
	if info, err := os.Stat(d.File); err != nil || info.Mode() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", info.Mode(), err)
	}
}

func TestLinksStayLinks(t *testing.T) {
	for name, exists := range map[string]bool{"to a file": true, "to no file": false} {
		t.Run(name, func(t *testing.T) {
			c, s := client(t, "cursor"), system(t)
			file, dotfile := c.File(s), filepath.Join(s.Home, "dotfiles", "cursor.json")
			must(t, os.MkdirAll(filepath.Dir(file), 0o700), os.Symlink("../dotfiles/cursor.json", file))
			if exists {
				must(t, os.MkdirAll(filepath.Dir(dotfile), 0o700), os.WriteFile(dotfile, []byte("{}"), 0o600))
			}
			d, err := clientconfig.Open(c, s)
			must(t, err)
			change, err := d.Set(notes())
			must(t, err)
			if exists && !strings.Contains(change.Diff(), "+++ "+file+" (a link to "+dotfile+")\n") {
				t.Errorf("the diff does not name the file:\n%s", change.Diff())
			}
			_, err = change.Write(time.Now())
			must(t, err)
			if target, err := os.Readlink(file); err != nil || target != "../dotfiles/cursor.json" {
				t.Errorf("got %q, %v, want the link as it was", target, err)
			}
			if !strings.Contains(read(t, dotfile), "notes.wasm") {
				t.Error("the file behind the link was not changed")
			}
		})
	}
}

// A project's files come with it: they do not lead to others of the user.
func TestALinkOfAProjectDoesNotLeadOutside(t *testing.T) {
	c, s := client(t, "project"), system(t)
	victim := filepath.Join(s.Home, "victim.json")
	must(t, os.WriteFile(victim, []byte("{}"), 0o600), os.Symlink(victim, c.File(s)))
	if _, err := clientconfig.Open(c, s); err == nil || !strings.Contains(err.Error(), "not in this folder") {
		t.Errorf("got %v, want a refusal", err)
	}
}

// A client that writes between reading and writing loses nothing.
func TestAConcurrentChangeIsNotOverwritten(t *testing.T) {
	for name, tt := range map[string]struct{ before, meanwhile string }{
		"changed": {"{}", `{"theme": "dark"}`}, "made": {"", "{}"}, "removed": {"{}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := client(t, "cursor"), system(t)
			file := write(t, c, s, tt.before)
			if tt.before == "" {
				must(t, os.Remove(file))
			}
			d, err := clientconfig.Open(c, s)
			must(t, err)
			change, err := d.Set(notes())
			must(t, err)
			if tt.meanwhile == "" {
				must(t, os.Remove(file))
			} else {
				must(t, os.WriteFile(file, []byte(tt.meanwhile), 0o600))
			}
			if _, err := change.Write(time.Now()); !errors.Is(err, clientconfig.ErrChanged) {
				t.Errorf("got %v, want ErrChanged", err)
			}
			if got, _ := os.ReadFile(file); string(got) != tt.meanwhile {
				t.Errorf("got %q, want %q", got, tt.meanwhile)
			}
			if all, _ := filepath.Glob(file + "*"); len(all) > 1 {
				t.Errorf("left behind: %q", all)
			}
		})
	}
}

func TestEntriesOfWasmres(t *testing.T) {
	c, s := client(t, "cursor"), system(t)
	write(t, c, s, `{"mcpServers": {
		"a": {"command": "/usr/bin/wasmres", "args": ["run", "a.wasm"]},
		"b": {"command": "C:\\Program Files\\Wasmres.EXE", "args": ["run", "--kv", "b.wasm"]},
		"c": {"command": "/opt/renamed", "args": ["run", "c.wasm"]},
		"d": {"command": "wasmres", "args": ["read", "d.wasm"]},
		"e": {"command": "notwasmres", "args": ["run"]},
		"f": {"url": "https://example.org"},
		"g": 1, "h": {"command": 1, "args": "run"}
	}}`)
	d, err := clientconfig.Open(c, s)
	must(t, err)
	var names []string
	for _, e := range d.Entries() {
		if e.IsWasmres("/opt/renamed") {
			names = append(names, e.Name)
		}
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Errorf("got %q", got)
	}
}

func TestANameIsNotWrittenAsItIs(t *testing.T) {
	for _, id := range []string{"cursor", "codex", "goose"} {
		c, s := client(t, id), system(t)
		d, err := clientconfig.Open(c, s)
		must(t, err)
		for _, name := range []string{"", "__proto__", "a b", "A", "x]\n[y", "a.b"} {
			server := notes()
			server.Name = name
			if _, err := d.Set(server); err == nil {
				t.Errorf("%s: the name %q is accepted", id, name)
			}
		}
	}
}
