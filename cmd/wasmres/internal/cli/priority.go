package cli

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/systemd"
)

// prefixes are the priorities debug, info, warning and err of sd-daemon(3).
var prefixes = [...]string{"<7>", "<6>", "<4>", "<3>"}

// WithPriorities returns a log like another one whose lines begin with their priority, as the journal of systemd reads it: <3> for an
// error, <4> for a warning, <6> for information and <7> below that. The other log must write one line at a time.
func WithPriorities(handler LogHandler) LogHandler {
	return func(w io.Writer, level slog.Level) slog.Handler {
		var p prioritized
		for i, prefix := range prefixes {
			p[i] = handler(prefixWriter{w, prefix}, level)
		}
		return p
	}
}

// NewLog makes the log of a program on its standard error. In the journal of systemd, each line has a priority.
func NewLog(c *Context, handler LogHandler, level slog.Level) *slog.Logger {
	if isJournal(c.App.ErrWriter) {
		handler = WithPriorities(handler)
	}
	return slog.New(handler(terminal.Above(c.App.ErrWriter), level))
}

// ErrorPrefix returns what begins a line with an error on standard error: its priority in the journal of systemd, or else nothing.
func ErrorPrefix(w io.Writer) string {
	if isJournal(w) {
		return prefixes[len(prefixes)-1]
	}
	return ""
}

func isJournal(w io.Writer) bool { return w == os.Stderr && systemd.StderrIsJournal() }

// A prioritized handler has one handler for each priority, from the lowest to the highest.
type prioritized [len(prefixes)]slog.Handler

// of returns the handler of a level.
func (p prioritized) of(level slog.Level) slog.Handler {
	switch {
	case level >= slog.LevelError:
		return p[3]
	case level >= slog.LevelWarn:
		return p[2]
	case level >= slog.LevelInfo:
		return p[1]
	}
	return p[0]
}

// Enabled implements [slog.Handler].
func (p prioritized) Enabled(ctx context.Context, level slog.Level) bool {
	return p.of(level).Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (p prioritized) Handle(ctx context.Context, r slog.Record) error {
	return p.of(r.Level).Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (p prioritized) WithAttrs(attrs []slog.Attr) slog.Handler {
	for i := range p {
		p[i] = p[i].WithAttrs(attrs)
	}
	return p
}

// WithGroup implements [slog.Handler].
func (p prioritized) WithGroup(name string) slog.Handler {
	for i := range p {
		p[i] = p[i].WithGroup(name)
	}
	return p
}

// A prefixWriter writes a text before each line, in one write.
type prefixWriter struct {
	w    io.Writer
	text string
}

// Write implements [io.Writer]. Slog gives it one line at a time.
func (p prefixWriter) Write(line []byte) (int, error) {
	out := make([]byte, 0, len(p.text)+len(line))
	if _, err := p.w.Write(append(append(out, p.text...), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
