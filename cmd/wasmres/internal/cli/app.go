package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// The types of urfave/cli that commands use.
type (
	App             = cli.App
	Command         = cli.Command
	Context         = cli.Context
	ActionFunc      = cli.ActionFunc
	Flag            = cli.Flag
	BoolFlag        = cli.BoolFlag
	DurationFlag    = cli.DurationFlag
	Float64Flag     = cli.Float64Flag
	IntFlag         = cli.IntFlag
	StringFlag      = cli.StringFlag
	StringSliceFlag = cli.StringSliceFlag
	Uint64Flag      = cli.Uint64Flag
)

// Run runs a command line, whose first argument is the name of the program. Its error is for [Status].
//
// app has the names, texts, streams and commands; Run sets its other fields.
func Run(ctx context.Context, app *App, args []string) error {
	cli.HelpPrinter = printHelp
	cli.VersionPrinter = func(c *Context) { fmt.Fprintln(c.App.Writer, c.App.Name, c.App.Version) }
	app.HideHelpCommand = true
	app.DisableSliceFlagSeparator = true
	app.OnUsageError = OnUsageError
	app.ExitErrHandler = func(*Context, error) {} // the caller decides
	app.Action = noCommand
	return app.RunContext(ctx, flagsFirst(app, args))
}

// printHelp takes the place of the templates of urfave/cli.
func printHelp(w io.Writer, _ string, of any) {
	switch of := of.(type) {
	case *App:
		_ = PrintHelp(w, Describe(of)) // urfave/cli has no use for the error
	case *Command:
		_, name, _ := strings.Cut(of.HelpName, " ")
		_ = PrintHelp(w, describe(name, of))
	}
}

// noCommand runs when the first argument names no command.
func noCommand(c *Context) error {
	switch name := c.Args().First(); name {
	case "":
		return cli.ShowAppHelp(c)
	case "help":
		return manual(c, c.Args().Tail())
	default:
		return unknownCommand(c, name)
	}
}

// manual prints all about the command that words name.
func manual(c *Context, words []string) error {
	program := Describe(c.App)
	if len(words) == 0 {
		return PrintHelp(c.App.Writer, program)
	}
	if len(words) == 1 && words[0] == allCommands {
		return PrintManual(c.App.Writer, program)
	}
	command := program.Find(words...)
	if command == nil {
		return unknownCommand(c, strings.Join(words, " "))
	}
	return PrintManual(c.App.Writer, command)
}

func unknownCommand(c *Context, name string) error {
	return Usagef(c, "there is no command %q%s", name, suggestion(c.App, name))
}

// suggestion names the command that a mistyped one is close to; empty if there is none.
func suggestion(app *App, typed string) string {
	for _, c := range app.Commands {
		if strings.HasPrefix(c.Name, typed[:1]) && strings.Contains(cli.SuggestCommand(app.Commands, typed), strconv.Quote(c.Name)) {
			return fmt.Sprintf("; did you mean %q?", c.Name)
		}
	}
	return ""
}

// Group completes a command that has subcommands. Without one of them it shows its help.
func Group(c *Command) *Command {
	c.HideHelpCommand = true
	c.OnUsageError = OnUsageError
	c.Action = func(ctx *Context) error {
		name := ctx.Args().First()
		if name == "" || name == "help" {
			return cli.ShowSubcommandHelp(ctx)
		}
		var names []string
		for _, sub := range c.Subcommands {
			names = append(names, sub.Name)
		}
		return Usagef(ctx, "there is no command %q: it is one of %s", c.Name+" "+name, strings.Join(names, ", "))
	}
	return c
}
