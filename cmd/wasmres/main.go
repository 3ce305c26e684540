// Command wasmres serves MCP resources from WebAssembly providers nobody has to trust.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// Exit statuses.
const (
	exitOK      = 0
	exitFailed  = 1 // the provider or the request failed
	exitUsage   = 2
	exitMissing = 3 // a compiler is not installed
)

func main() {
	runtime.Main()
	sqlcap.Main()
	space()
	hold()
	runToEnd()
}

// runToEnd runs the command line of this process until it has ended, or is asked to.
func runToEnd() {
	ctx, stop := withSignals(context.Background(), os.Stderr)
	status := Main(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Main runs the command line args, the program's name first, and gives the exit status.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	app := newApp(in, out, errOut)
	err := app.RunContext(ctx, flagsFirst(app, args))
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(errOut, "wasmres: %s\n", oneLine(err))
	printCrash(errOut, err)
	var usage usageError
	var missing missingTool
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &missing):
		return exitMissing
	}
	return exitFailed
}

func newApp(in io.Reader, out, errOut io.Writer) *cli.App {
	cli.FlagStringer = flagLine
	cli.VersionPrinter = func(c *cli.Context) { fmt.Fprintln(c.App.Writer, "wasmres", c.App.Version) }
	return &cli.App{
		Name:                      "wasmres",
		Usage:                     "serve MCP resources from WebAssembly providers nobody has to trust",
		Description:               description,
		Version:                   version(),
		Reader:                    in,
		Writer:                    out,
		ErrWriter:                 errOut,
		HideHelpCommand:           true,
		DisableSliceFlagSeparator: true,
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {}, // Main decides
		Action:                    noCommand,
		Commands: []*cli.Command{
			newCommand(), devCommand(), buildCommand(), testCommand(), checkCommand(),
			runCommand(), listCommand(), templatesCommand(), readCommand(), completeCommand(), inspectCommand(), benchCommand(), doctorCommand(),
			permissionCommand(), policyCommand(), cacheCommand(),
		},
	}
}

const description = `A provider is a .wasm file that lists and reads resources. It runs in a sandbox: it has
no files, no network and no environment but what you grant with flags, and limits on
memory, time and output.

   wasmres run provider.wasm                    serve an MCP client on stdin and stdout
   wasmres run --http 127.0.0.1:8080 p.wasm     serve MCP clients at http://127.0.0.1:8080/mcp
   wasmres list p.wasm                          look at it without a client
   wasmres read p.wasm greeting://World

   wasmres new notes                            start a provider of your own

Exit status: 0 fine, 1 the provider or the request failed, 2 wrong usage, 3 no compiler.`

// A usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(c *cli.Context, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	name := c.App.Name
	if c.Command != nil && c.Command.HelpName != "" {
		name = c.Command.HelpName
	}
	return usageError{fmt.Errorf("%w (see '%s --help')", err, name)}
}

// noCommand runs when what is asked for is none of the commands.
func noCommand(c *cli.Context) error {
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

// help is for those who do not write --help.
func help(c *cli.Context, name string) error {
	if name == "" {
		return cli.ShowAppHelp(c)
	}
	command := c.App.Command(name)
	switch {
	case command == nil:
		return unknownCommand(c, name)
	case len(command.Subcommands) > 0: // which are known when it runs
		return c.App.RunContext(c.Context, []string{c.App.Name, name, "--help"})
	}
	return cli.ShowCommandHelp(c, name)
}

func unknownCommand(c *cli.Context, name string) error {
	return usagef(c, "there is no command %q%s", name, suggestion(c.App, name))
}

// suggestion is what a mistyped command may have meant, if that is likely.
func suggestion(app *cli.App, typed string) string {
	for _, c := range app.Commands {
		if strings.HasPrefix(c.Name, typed[:1]) && strings.Contains(cli.SuggestCommand(app.Commands, typed), strconv.Quote(c.Name)) {
			return fmt.Sprintf("; did you mean %q?", c.Name)
		}
	}
	return ""
}
