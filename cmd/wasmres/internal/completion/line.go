package completion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
)

// What the shell offers besides the words of an offer.
const (
	nothing = "none"
	files   = "files"
	folders = "folders"
	modules = "wasm"
)

// An offer is what may stand in the place of a word.
type offer struct {
	besides string
	words   []candidate
}

// A candidate is a word, and what it is.
type candidate struct{ text, usage string }

// A line is a command line up to the word to complete.
type line struct {
	// fixed at creation
	program  *cli.Tree
	newApp   NewApp
	words    []string      // before the one to complete
	word     string        // its beginning
	patience time.Duration // with a provider

	command *cli.Tree
	args    []string // of the command
	flags   []string // with their values
}

// complete returns what may stand in the place of the last word.
func (l *line) complete(ctx context.Context) offer {
	awaiting := l.parse()
	name, value, hasValue := strings.Cut(l.word, "=")
	switch {
	case awaiting != nil:
		return l.values(awaiting, "", l.word)
	case strings.HasPrefix(l.word, "-") && hasValue:
		if f := l.flag(name); f != nil && f.Value != "" {
			return l.values(f, name+"=", value)
		}
		return offer{besides: nothing}
	case strings.HasPrefix(l.word, "-"):
		return l.flagNames()
	case len(l.command.Commands) > 0 && len(l.args) == 0:
		return l.commands()
	case l.command.Name == "help" || l.command == l.program:
		return offer{besides: nothing}
	}
	return l.argument(ctx)
}

// parse finds the command, its flags and arguments. It returns the flag whose value is the word to complete; nil if there is
// none.
func (l *line) parse() (awaiting *cli.FlagInfo) {
	l.command = l.program
	for i := 0; i < len(l.words); i++ {
		word := l.words[i]
		if len(word) < 2 || word[0] != '-' {
			l.argumentOrCommand(word)
			continue
		}
		l.flags = append(l.flags, word)
		f := l.flag(word)
		if f == nil || f.Value == "" || strings.Contains(word, "=") {
			continue
		}
		if i++; i == len(l.words) {
			return f
		}
		l.flags = append(l.flags, l.words[i])
	}
	return nil
}

func (l *line) argumentOrCommand(word string) {
	at := slices.IndexFunc(l.command.Commands, func(c *cli.Tree) bool { return lastWord(c.Name) == word })
	switch {
	case at >= 0 && len(l.args) == 0:
		l.command = l.command.Commands[at]
	case word == "help" && l.command == l.program && len(l.args) == 0: // and the commands that it may be asked about
	default:
		l.args = append(l.args, word)
	}
}

func lastWord(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }

// flag returns the flag of the command that a word names; nil if there is none.
func (l *line) flag(word string) *cli.FlagInfo {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for i, f := range l.command.Flags {
		if f.Name == name || slices.Contains(f.Aliases, name) {
			return &l.command.Flags[i]
		}
	}
	return nil
}

// flagNames offers the flags of the command, its own before those that it shares with others.
func (l *line) flagNames() offer {
	o := offer{besides: nothing}
	for _, own := range []bool{true, false} {
		for _, f := range l.command.Flags {
			if own == (f.Group == "") && !f.Hidden && (f.Repeated || !l.isGiven(f)) {
				o.add(l.word, "--"+f.Name, f.Usage)
			}
		}
	}
	o.add(l.word, "--help", "show how to use it")
	return o
}

func (l *line) isGiven(f cli.FlagInfo) bool {
	return slices.ContainsFunc(l.flags, func(word string) bool {
		name, _, _ := strings.Cut(word, "=")
		return name == "--"+f.Name
	})
}

func (l *line) commands() offer {
	o := offer{besides: nothing}
	for _, c := range l.command.Commands {
		o.add(l.word, lastWord(c.Name), c.Usage)
	}
	if l.command == l.program {
		o.add(l.word, "help", "show all about a command")
	}
	return o
}

// values offers the values of a flag, each after before.
func (l *line) values(f *cli.FlagInfo, before, beginning string) offer {
	o := offer{besides: nothing}
	for _, v := range f.Values {
		o.add(before+beginning, before+v, "")
	}
	switch {
	case len(f.Values) > 0:
	case strings.Contains(f.Value, "FILE") || f.Value == "PATH" || f.Value == "SOURCE":
		o.besides = files
	case f.Value == "FOLDER" || f.Value == "DIR" || strings.HasPrefix(f.Value, "HOST:GUEST"):
		o.besides = folders
	}
	return o
}

// argument offers what the synopsis of the command has in the place of the word.
func (l *line) argument(ctx context.Context) offer {
	wanted := strings.Fields(l.command.Args)
	if len(wanted) == 0 {
		return offer{besides: nothing}
	}
	at := len(l.args)
	if at >= len(wanted) {
		if at = len(wanted) - 1; !strings.Contains(wanted[at], "...") {
			return offer{besides: nothing}
		}
	}
	switch name := strings.Trim(wanted[at], "[]."); {
	case strings.Contains(name, ".wasm"):
		return offer{besides: modules}
	case name == "URI" || name == "TEMPLATE":
		return l.uris(ctx, name == "URI")
	case strings.Contains(name, "FILE") || strings.HasSuffix(name, ".yaml"):
		return offer{besides: files}
	case strings.Contains(name, "FOLDER") || strings.Contains(name, "DIR"):
		return offer{besides: folders}
	}
	return offer{besides: nothing}
}

// add adds a candidate that has the beginning.
func (o *offer) add(beginning, text, usage string) {
	if strings.HasPrefix(text, beginning) {
		o.words = append(o.words, candidate{text, usage})
	}
}

// cell returns a text as one line without tabs and control characters.
func cell(text string) string { return terminal.Cell(text) }
