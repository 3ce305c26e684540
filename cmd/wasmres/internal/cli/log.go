package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/printable"
)

// A LogHandler makes the handler of a log from its output and lowest level.
type LogHandler func(io.Writer, slog.Level) slog.Handler

// TextLog returns the log of a server: the text of slog, without empty values.
func TextLog(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutEmpty})
}

// JSONLog returns the log of a server for programs: one JSON object on each line, as slog writes it, without empty values.
// It escapes characters that a reader cannot see or that steer a terminal, as TextLog does.
func JSONLog(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewJSONHandler(escapingWriter{w}, &slog.HandlerOptions{Level: level, ReplaceAttr: forPrograms})
}

// forPrograms writes a duration as its String method does, as in TextLog.
func forPrograms(groups []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return withoutEmpty(groups, a)
}

func withoutEmpty(_ []string, a slog.Attr) slog.Attr {
	if isEmpty(a) {
		return slog.Attr{}
	}
	return a
}

// An escapingWriter escapes such characters in lines of JSON. Slog gives it one line at a time.
type escapingWriter struct{ w io.Writer }

func (e escapingWriter) Write(line []byte) (int, error) {
	if !bytes.ContainsFunc(line, func(r rune) bool { return r >= 0x7f && printable.Hidden(r) }) {
		return e.w.Write(line)
	}
	var out []byte
	for _, r := range string(line) {
		if r < 0x7f || !printable.Hidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	if _, err := e.w.Write(out); err != nil {
		return 0, err
	}
	return len(line), nil
}

// LogLevelFlag returns the flag --log-level.
func LogLevelFlag(category string) Flag {
	return Choice(&StringFlag{Name: "log-level", Category: category, Value: "info", EnvVars: []string{"WASMRES_LOG_LEVEL"}, Usage: "lowest `LEVEL` of log records on stderr: debug, info, warn, error"}, "debug", "info", "warn", "error")
}

// LogLevel reads [LogLevelFlag].
func LogLevel(c *Context) (level slog.Level, err error) {
	if err := level.UnmarshalText([]byte(c.String("log-level"))); err != nil {
		return 0, Usagef(c, "--log-level %s: it is one of debug, info, warn, error", c.String("log-level"))
	}
	return level, nil
}

// LogFormatFlag returns the flag --log-format of a server.
func LogFormatFlag(category string) Flag {
	return Choice(&StringFlag{Name: "log-format", Category: category, Value: "text", EnvVars: []string{"WASMRES_LOG_FORMAT"}, Usage: "write the log on stderr in this `FORMAT`: text or json"}, "text", FormatJSON)
}

// LogFormat reads [LogFormatFlag].
func LogFormat(c *Context) (LogHandler, error) {
	switch f := c.String("log-format"); f {
	case "text":
		return TextLog, nil
	case FormatJSON:
		return JSONLog, nil
	default:
		return nil, Usagef(c, "--log-format %s: it is one of text, json", f)
	}
}

func isEmpty(a slog.Attr) bool { return a.Value.Kind() == slog.KindString && a.Value.String() == "" }

// PlainLog returns the log of a command that a person runs: a [PlainHandler] on w.
func PlainLog(w io.Writer, level slog.Level) slog.Handler {
	return &PlainHandler{Level: level, out: &lockedWriter{w: w}}
}

// A PlainHandler writes a line for each record: "guest: TEXT" for output of the guest, otherwise
// "LEVEL message key=value…". Make one with [PlainLog], or, if only its Line is needed, from a Level.
type PlainHandler struct {
	// fixed at creation
	Level  slog.Level
	prefix string // of keys, for groups
	attrs  []slog.Attr
	out    *lockedWriter
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

// Enabled implements [slog.Handler].
func (h *PlainHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.Level }

// Handle implements [slog.Handler].
func (h *PlainHandler) Handle(_ context.Context, r slog.Record) error {
	if r.Message == isolationRecord && h.Level > slog.LevelDebug {
		return nil
	}
	line := h.Line(r)
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	_, err := io.WriteString(h.out.w, printable.Line(line)+"\n")
	return err
}

// GuestRecord is the message of records with output of a guest, which their key "text" has.
const GuestRecord = "guest log"

// isolationRecord is the message of the warning that a layer of isolation is missing. A server logs it when it starts. Commands of
// a person would repeat it each time: 'wasmres doctor' and 'wasmres version' show the layers.
const isolationRecord = "child processes are less isolated than they could be"

// Line returns the line of a record, which may have control characters and no line feed at its end.
func (h *PlainHandler) Line(r slog.Record) string {
	line := r.Level.String() + " " + r.Message
	for _, a := range h.attrs {
		line += pair("", a)
	}
	text, isGuest := "", false
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "text" && r.Message == GuestRecord {
			text, isGuest = a.Value.String(), true
		}
		line += pair(h.prefix, a)
		return true
	})
	if isGuest {
		return "guest: " + text
	}
	return line
}

// pair returns " key=value", or nothing if the value is empty.
func pair(prefix string, a slog.Attr) string {
	a.Value = a.Value.Resolve()
	if a.Equal(slog.Attr{}) || isEmpty(a) {
		return ""
	}
	value := a.Value.String()
	if strings.ContainsFunc(value, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		value = strconv.Quote(value)
	}
	return " " + prefix + a.Key + "=" + value
}

// WithAttrs implements [slog.Handler].
func (h *PlainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *h
	more.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		a.Key = h.prefix + a.Key
		more.attrs = append(more.attrs, a)
	}
	return &more
}

// WithGroup implements [slog.Handler].
func (h *PlainHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	more := *h
	more.prefix += name + "."
	return &more
}
