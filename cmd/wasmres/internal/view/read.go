package view

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/contents"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/runtime"
)

// ReadCommand returns the command read.
func ReadCommand() *cli.Command {
	return providers.NewCommand(&cli.Command{
		Name: "read", Usage: "read one resource", ArgsUsage: providers.ArgUsage + " URI",
		Description: `On a terminal, shows text with control characters escaped, Markdown as a page (--raw: as it was
written), and pictures if the terminal draws them (kitty, iTerm2). NO_COLOR=1 has no styles. A pipe, or
a file with -o, gets the bytes. Of a directory, which has none, it lists the children.

   wasmres read hello.wasm greeting://World
   wasmres read -o logo.png provider.wasm files://logo.png`,
		Flags: []cli.Flag{
			cli.FormatFlag(cli.ResultFormats),
			&cli.BoolFlag{Name: "raw", Category: cli.CategoryOutput, Usage: "on a terminal, show Markdown as it was written, and no pictures"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: cli.CategoryOutput, Usage: "write the bytes to `FILE`; - is standard output"},
		},
	}, readResource, "URI")
}

// readResource reads a resource or, where there is none but a directory of that URI, lists that.
func readResource(c *cli.Context, a *app.App, args []string) error {
	err := readContents(c, a, args[1])
	if abi.CodeOf(err) != abi.CodeNotFound {
		return err
	}
	children, notDirectory := allPages(c.Context, a, "resources/directory/read", "resources", map[string]string{"uri": args[1]})
	switch {
	case notDirectory != nil && isNoDirectory(notDirectory):
		return err
	case notDirectory != nil:
		return notDirectory
	case c.String("output") != "" && c.String("output-format") == cli.FormatTable:
		return fmt.Errorf("%s is a directory, which has no bytes: leave -o out to list it", args[1])
	}
	return printResources(c, children)
}

// isNoDirectory reports whether an error says that a URI is not one of a directory, or that the provider has none.
func isNoDirectory(err error) bool {
	var rpc *runtime.RPCError
	if errors.As(err, &rpc) && rpc.Code == methodNotFound {
		return true
	}
	return abi.CodeOf(err) == abi.CodeNotFound || abi.CodeOf(err) == abi.CodeInvalidParams
}

const methodNotFound = -32601 // of JSON-RPC

func readContents(c *cli.Context, a *app.App, uri string) error {
	format := c.String("output-format")
	if format != cli.FormatTable {
		result, err := a.Call(c.Context, "resources/read", map[string]string{"uri": uri})
		if err != nil {
			return err
		}
		return cli.PrintData(c.App.Writer, format, result)
	}
	all, err := a.Provider().Read(c.Context, uri)
	if err != nil {
		return err
	}
	if file := c.String("output"); file != "" {
		return saveContents(c, all, file)
	}
	return showContents(c.App.Writer, all, c.Bool("raw"))
}

// saveContents writes the only content of a resource to a file, or for - to standard output.
func saveContents(c *cli.Context, all []runtime.Content, file string) error {
	if len(all) != 1 {
		return fmt.Errorf("the resource has %d contents, and a file can have one: use --output-format json", len(all))
	}
	if file == "-" {
		_, err := c.App.Writer.Write(all[0].Data)
		return err
	}
	if err := os.WriteFile(file, all[0].Data, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "wrote %s, %s, to %s\n", terminal.Size(uint64(len(all[0].Data))), contents.TypeOf(&all[0]), file)
	return nil
}

// showContents prints contents for a person. It writes a single content to a pipe or file as it is.
func showContents(w io.Writer, all []runtime.Content, raw bool) error {
	onTerminal := terminal.IsTerminal(w)
	if len(all) == 1 && !onTerminal {
		_, err := w.Write(all[0].Data)
		return err
	}
	style := contents.NewStyle(w)
	style.Raw = raw
	for i := range all {
		c := &all[i]
		if len(all) > 1 {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "── %s  %s  %s\n", printable.Line(c.URI), contents.TypeOf(c), terminal.Size(uint64(len(c.Data))))
		}
		write := contents.WritePlain
		if onTerminal {
			write = style.Write
		}
		if err := write(w, c); err != nil {
			return err
		}
	}
	return nil
}
