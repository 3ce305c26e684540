package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
)

// A heldLog keeps records until it is known who wants them.
type heldLog struct {
	slog.Handler // that gets them
	held         *heldRecords
}

type heldRecords struct {
	mu   sync.Mutex
	list []heldRecord // guarded by mu
}

type heldRecord struct {
	to     slog.Handler
	record slog.Record
}

func holdLog(to slog.Handler) heldLog { return heldLog{to, &heldRecords{}} }

// Handle implements [slog.Handler].
func (h heldLog) Handle(_ context.Context, r slog.Record) error {
	h.held.mu.Lock()
	defer h.held.mu.Unlock()
	h.held.list = append(h.held.list, heldRecord{h.Handler, r.Clone()})
	return nil
}

// WithAttrs implements [slog.Handler].
func (h heldLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return heldLog{h.Handler.WithAttrs(attrs), h.held}
}

// WithGroup implements [slog.Handler].
func (h heldLog) WithGroup(name string) slog.Handler {
	return heldLog{h.Handler.WithGroup(name), h.held}
}

// release passes on what is held, but for records of an error that err tells of.
func (h heldLog) release(ctx context.Context, err error) {
	h.held.mu.Lock()
	defer h.held.mu.Unlock()
	for _, r := range h.held.list {
		if !tells(err, r.record) {
			_ = r.to.Handle(ctx, r.record) // nobody could be told of that
		}
	}
	h.held.list = nil
}

// tells reports whether err says what a record is about.
func tells(err error, r slog.Record) (told bool) {
	r.Attrs(func(a slog.Attr) bool {
		told = a.Key == "err" && strings.Contains(err.Error(), a.Value.String()) ||
			a.Key == "text" && r.Message == guestRecord && saysLine(err, a.Value.String())
		return !told
	})
	return told
}

// saysLine reports whether err has a line of a guest in it, which may be one of a stack.
func saysLine(err error, line string) bool {
	line, isFrame := strings.CutPrefix(strings.TrimSpace(line), "at ")
	if isFrame {
		line = strings.TrimLeft(sourceLine.FindString(line), "(")
	}
	return line != "" && strings.Contains(err.Error(), line)
}
