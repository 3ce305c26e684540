package child

import (
	"context"
	"log/slog"
	"sync"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A handler sends log records to the parent: on the link of their call or, without a call, on the connection for
// reports.
type handler struct {
	level slog.Level
	log   *logWriter
	attrs []slog.Attr
}

// Enabled implements [slog.Handler].
func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	m := &protocol.Log{Level: r.Level, Message: r.Message}
	add := func(a slog.Attr) bool {
		m.Attrs = append(m.Attrs, protocol.Attr{Key: a.Key, Value: a.Value.String()})
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	if l := connectionOf(ctx); l != nil {
		return l.out.PutMessage(m)
	}
	return h.log.write(m)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *h
	more.attrs = append(more.attrs[:len(more.attrs):len(more.attrs)], attrs...)
	return &more
}

// WithGroup implements [slog.Handler]. The runtime makes no groups.
func (h *handler) WithGroup(string) slog.Handler { return h }

// A logWriter sends log records that belong to no call. It is safe for concurrent use.
type logWriter struct {
	mu   sync.Mutex // guards the field below
	conn *protocol.Conn
}

func (w *logWriter) write(m protocol.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn.PutMessage(m)
	return w.conn.Flush()
}
