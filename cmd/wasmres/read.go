package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/printable"
)

func readCommand() *cli.Command {
	return viewCommand(&cli.Command{
		Name: "read", Usage: "read one resource", ArgsUsage: providerArg + " URI",
		Description: `Prints text as it is. Bytes go to a file with -o, or to a pipe; pictures are shown on
terminals that can (kitty, iTerm2, WezTerm).

   wasmres read hello.wasm greeting://World
   wasmres read -o logo.png provider.wasm files://logo.png`,
		Flags: []cli.Flag{
			formatFlag(resultFormats),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: categoryOutput, Usage: "write the raw bytes to `FILE`; - is standard output"},
		},
	}, readResource, "URI")
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
	if err := contents.end(); err != nil {
		return err
	}
	if file := c.String("output"); file != "" {
		return contents.save(c, file)
	}
	return contents.show(c.App.Writer)
}

// A collector keeps the contents of a read as they came, without any encoding. As for clients, a text that is not UTF-8
// ends the read where it is found.
type collector struct{ list []content }

type content struct {
	uri, mimeType string
	kind          abi.Kind
	body          []byte
	checked       int // bytes of a text's body, from its start, that are UTF-8
}

// Content implements [abi.Sink].
func (s *collector) Content(c *abi.Content) error {
	if err := s.endText(); err != nil {
		return err
	}
	s.list = append(s.list, content{uri: c.URI, mimeType: c.MIMEType, kind: c.Kind})
	return nil
}

// Body implements [abi.Sink].
func (s *collector) Body(p []byte) error {
	last := &s.list[len(s.list)-1]
	last.body = append(last.body, p...)
	if last.kind != abi.KindText {
		return nil
	}
	whole := last.checked + wholeCharacters(last.body[last.checked:])
	if !utf8.Valid(last.body[last.checked:whole]) {
		return errNotText
	}
	last.checked = whole
	return nil
}

// wholeCharacters gives the length of p without a character at its end of which more may follow.
func wholeCharacters(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax); i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				break
			}
			return i
		}
	}
	return len(p)
}

// endText checks that the text which came last ends with a whole character.
func (s *collector) endText() error {
	if len(s.list) == 0 {
		return nil
	}
	if last := &s.list[len(s.list)-1]; last.kind == abi.KindText && last.checked < len(last.body) {
		return errNotText
	}
	return nil
}

var errNotText = abi.Errorf(abi.CodeInvalidText, "the provider sent a text that is not UTF-8")

// Progress implements [abi.Sink].
func (s *collector) Progress(abi.Progress) {}

// end refuses what no client would get either.
func (s *collector) end() error {
	if len(s.list) == 0 {
		return abi.Errorf(abi.CodeInternal, "the provider gave no content")
	}
	return s.endText()
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
			fmt.Fprintf(w, "── %s  %s  %s\n", printable.Line(c.uri), orUnknown(c.mimeType), humanSize(uint64(len(c.body))))
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
		return endLine(w, []byte(printable.Text(string(c.body))))
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

func orUnknown(mimeType string) string {
	if mimeType == "" {
		return "no MIME type"
	}
	return printable.Line(mimeType)
}
