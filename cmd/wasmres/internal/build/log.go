package build

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
)

// A bufferedLog stores records until release passes them on.
type bufferedLog struct {
	slog.Handler // receives them
	buffer       *buffer
}

type buffer struct {
	mu   sync.Mutex
	list []bufferedRecord // guarded by mu
}

type bufferedRecord struct {
	to     slog.Handler
	record slog.Record
}

func newBufferedLog(to slog.Handler) bufferedLog { return bufferedLog{to, &buffer{}} }

// Handle implements [slog.Handler].
func (h bufferedLog) Handle(_ context.Context, r slog.Record) error {
	h.buffer.mu.Lock()
	defer h.buffer.mu.Unlock()
	h.buffer.list = append(h.buffer.list, bufferedRecord{h.Handler, r.Clone()})
	return nil
}

// WithAttrs implements [slog.Handler].
func (h bufferedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return bufferedLog{h.Handler.WithAttrs(attrs), h.buffer}
}

// WithGroup implements [slog.Handler].
func (h bufferedLog) WithGroup(name string) slog.Handler {
	return bufferedLog{h.Handler.WithGroup(name), h.buffer}
}

// release passes the stored records on, except those that err repeats, if there is an error.
func (h bufferedLog) release(ctx context.Context, err error) {
	h.buffer.mu.Lock()
	defer h.buffer.mu.Unlock()
	for _, r := range h.buffer.list {
		if err == nil || !isAlreadyLogged(err, r.record) {
			_ = r.to.Handle(ctx, r.record) // an error of the log cannot be logged
		}
	}
	h.buffer.list = nil
}

// isAlreadyLogged reports whether err repeats what a record says.
func isAlreadyLogged(err error, r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		found = a.Key == "err" && strings.Contains(err.Error(), a.Value.String()) ||
			a.Key == "text" && r.Message == cli.GuestRecord && hasLine(err, a.Value.String())
		return !found
	})
	return found
}

// hasLine reports whether err has a line of the guest's output, which may be one of a stack trace.
func hasLine(err error, line string) bool {
	line, isFrame := strings.CutPrefix(strings.TrimSpace(line), "at ")
	if isFrame {
		line = strings.TrimLeft(cli.SourceLine.Get().FindString(line), "(")
	}
	return line != "" && strings.Contains(err.Error(), line)
}
