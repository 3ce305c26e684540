package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
)

func readCommand() *cli.Command {
	return viewCommand(&cli.Command{
		Name: "read", Usage: "read one resource", ArgsUsage: "PROVIDER.wasm URI",
		Description: `Prints text as it is. Bytes go to a file with -o, or to a pipe; pictures are shown on
terminals that can (kitty, iTerm2, WezTerm).

   wasmres read hello.wasm greeting://World
   wasmres read -o logo.png provider.wasm files://logo.png`,
		Flags: []cli.Flag{
			formatFlag(resultFormats),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: categoryOutput, Usage: "write the raw bytes to `FILE`; - is standard output"},
		},
	}, readResource, "PROVIDER.wasm", "URI")
}

func readResource(c *cli.Context, a *app.App, args []string) error {
	format := c.String("output-format")
	if format != formatTable {
		result, err := a.Call(c.Context, "resources/read", map[string]string{"uri": args[1]})
		if err != nil {
			return err
		}
		return printData(c.App.Writer, format, result)
	}
	var contents collector
	if _, err := a.Provider().Read(c.Context, &abi.Request{URI: args[1]}, &contents); err != nil {
		return err
	}
	if err := contents.check(); err != nil {
		return err
	}
	if file := c.String("output"); file != "" {
		return contents.save(c, file)
	}
	return contents.show(c.App.Writer)
}

// A collector keeps the contents of a read as they came, without any encoding.
type collector struct{ list []content }

type content struct {
	uri, mimeType string
	kind          abi.Kind
	body          []byte
}

// Content implements [abi.Sink].
func (s *collector) Content(c *abi.Content) error {
	s.list = append(s.list, content{uri: c.URI, mimeType: c.MIMEType, kind: c.Kind})
	return nil
}

// Body implements [abi.Sink].
func (s *collector) Body(p []byte) error {
	last := &s.list[len(s.list)-1]
	last.body = append(last.body, p...)
	return nil
}

// Progress implements [abi.Sink].
func (s *collector) Progress(abi.Progress) {}

// check refuses what no client would get either.
func (s *collector) check() error {
	if len(s.list) == 0 {
		return abi.Errorf(abi.CodeInternal, "the provider gave no content")
	}
	for _, c := range s.list {
		if c.kind == abi.KindText && !utf8.Valid(c.body) {
			return abi.Errorf(abi.CodeInvalidText, "the provider sent a text that is not UTF-8")
		}
	}
	return nil
}

func (s *collector) save(c *cli.Context, file string) error {
	if len(s.list) != 1 {
		return fmt.Errorf("the resource has %d contents and one file holds one: use --output-format json", len(s.list))
	}
	if file == "-" {
		_, err := c.App.Writer.Write(s.list[0].body)
		return err
	}
	if err := os.WriteFile(file, s.list[0].body, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "wrote %s, %s, to %s\n", humanSize(uint64(len(s.list[0].body))), orUnknown(s.list[0].mimeType), file)
	return nil
}

// show prints the contents for a person, or a single content's bytes into a pipe.
func (s *collector) show(w io.Writer) error {
	onTerminal := terminal(w)
	if len(s.list) == 1 && !onTerminal {
		_, err := w.Write(s.list[0].body)
		return err
	}
	for i, c := range s.list {
		if len(s.list) > 1 {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "── %s  %s  %s\n", plain(c.uri), orUnknown(c.mimeType), humanSize(uint64(len(c.body))))
		}
		if err := c.show(w, onTerminal); err != nil {
			return err
		}
	}
	return nil
}

func (c content) show(w io.Writer, onTerminal bool) error {
	switch {
	case c.kind == abi.KindText && onTerminal:
		return endLine(w, []byte(plain(string(c.body))))
	case c.kind == abi.KindText:
		return endLine(w, c.body)
	case onTerminal && showPicture(w, c):
		return nil
	}
	_, err := fmt.Fprintf(w, "%s of %s: write it to a file with -o FILE\n", humanSize(uint64(len(c.body))), orUnknown(c.mimeType))
	return err
}

// endLine writes p so that what follows starts on a line of its own.
func endLine(w io.Writer, p []byte) error {
	if !bytes.HasSuffix(p, []byte("\n")) {
		p = append(bytes.Clone(p), '\n')
	}
	_, err := w.Write(p)
	return err
}

// plain takes out of a guest's text what could steer a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

func orUnknown(mimeType string) string {
	if mimeType == "" {
		return "no MIME type"
	}
	return plain(mimeType)
}
