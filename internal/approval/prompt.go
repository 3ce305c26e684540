package approval

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wasmres/wasmres/internal/policy"
)

// An Answer is what a person said.
type Answer int

// The answers. Everything that is not clearly a yes is No.
const (
	No   Answer = iota
	Yes         // and remember it
	Once        // for this run
)

// A Terminal is where a person is asked. Nothing else may read from it.
type Terminal struct {
	In    io.Reader
	Out   io.Writer
	Width int // columns; 0 when that is not known
}

const (
	unknownWidth = 80
	maxLines     = 60 // of all that is asked: what is more, nobody reads
	maxAnswer    = 4 << 10
)

const opening = "A provider asks for powers. What it says of itself is in quotes, and proves nothing."

const decisive = "Grant this? yes (and remember it), once (for this time only), or No:"

// errTooMuch says that nobody could say yes to all of it with good reason.
var errTooMuch = errors.New("it asks for more than can be shown here")

// Prompt shows what is asked and why, and asks for what only the operator knows, as the folder of the host. It gives
// the answer and, unless that is No, what is granted. When ctx ends while it waits, that is its error.
func (d *Decision) Prompt(ctx context.Context, t Terminal) (Answer, *policy.Policy, error) {
	t.Width = cmp.Or(t.Width, unknownWidth)
	page := d.page(t.Width)
	if len(page) > maxLines {
		return No, nil, fmt.Errorf("%s: %w: look at it with 'wasmres inspect', and grant what it should have: %s",
			shown(d.request.Manifest.Name, maxShownName), errTooMuch, d.Command())
	}
	if _, err := fmt.Fprintln(t.Out, strings.Join(page, "\n")); err != nil {
		return No, nil, err
	}
	p := &person{ctx: ctx, out: t.Out, in: bufio.NewReaderSize(t.In, maxAnswer), width: t.Width}
	granted, err := d.complete(p)
	if err != nil {
		return No, nil, err
	}
	if granted.Empty() {
		fmt.Fprintln(t.Out, "Nothing is granted.")
		return No, nil, nil
	}
	fmt.Fprintln(t.Out, "\nWith yes it may, and nothing else:")
	for _, line := range granted.Lines() {
		fmt.Fprintln(t.Out, strings.Join(wrap("- "+harmless(line), "  ", t.Width), "\n"))
	}
	text, err := p.ask("\n" + strings.Join(hang(decisive, t.Width), "\n") + " ")
	if err != nil {
		return No, nil, err
	}
	switch strings.ToLower(text) {
	case "y", "yes":
		return Yes, granted, nil
	case "o", "once":
		return Once, granted, nil
	}
	fmt.Fprintln(t.Out, "Nothing is granted.")
	return No, nil, nil
}

// page is what a person is shown. Foreign words stand in quotes and are indented; our own begin at the margin.
func (d *Decision) page(width int) (lines []string) {
	m := d.request.Manifest
	say := func(format string, args ...any) {
		lines = append(lines, wrap(fmt.Sprintf(format, args...), "  ", width)...)
	}
	lines = append(lines, "")
	lines = append(lines, hang(opening, width)...)
	lines = append(lines, "")
	say("provider: %q, version %q", shown(m.Name, maxShownName), shown(m.Version, maxShownName))
	say("file: %s", shown(cmp.Or(d.origin, d.request.File), maxShown))
	say("digest: %s", d.request.Digest)
	if d.Problem != nil {
		lines = append(lines, "")
		problem := shown(d.Problem.Error(), maxShown)
		lines = append(lines, hang("What is remembered could not be relied on: "+problem, width)...)
	}
	lines = append(lines, d.history(width)...)
	lines = append(lines, "", "It asks to:", "")
	for _, a := range d.Asks {
		lines = append(lines, about(a, width)...)
	}
	return lines
}

// about says what one power is asked for.
func about(a AskedFor, width int) (lines []string) {
	for _, words := range a.words() {
		lines = append(lines, wrap("- "+harmless(words), "  ", width)...)
	}
	if a.Optional {
		lines = append(lines, "    it can do without")
	}
	if a.Reason != "" {
		lines = append(lines, wrap(fmt.Sprintf("%q", shown(a.Reason, maxShown)), "    ", width)...)
	}
	return lines
}

// words say what is asked for. What makes no sense to us is shown as it stands.
func (a AskedFor) words() []string {
	wanted, clear := a.wants()
	switch {
	case !policy.Known(a.Power):
		return []string{fmt.Sprintf("use %q, a power that wasmres does not have", shown(a.Power, maxShownName))}
	case !clear:
		params := shown(a.Params, maxShown)
		return append(wanted.Lines(), fmt.Sprintf("with parameters that make no sense to wasmres: %q", params))
	}
	return wanted.Lines()
}

// history says what is known of earlier versions.
func (d *Decision) history(width int) (lines []string) {
	say := func(format string, args ...any) {
		lines = append(lines, hang(fmt.Sprintf(format, args...), width)...)
	}
	switch {
	case d.Previous != nil:
		lines = append(lines, "")
		say("It is held because it asks for more than version %s of it, approved %s. New is:",
			orNone(d.Previous.Version), said(d.Previous))
		lines = append(lines, listed("+ ", d.More, width)...)
		if len(d.Less) > 0 {
			lines = append(lines, "No longer asked for is:")
			lines = append(lines, listed("- ", d.Less, width)...)
		}
	case d.Stranger != nil:
		lines = append(lines, "")
		say("A provider of the same name was approved %s, which says nothing about this one: %s.",
			said(d.Stranger), shown(d.Doubt, maxShown))
	}
	return lines
}

func listed(mark string, asks []AskedFor, width int) (lines []string) {
	for _, a := range asks {
		for _, words := range a.words() {
			lines = append(lines, wrap(mark+harmless(words), "  ", width)...)
		}
	}
	return lines
}
