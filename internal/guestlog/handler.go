package guestlog

import (
	"context"
	"log/slog"
)

// message is that of records with text of guests, as package runtime logs them.
const message = "guest log"

// A handler adds the records of one provider's guests to a Book, and passes on what the next handler takes.
type handler struct {
	slog.Handler
	book             *Book
	tenant, provider string
}

// Handler returns a handler that adds what the guests of a tenant's provider log, from the level info on, and passes all records
// to next.
func (b *Book) Handler(next slog.Handler, tenant, provider string) slog.Handler {
	return &handler{next, b, tenant, provider}
}

// Enabled implements [slog.Handler].
func (h *handler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || h.Handler.Enabled(ctx, l)
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == message {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "text" {
				h.book.Add(h.tenant, Line{Time: r.Time, Level: r.Level, Provider: h.provider, Text: a.Value.String()})
			}
			return true
		})
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.book, h.tenant, h.provider}
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.book, h.tenant, h.provider}
}
