package build

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
)

// A bufferedLog keeps records until it is known who wants them.
type bufferedLog struct {
	slog.Handler // that gets them
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

// release passes on what is held, but for records of an error that err tells of.
func (h bufferedLog) release(ctx context.Context, err error) {
	h.buffer.mu.Lock()
	defer h.buffer.mu.Unlock()
	for _, r := range h.buffer.list {
		if !isAlreadyLogged(err, r.record) {
			_ = r.to.Handle(ctx, r.record) // nobody could be told of that
		}
	}
	h.buffer.list = nil
}

// isAlreadyLogged reports whether err says what a record is about.
func isAlreadyLogged(err error, r slog.Record) (told bool) {
	r.Attrs(func(a slog.Attr) bool {
		told = a.Key == "err" && strings.Contains(err.Error(), a.Value.String()) ||
			a.Key == "text" && r.Message == cli.GuestRecord && saysLine(err, a.Value.String())
		return !told
	})
	return told
}

// saysLine reports whether err has a line of a guest in it, which may be one of a stack.
func saysLine(err error, line string) bool {
	line, isFrame := strings.CutPrefix(strings.TrimSpace(line), "at ")
	if isFrame {
		line = strings.TrimLeft(cli.SourceLine.FindString(line), "(")
	}
	return line != "" && strings.Contains(err.Error(), line)
}
