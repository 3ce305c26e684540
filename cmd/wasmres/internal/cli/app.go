package cli

import (
	"context"
	"fmt"
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
	cli.FlagStringer = flagLine
	cli.VersionPrinter = func(c *Context) { fmt.Fprintln(c.App.Writer, c.App.Name, c.App.Version) }
	app.HideHelpCommand = true
	app.DisableSliceFlagSeparator = true
	app.OnUsageError = OnUsageError
	app.ExitErrHandler = func(*Context, error) {} // the caller decides
	app.Action = noCommand
	return app.RunContext(ctx, flagsFirst(app, args))
}

// defaultFlagLine is how urfave/cli describes a flag: its names, a tab and its usage.
var defaultFlagLine = cli.FlagStringer

// flagLine removes the second copy of the names, which urfave/cli adds to flags that may be repeated. The usage of such a
// flag says that it may be repeated.
func flagLine(f Flag) string {
	names, usage, _ := strings.Cut(defaultFlagLine(f), "\t")
	names, _, _ = strings.Cut(names, " [ ")
	return names + "\t" + usage
}

// noCommand runs when the first argument names no command.
func noCommand(c *Context) error {
	switch name := c.Args().First(); name {
	case "":
		return cli.ShowAppHelp(c)
	case "help":
		return help(c, c.Args().Get(1))
	case "version":
		cli.ShowVersion(c)
		return nil
	default:
		return unknownCommand(c, name)
	}
}

// help does for "help NAME" what --help does for the command.
func help(c *Context, name string) error {
	if name == "" {
		return cli.ShowAppHelp(c)
	}
	command := c.App.Command(name)
	switch {
	case command == nil:
		return unknownCommand(c, name)
	case len(command.Subcommands) > 0: // urfave/cli sets their help names when the command runs
		return c.App.RunContext(c.Context, []string{c.App.Name, name, "--help"})
	}
	return cli.ShowCommandHelp(c, name)
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
