package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/internal/printable"
)

// An ansiStyle is how a piece of a line looks on a terminal, in the numbers of its escape sequence.
type ansiStyle string

const (
	noStyle ansiStyle = ""
	bold    ansiStyle = "1"
	dim     ansiStyle = "2"
	red     ansiStyle = "31"
	green   ansiStyle = "32"
	yellow  ansiStyle = "33"
	blue    ansiStyle = "34"
	magenta ansiStyle = "35"
	cyan    ansiStyle = "36"
)

// A console prints what happens, for the author of a provider: a line for each event, with the time, its kind and a text.
// It is safe for concurrent use.
type console struct {
	coloured bool // fixed at creation

	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func newConsole(w io.Writer) *console {
	return &console{coloured: terminal.IsStyled(w), w: w}
}

// in returns a text in a style, on a terminal that shows it and unless NO_COLOR is set.
func (o *console) in(p ansiStyle, text string) string {
	if !o.coloured || p == noStyle || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

// say prints a line, and below it under: whole lines, which must be safe to print.
func (o *console) say(about string, p ansiStyle, text, under string) {
	line := o.in(dim, time.Now().Format(time.TimeOnly)) + " " + o.in(p, fmt.Sprintf("%-9s", about)) + " " + text
	line = strings.TrimRight(line, " ") + "\n" + under
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = io.WriteString(o.w, line) // an error of standard error cannot be reported
}

// Limits of the line for a request.
const (
	maxShownURI = 200 // characters
	maxReason   = 400
)

// request prints the outcome of a request.
func (o *console) request(r app.Request) {
	outcome, p := abi.CodeOf(r.Err).String(), styleOfCode(abi.CodeOf(r.Err))
	if r.Op == "watch" {
		r.URI = cmp.Or(r.URI, "the list")
	}
	about := []string{printable.Line(terminal.Clip(r.URI, maxShownURI))}
	var under strings.Builder
	if r.Err != nil {
		about = append(about, o.in(p, printable.Line(terminal.Clip(reasons(r.Err), maxReason))))
		cli.PrintCrash(&under, r.Err)
	}
	fuel := "-"
	if r.Fuel > 0 {
		fuel = terminal.Grouped(r.Fuel) + " fuel"
	}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	o.say(r.Op, cyan, o.in(p, fmt.Sprintf("%-9s", outcome))+fmt.Sprintf(" %8s  ", shortTime(r.Elapsed))+
		o.in(dim, fmt.Sprintf("%16s", fuel))+"  "+strings.Join(about, "  "), under.String())
}

// styleOfCode returns one style for answers, one for mistakes of clients, and one for failures.
func styleOfCode(code abi.Code) ansiStyle {
	switch code {
	case abi.CodeOK:
		return green
	case abi.CodeNotFound, abi.CodeInvalidParams, abi.CodeUnsupported, abi.CodeCancelled:
		return yellow
	}
	return red
}

// reasons returns the message and causes of a failure, including those that clients do not receive.
func reasons(err error) string {
	var e *abi.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Message
	for cause := e.Cause; cause != nil; {
		if reason := cause.Error(); !strings.Contains(text, reason) {
			text = strings.TrimPrefix(text+": "+reason, ": ")
		}
		if e = nil; !errors.As(cause, &e) {
			break
		}
		cause = e.Cause
	}
	return text
}

// shortTime returns a time to three digits.
func shortTime(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1e3)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// maxCompilerLines is the number of lines shown of a compiler's output: the first errors are those to fix.
const maxCompilerLines = 100

// Parts of the output of compilers.
var (
	position = lazyregexp.New(`^\s*(?:-->\s*)?[^\s:]+:[0-9]+(?::[0-9]+)?:?`)
	severity = lazyregexp.New(`(?i)\b(?:fatal )?(error|warning|note|help)\b(?:\[[A-Z0-9]+\]| (?:TS|AS)[0-9]+)?:`)
)

// compilerOutput returns a compiler's output in colour, as whole lines without control characters.
func (o *console) compilerOutput(output string) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	for _, line := range lines[:min(len(lines), maxCompilerLines)] {
		b.WriteString(o.compilerLine(printable.Line(strings.TrimRight(line, "\r"))) + "\n")
	}
	if more := len(lines) - maxCompilerLines; more > 0 {
		fmt.Fprintf(&b, "… and %d more lines\n", more)
	}
	return b.String()
}

func (o *console) compilerLine(line string) string {
	at := position.Get().FindString(line)
	rest := severity.Get().ReplaceAllStringFunc(line[len(at):], func(word string) string {
		switch strings.ToLower(severity.Get().FindStringSubmatch(word)[1]) {
		case "error":
			return o.in(red, word)
		case "warning":
			return o.in(yellow, word)
		}
		return o.in(cyan, word)
	})
	return o.in(bold, at) + rest
}

// diff returns lines with differences, as [test.Print] prints them, in colour.
func (o *console) diff(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		paints := map[string]ansiStyle{"    -": red, "    +": green, "    @": cyan, "FAIL ": red}
		b.WriteString(o.in(paints[line[:min(len(line), len("FAIL "))]], strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// log returns the handler of a log that the console prints: of guests, and of events other than requests.
func (o *console) log(_ io.Writer, level slog.Level) slog.Handler {
	return &consoleHandler{cli.PlainHandler{Level: level}, o}
}

// A consoleHandler writes records to a console.
type consoleHandler struct {
	cli.PlainHandler
	console *console
}

// requestFailed is the message of records of failed requests, which the console does not print: it receives the requests
// themselves.
const requestFailed = "request failed"

// Handle implements [slog.Handler].
func (h *consoleHandler) Handle(_ context.Context, r slog.Record) error {
	p := styleOfLevel(r.Level)
	switch {
	case r.Message == cli.GuestRecord:
		attrs := guestAttrs(r)
		h.console.say(attrs["op"], cyan, h.console.in(dim, fmt.Sprintf("%-9s", attrs["stream"]))+" "+
			h.console.in(p, printable.Line(attrs["text"])), "")
	case r.Message != requestFailed || r.Level >= slog.LevelError:
		text := strings.TrimPrefix(h.Line(r), r.Level.String()+" ")
		h.console.say(strings.ToLower(r.Level.String()), p, printable.Line(text), "")
	}
	return nil
}

func guestAttrs(r slog.Record) map[string]string {
	attrs := map[string]string{}
	r.Attrs(func(a slog.Attr) bool {
		attrs[a.Key] = a.Value.String()
		return true
	})
	return attrs
}

func styleOfLevel(level slog.Level) ansiStyle {
	switch {
	case level >= slog.LevelError:
		return red
	case level >= slog.LevelWarn:
		return yellow
	case level >= slog.LevelInfo:
		return noStyle
	}
	return dim
}

// WithAttrs implements [slog.Handler].
func (h *consoleHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &consoleHandler{*h.PlainHandler.WithAttrs(attrs).(*cli.PlainHandler), h.console}
}

// WithGroup implements [slog.Handler].
func (h *consoleHandler) WithGroup(name string) slog.Handler {
	return &consoleHandler{*h.PlainHandler.WithGroup(name).(*cli.PlainHandler), h.console}
}
