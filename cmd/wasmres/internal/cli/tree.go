package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A Tree describes a command and those below it, for help, completion, man pages and the reference.
type Tree struct {
	Name        string // the words after the name of the program, as in "version list"; empty for the program
	Usage       string // a phrase
	Args        string // its arguments, as in "PROVIDER.wasm URI"
	Description string // paragraphs; a paragraph of lines that begin with a space is shown as it is
	Category    string // of commands, in the help of the program
	Flags       []FlagInfo
	Commands    []*Tree
}

// A FlagInfo describes a flag of a command.
type FlagInfo struct {
	Name     string
	Aliases  []string
	Value    string // a word for its value, as in FILE; empty if it takes none
	Usage    string
	Default  string // empty for none, for zero, and where Usage has it
	Env      string // the environment variable with its value if the flag is missing; empty for none
	Category string // empty for none
	Group    string // of commands that share the flag, as in "open a provider"; empty for a flag of this command
	Values   []string
	Repeated bool
	Hidden   bool // from help
}

// A ChoiceFlag is a flag whose value is one of a few. Commands check that themselves.
type ChoiceFlag struct {
	*StringFlag
	Values []string
}

// Choice returns a flag whose value is one of values.
func Choice(f *StringFlag, values ...string) Flag { return &ChoiceFlag{f, values} }

// A ChoicesFlag is a [ChoiceFlag] that may be repeated.
type ChoicesFlag struct {
	*StringSliceFlag
	Values []string
}

// Choices returns a flag that may be repeated, each time with one of values.
func Choices(f *StringSliceFlag, values ...string) Flag { return &ChoicesFlag{f, values} }

// A flagGroup has flags that are the same for many commands. A command shares them if it has flags of all its categories.
type flagGroup struct {
	commands   string // what the commands do
	categories []string
}

// Categories of flags of all commands that open a provider, and of those that ask a server.
const (
	CategoryGrants     = "What the provider may touch (nothing unless granted)"
	CategoryLimits     = "What the provider may use"
	CategoryHost       = "wasmres itself"
	CategoryRegistries = "Providers from registries"
	CategoryServer     = "Which server"
)

var flagGroups = []flagGroup{
	{"open a provider", []string{CategoryGrants, CategoryLimits, CategoryRegistries, CategoryHost}},
	{"ask a server", []string{CategoryServer}},
}

// Describe describes a program. It leaves out what is hidden, and the flags --help and --version.
func Describe(app *App) *Tree {
	return &Tree{Usage: app.Usage, Args: "COMMAND", Description: app.Description, Commands: describeAll("", app.Commands)}
}

// Find returns the description of a command by the words of its name; nil if there is none.
func (t *Tree) Find(words ...string) *Tree {
	name := strings.Join(words, " ")
	if name == t.Name {
		return t
	}
	for _, c := range t.Commands {
		if found := c.Find(words...); found != nil {
			return found
		}
	}
	return nil
}

// All returns the descriptions of a command and of all below it.
func (t *Tree) All() []*Tree {
	all := []*Tree{t}
	for _, c := range t.Commands {
		all = append(all, c.All()...)
	}
	return all
}

func describeAll(parent string, commands []*Command) (all []*Tree) {
	for _, c := range commands {
		if c.Hidden || c.Name == "help" { // which urfave/cli adds
			continue
		}
		all = append(all, describe(strings.TrimSpace(parent+" "+c.Name), c))
	}
	return all
}

func describe(name string, c *Command) *Tree {
	t := &Tree{
		Name: name, Usage: c.Usage, Args: c.ArgsUsage, Description: c.Description, Category: c.Category,
		Commands: describeAll(name, c.Subcommands),
	}
	if t.Args == "" && len(t.Commands) > 0 {
		t.Args = "COMMAND"
	}
	for _, f := range c.Flags {
		if f != cli.HelpFlag {
			t.Flags = append(t.Flags, describeFlag(f))
		}
	}
	for _, g := range flagGroups {
		g.mark(t.Flags)
	}
	return t
}

// mark sets the group of flags that belong to it, if there are flags of all its categories.
func (g flagGroup) mark(flags []FlagInfo) {
	for _, category := range g.categories {
		if !slices.ContainsFunc(flags, func(f FlagInfo) bool { return f.Category == category }) {
			return
		}
	}
	for i := range flags {
		if slices.Contains(g.categories, flags[i].Category) {
			flags[i].Group = g.commands
		}
	}
}

func describeFlag(f Flag) FlagInfo {
	info := FlagInfo{Name: f.Names()[0], Aliases: f.Names()[1:]}
	if doc, ok := f.(cli.DocGenerationFlag); ok {
		before, rest, quoted := strings.Cut(doc.GetUsage(), "`")
		value, after, _ := strings.Cut(rest, "`")
		if info.Usage = before + value + after; doc.TakesValue() {
			if info.Value = value; !quoted {
				info.Value = "VALUE"
			}
			info.Default = strings.Trim(doc.GetDefaultText(), `"`)
			if info.Default == "0" || info.Default == "0s" { // of flags that do nothing unless they are given
				info.Default = ""
			}
		} else if doc.GetDefaultText() == "true" {
			info.Default = "true"
		}
		if env := doc.GetEnvVars(); len(env) > 0 {
			info.Env = env[0]
		}
	}
	if slice, ok := f.(cli.DocGenerationSliceFlag); ok {
		info.Repeated = slice.IsSliceFlag()
	}
	if c, ok := f.(cli.CategorizableFlag); ok {
		info.Category = c.GetCategory()
	}
	if v, ok := f.(cli.VisibleFlag); ok {
		info.Hidden = !v.IsVisible()
	}
	switch f := f.(type) {
	case *ChoiceFlag:
		info.Values = f.Values
	case *ChoicesFlag:
		info.Values = f.Values
	}
	return info
}
