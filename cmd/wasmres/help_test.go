package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/commands"
)

// Bounds of the help of each command: a screen of 80 columns, which breaks no example, and lines that an editor shows whole.
const (
	maxHelpLines = 40
	maxHelpLine  = 100
	maxExample   = 80
)

// allCommands describes every command.
func allCommands() []*cli.Tree { return cli.Describe(commands.New(nil, nil, nil)).All() }

func helpOf(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if status := Main(t.Context(), append([]string{"wasmres"}, args...), nil, &out, &out); status != cli.StatusOK {
		t.Fatalf("%s: status %d, %s", args, status, &out)
	}
	return out.String()
}

// TestHelpFitsOnAScreen looks at the help of every command.
func TestHelpFitsOnAScreen(t *testing.T) {
	for _, command := range allCommands() {
		text := helpOf(t, append(strings.Fields(command.Name), "--help")...)
		if lines := strings.Count(text, "\n"); lines > maxHelpLines {
			t.Errorf("wasmres %s --help has %d lines:\n%s", command.Name, lines, text)
		}
		for line := range strings.Lines(text) {
			width := utf8.RuneCountInString(line) - 1
			if width > maxHelpLine || width > maxExample && strings.HasPrefix(line, "   wasmres ") {
				t.Errorf("wasmres %s --help: the line is too long: %s", command.Name, line)
			}
		}
		if !strings.HasPrefix(text, strings.TrimSpace("wasmres "+command.Name)+" - ") {
			t.Errorf("wasmres %s --help begins with %.60q", command.Name, text)
		}
	}
}

// TestOwnFlagsComeFirst looks at the help of every command: its own flags stand before those it shares with others, and each
// of both is named.
func TestOwnFlagsComeFirst(t *testing.T) {
	for _, command := range allCommands() {
		text := helpOf(t, append(strings.Fields(command.Name), "--help")...)
		shared := strings.Index(text, "\nFlags of all commands that ")
		for _, f := range command.Flags {
			at := strings.Index(text, "--"+f.Name)
			switch {
			case f.Hidden:
			case at < 0:
				t.Errorf("wasmres %s --help does not name --%s", command.Name, f.Name)
			case f.Group == "" && shared >= 0 && at > shared:
				t.Errorf("wasmres %s --help: --%s stands behind the flags of other commands", command.Name, f.Name)
			case f.Group != "" && (shared < 0 || !strings.Contains(text[shared:], "--"+f.Name)):
				t.Errorf("wasmres %s --help: --%s does not stand among the flags of other commands", command.Name, f.Name)
			}
		}
	}
}

// TestHelpOfAllFlags looks at what "wasmres help COMMAND" prints: the usage of each flag.
func TestHelpOfAllFlags(t *testing.T) {
	for _, command := range allCommands()[1:] {
		text := strings.Join(strings.Fields(helpOf(t, append([]string{"help"}, strings.Fields(command.Name)...)...)), " ")
		for _, f := range command.Flags {
			if want := strings.Join(strings.Fields(f.Synopsis()+" "+f.FullUsage()), " "); !f.Hidden && !strings.Contains(text, want) {
				t.Errorf("wasmres help %s lacks: %s", command.Name, want)
			}
		}
	}
	if text := helpOf(t, "help", "commands"); !strings.Contains(text, "\n   rollback ") {
		t.Errorf("wasmres help commands prints\n%s", text)
	}
}

// TestValuesOfFlags looks at flags with a few values: the default is one of them, and the usage names all.
func TestValuesOfFlags(t *testing.T) {
	for _, command := range allCommands() {
		for _, f := range command.Flags {
			if len(f.Values) == 0 {
				continue
			}
			if f.Default != "" && !slices.Contains(f.Values, f.Default) {
				t.Errorf("wasmres %s: the default of --%s is %s, none of %q", command.Name, f.Name, f.Default, f.Values)
			}
			for _, v := range f.Values {
				if !strings.Contains(f.FullUsage(), v) {
					t.Errorf("wasmres %s: the usage of --%s lacks %s", command.Name, f.Name, v)
				}
			}
		}
	}
}
