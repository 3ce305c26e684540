package contents

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/markdown"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/runtime"
)

// maxWidth bounds the width of a page, in columns: longer lines are hard to read.
const maxWidth = 100

// A Style is how contents are shown.
type Style struct {
	terminal.Style
	Coloured bool // uses bold, dim and underlined text
	Raw      bool // shows Markdown as it was written, and draws no pictures
}

// NewStyle returns the Style for a terminal.
func NewStyle(w io.Writer) Style {
	return Style{Style: terminal.NewStyle(w), Coloured: terminal.IsStyled(w)}
}

// Text returns a content as lines that are safe to print: its text, or for bytes a line that says their type and size.
func (s Style) Text(c *runtime.Content) string {
	switch {
	case c.Kind != abi.KindText:
		return Summary(c) + "\n"
	case !s.Raw && isMarkdown(c.MIMEType) && len(c.Data) <= markdown.MaxSource:
		return markdown.Page{Width: min(s.Width, maxWidth), Styled: s.Coloured, ASCII: s.ASCII}.Render(c.Data)
	}
	return endLine(printable.Text(string(c.Data)))
}

// Write writes a content to a terminal.
func (s Style) Write(w io.Writer, c *runtime.Content) error {
	if c.Kind != abi.KindText && !s.Raw && Draw(w, c) {
		return nil
	}
	_, err := io.WriteString(w, s.Text(c))
	return err
}

// WritePlain writes a content to a file or pipe, below a line for each: a text as it is, and for bytes a line about them.
func WritePlain(w io.Writer, c *runtime.Content) error {
	if c.Kind != abi.KindText {
		_, err := fmt.Fprintln(w, Summary(c))
		return err
	}
	p := c.Data
	if !bytes.HasSuffix(p, []byte("\n")) {
		p = append(bytes.Clone(p), '\n')
	}
	_, err := w.Write(p)
	return err
}

// Summary says what a content of bytes is, and how to get it.
func Summary(c *runtime.Content) string {
	return fmt.Sprintf("%s of %s: write it to a file with -o FILE", terminal.Size(uint64(len(c.Data))), TypeOf(c))
}

// TypeOf returns the type of a content, safe to print.
func TypeOf(c *runtime.Content) string {
	if c.MIMEType == "" {
		return "no MIME type"
	}
	return printable.Line(c.MIMEType)
}

func isMarkdown(mimeType string) bool {
	kind, _, err := mime.ParseMediaType(mimeType)
	return err == nil && (kind == "text/markdown" || kind == "text/x-markdown")
}

func endLine(text string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
