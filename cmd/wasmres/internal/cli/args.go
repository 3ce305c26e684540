package cli

import (
	"slices"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/printable"
)

// flagsFirst moves the flags of a command before its arguments, up to "--". The flag parser stops at the first argument,
// and users write flags on either side of it.
func flagsFirst(app *App, args []string) []string {
	at, command := findCommand(app, args)
	if command == nil {
		return args
	}
	var flags, rest []string
	for i := at + 1; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		flags = append(flags, arg)
		if !takesValue(command, arg) {
			continue
		}
		if i++; i == len(args) {
			return append(args[:at+1:at+1], flags...) // its value is missing: the parser reports that
		}
		flags = append(flags, args[i])
	}
	out := append(append([]string{}, args[:at+1]...), flags...)
	return append(append(out, "--"), rest...)
}

// findCommand returns the command that args name, and the index of the last word of its name.
func findCommand(app *App, args []string) (at int, found *Command) {
	commands := app.Commands
	for i := 1; i < len(args); i++ {
		if strings.HasPrefix(args[i], "-") {
			continue
		}
		named := slices.IndexFunc(commands, func(c *Command) bool { return c.HasName(args[i]) })
		if named < 0 {
			break
		}
		at, found = i, commands[named]
		if commands = found.Subcommands; len(commands) == 0 {
			break
		}
	}
	return at, found
}

// takesValue reports whether the argument after the flag arg is its value.
func takesValue(command *Command, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	if strings.Contains(name, "=") {
		return false
	}
	for _, f := range command.Flags {
		for _, n := range f.Names() {
			if n == name {
				_, isBool := f.(*BoolFlag)
				return !isBool
			}
		}
	}
	return false
}

// Arguments returns the arguments of a command, which must be as many as their names.
func Arguments(c *Context, names ...string) ([]string, error) {
	if c.NArg() < len(names) {
		return nil, Usagef(c, "missing argument %s", names[c.NArg()])
	}
	if c.NArg() > len(names) {
		return nil, Usagef(c, "one argument too many: %q", c.Args().Get(len(names)))
	}
	return c.Args().Slice(), nil
}

// OneLine returns the text of an error as one line without control characters.
func OneLine(err error) string {
	return printable.Line(terminal.OneSpace(err.Error()))
}
