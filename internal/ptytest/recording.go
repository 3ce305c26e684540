package ptytest

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/wasmres/wasmres/internal/textwidth"
)

// A Recording is what a terminal shows over time, for the documentation. Its times follow from its texts, so that the same
// texts give the same bytes.
type Recording struct {
	Columns, Lines int
	Title          string

	now    float64 // seconds
	events strings.Builder
	screen []string // the lines at the end
}

const (
	keySeconds  = 0.05 // between two keys
	readSeconds = 0.04 // for each line that a viewer reads
	waitSeconds = 0.8
)

// Type records a prompt and a command that is typed.
func (r *Recording) Type(command string) {
	r.event("$ ")
	for _, key := range command {
		r.now += keySeconds
		r.event(string(key))
	}
	r.now += waitSeconds / 2
	r.event("\r\n")
	r.screen = append(r.screen, "$ "+command)
}

// Print records what a command prints.
func (r *Recording) Print(text string) {
	text = strings.TrimRight(text, "\n") + "\n"
	r.now += waitSeconds / 2
	r.event(strings.ReplaceAll(text, "\n", "\r\n"))
	r.now += waitSeconds + readSeconds*float64(strings.Count(text, "\n"))
	r.screen = append(r.screen, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
}

// Screen records that the whole screen is drawn.
func (r *Recording) Screen(text string) {
	r.event("\x1b[2J\x1b[H" + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\r\n"))
	r.now += 2 * waitSeconds
	r.screen = strings.Split(strings.TrimRight(text, "\n"), "\n")
}

func (r *Recording) event(text string) {
	line, err := json.Marshal([]any{json.Number(fmt.Sprintf("%.2f", r.now)), "o", text})
	if err != nil {
		panic(err) // a string is always JSON
	}
	r.events.Write(append(line, '\n'))
}

// Cast returns the recording as a file of asciinema, version 2.
func (r *Recording) Cast() []byte {
	return fmt.Appendf(nil, "{\"version\": 2, \"width\": %d, \"height\": %d, \"title\": %q}\n%s", r.Columns, r.Lines, r.Title, r.events.String())
}

const (
	cellWidth  = 8 // pixels
	cellHeight = 18
	margin     = 12
)

// SVG returns the last screen as a picture.
func (r *Recording) SVG() []byte {
	lines := r.screen[max(len(r.screen)-r.Lines, 0):]
	var b strings.Builder
	width, height := r.Columns*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#1b1f24\"/>\n", html.EscapeString(r.Title))
	b.WriteString(`<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" fill="#d8dee4">` + "\n")
	for i, line := range lines {
		line = strings.ReplaceAll(strings.TrimRight(line, " "), " ", "\u00a0") // runs of other spaces would be one
		if line == "" {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
			margin, margin+(i+1)*cellHeight-5, textwidth.Of(line)*cellWidth, html.EscapeString(line))
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}
