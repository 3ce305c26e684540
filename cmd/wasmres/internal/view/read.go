package view

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/printable"
	runtime "github.com/wasmres/wasmres/runtime"
)

// ReadCommand returns the command read.
func ReadCommand() *cli.Command {
	return providers.NewCommand(&cli.Command{
		Name: "read", Usage: "read one resource", ArgsUsage: providers.ArgUsage + " URI",
		Description: `Prints text. Writes other content to a file with -o, or to a pipe, and shows images on terminals
that support them (kitty, iTerm2, WezTerm).

   wasmres read hello.wasm greeting://World
   wasmres read -o logo.png provider.wasm files://logo.png`,
		Flags: []cli.Flag{
			cli.FormatFlag(cli.ResultFormats),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: cli.CategoryOutput, Usage: "write the bytes to `FILE`; - is standard output"},
		},
	}, readResource, "URI")
}

func readResource(c *cli.Context, a *app.App, args []string) error {
	format := c.String("output-format")
	if format != cli.FormatTable {
		result, err := a.Call(c.Context, "resources/read", map[string]string{"uri": args[1]})
		if err != nil {
			return err
		}
		return cli.PrintData(c.App.Writer, format, result)
	}
	contents, err := a.Provider().Read(c.Context, args[1])
	if err != nil {
		return err
	}
	if file := c.String("output"); file != "" {
		return saveContents(c, contents, file)
	}
	return showContents(c.App.Writer, contents)
}

// saveContents writes the only content of a resource to a file, or for - to standard output.
func saveContents(c *cli.Context, contents []runtime.Content, file string) error {
	if len(contents) != 1 {
		return fmt.Errorf("the resource has %d contents, and a file can have one: use --output-format json", len(contents))
	}
	if file == "-" {
		_, err := c.App.Writer.Write(contents[0].Data)
		return err
	}
	if err := os.WriteFile(file, contents[0].Data, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "wrote %s, %s, to %s\n", terminal.Size(uint64(len(contents[0].Data))), orUnknown(contents[0].MIMEType), file)
	return nil
}

// showContents prints contents for a person. It writes a single content to a pipe or file as it is.
func showContents(w io.Writer, contents []runtime.Content) error {
	onTerminal := terminal.IsTerminal(w)
	if len(contents) == 1 && !onTerminal {
		_, err := w.Write(contents[0].Data)
		return err
	}
	for i, c := range contents {
		if len(contents) > 1 {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "── %s  %s  %s\n", printable.Line(c.URI), orUnknown(c.MIMEType), terminal.Size(uint64(len(c.Data))))
		}
		if err := showContent(w, &c, onTerminal); err != nil {
			return err
		}
	}
	return nil
}

func showContent(w io.Writer, c *runtime.Content, onTerminal bool) error {
	switch {
	case c.Kind == abi.KindText && onTerminal:
		return endLine(w, []byte(printable.Text(string(c.Data))))
	case c.Kind == abi.KindText:
		return endLine(w, c.Data)
	case onTerminal && showImage(w, c):
		return nil
	}
	_, err := fmt.Fprintf(w, "%s of %s: write it to a file with -o FILE\n", terminal.Size(uint64(len(c.Data))), orUnknown(c.MIMEType))
	return err
}

// endLine writes p, and a line feed unless p ends with one.
func endLine(w io.Writer, p []byte) error {
	if !bytes.HasSuffix(p, []byte("\n")) {
		p = append(bytes.Clone(p), '\n')
	}
	_, err := w.Write(p)
	return err
}

func orUnknown(mimeType string) string {
	if mimeType == "" {
		return "no MIME type"
	}
	return printable.Line(mimeType)
}
