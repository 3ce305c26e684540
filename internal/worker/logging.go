package worker

import (
	"context"
	"log/slog"
	"sync"

	"github.com/wasmres/wasmres/internal/worker/protocol"
)

// A handler sends log records of the worker to the parent: on the link of the call they belong to, or else as reports.
type handler struct {
	level   slog.Level
	reports *reporter
	attrs   []slog.Attr
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
	if l := linkOf(ctx); l != nil {
		return l.out.PutMessage(m)
	}
	return h.reports.put(m)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *h
	more.attrs = append(more.attrs[:len(more.attrs):len(more.attrs)], attrs...)
	return &more
}

// WithGroup implements [slog.Handler]. The runtime makes no groups.
func (h *handler) WithGroup(string) slog.Handler { return h }

// A reporter sends what belongs to no call. It is safe for concurrent use.
type reporter struct {
	mu   sync.Mutex // guards the field below
	conn *protocol.Conn
}

func (r *reporter) put(m protocol.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.PutMessage(m)
	return r.conn.Flush()
}
