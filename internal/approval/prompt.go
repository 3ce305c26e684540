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

// An Answer is the user's answer at the prompt.
type Answer int

// The answers. Any input that is not clearly a yes is No.
const (
	No   Answer = iota
	Yes         // grant, and remember it
	Once        // grant for this run
)

// A Terminal is where the user is asked. Nothing else may read from it.
type Terminal struct {
	In    io.Reader
	Out   io.Writer
	Width int // columns; 0 if unknown
	// Lasting is true if the answer is for later runs: then Once is no answer.
	Lasting bool
}

const (
	unknownWidth = 80
	maxLines     = 60 // of the prompt: a user does not read more
	maxAnswer    = 4 << 10
)

const opening = "A provider requests capabilities. Text in quotes is the provider's own, and is not to be trusted."

const (
	decisive = "Grant this? yes (and remember it), once (for this run only), or No:"
	lasting  = "Grant this, and remember it? yes or No:"
)

// errTooMuch refuses a request that is too long to be read.
var errTooMuch = errors.New("it requests more than can be shown here")

// Prompt shows what the provider requests and why, and asks the user for the values that only the user knows, as a host
// folder. It gives the answer and, unless that is No, what is granted. When ctx ends while Prompt waits, it gives the
// error of ctx.
func (d *Decision) Prompt(ctx context.Context, t Terminal) (Answer, *policy.Policy, error) {
	t.Width = cmp.Or(t.Width, unknownWidth)
	page := d.page(t.Width)
	if len(page) > maxLines {
		return No, nil, fmt.Errorf("%s: %w: see 'wasmres inspect', and grant what it should have with: %s",
			escape(d.request.Manifest.Name, maxName), errTooMuch, d.Command())
	}
	if _, err := fmt.Fprintln(t.Out, strings.Join(page, "\n")); err != nil {
		return No, nil, err
	}
	p := &person{ctx: ctx, out: t.Out, in: bufio.NewReaderSize(t.In, maxAnswer), width: t.Width}
	granted, err := d.askForValues(p)
	if err != nil {
		return No, nil, err
	}
	if granted.Empty() {
		fmt.Fprintln(t.Out, "Nothing is granted.")
		return No, nil, nil
	}
	fmt.Fprintln(t.Out, "\nYes allows this and nothing else:")
	for _, line := range granted.Lines() {
		fmt.Fprintln(t.Out, strings.Join(wrap("- "+escapeAll(line), "  ", t.Width), "\n"))
	}
	question := decisive
	if t.Lasting {
		question = lasting
	}
	text, err := p.ask("\n" + strings.Join(hangingIndent(question, t.Width), "\n") + " ")
	if err != nil {
		return No, nil, err
	}
	switch text = strings.ToLower(text); {
	case text == "y", text == "yes":
		return Yes, granted, nil
	case !t.Lasting && (text == "o" || text == "once"):
		return Once, granted, nil
	}
	fmt.Fprintln(t.Out, "Nothing is granted.")
	return No, nil, nil
}

// Confirm asks a question that yes or no answers. It reports true for a clear yes. When ctx ends while it waits, it gives the error
// of ctx.
func (t Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	p := &person{ctx: ctx, out: t.Out, in: bufio.NewReaderSize(t.In, maxAnswer), width: cmp.Or(t.Width, unknownWidth)}
	text, err := p.ask(question)
	answer := strings.ToLower(text)
	return answer == "y" || answer == "yes", err
}

// page returns the lines of the prompt. Untrusted text is in quotes and indented; only trusted text begins at the
// margin.
func (d *Decision) page(width int) (lines []string) {
	m := d.request.Manifest
	say := func(format string, args ...any) {
		lines = append(lines, wrap(fmt.Sprintf(format, args...), "  ", width)...)
	}
	lines = append(lines, "")
	lines = append(lines, hangingIndent(opening, width)...)
	lines = append(lines, "")
	say("provider: %q, version %q", escape(m.Name, maxName), escape(m.Version, maxName))
	for _, line := range d.request.From.lines(cmp.Or(d.origin, d.request.File)) {
		say("%s", line)
	}
	say("digest: %s", d.request.Digest)
	if d.Problem != nil {
		lines = append(lines, "")
		problem := escape(d.Problem.Error(), maxText)
		lines = append(lines, hangingIndent("Stored approvals are ignored: "+problem, width)...)
	}
	lines = append(lines, d.history(width)...)
	lines = append(lines, "", "It requests to:", "")
	for _, a := range d.Requests {
		lines = append(lines, describe(a, width)...)
	}
	return lines
}

// describe returns the lines about one request.
func describe(a Requested, width int) (lines []string) {
	for _, line := range a.lines() {
		lines = append(lines, wrap("- "+escapeAll(line), "  ", width)...)
	}
	if a.Optional {
		lines = append(lines, "    optional")
	}
	if a.Reason != "" {
		lines = append(lines, wrap(fmt.Sprintf("%q", escape(a.Reason, maxText)), "    ", width)...)
	}
	return lines
}

// lines describes a request. Invalid parameters are shown as they are.
func (a Requested) lines() []string {
	requested, valid := a.policy()
	switch {
	case !policy.Known(a.Capability):
		return []string{fmt.Sprintf("use %q, a capability that wasmres does not have", escape(a.Capability, maxName))}
	case !valid:
		params := escape(a.Params, maxText)
		return append(requested.Lines(), fmt.Sprintf("with invalid parameters: %q", params))
	}
	return requested.Lines()
}

// history describes earlier versions.
func (d *Decision) history(width int) (lines []string) {
	say := func(format string, args ...any) {
		lines = append(lines, hangingIndent(fmt.Sprintf(format, args...), width)...)
	}
	switch {
	case d.Previous != nil:
		lines = append(lines, "")
		say("It needs approval because it requests more than its version %s, approved %s. New requests:",
			orNone(d.Previous.Version), decided(d.Previous))
		lines = append(lines, list("+ ", d.More, width)...)
		if len(d.Less) > 0 {
			lines = append(lines, "No longer requested:")
			lines = append(lines, list("- ", d.Less, width)...)
		}
	case d.SameName != nil:
		lines = append(lines, "")
		say("Another provider of this name was approved %s. That approval is not valid for this one: %s.",
			decided(d.SameName), escape(d.Mismatch, maxText))
	}
	return lines
}

func list(mark string, requests []Requested, width int) (lines []string) {
	for _, a := range requests {
		for _, line := range a.lines() {
			lines = append(lines, wrap(mark+escapeAll(line), "  ", width)...)
		}
	}
	return lines
}
