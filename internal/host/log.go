package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/wasmres/wasmres/internal/tokenbucket"
)

// Bounds of what the log of the server has of one tenant.
const (
	logBurst     = 200 // tokens
	logPerSecond = 2   // tokens
	logToken     = 512 // bytes of a record for each token after the first
)

// A tenantLog passes the records of one tenant on while they are few, and reports the others as left out, but for those for debugging. What the providers and
// clients of a tenant cause must neither fill the disk nor displace the records of others.
type tenantLog struct {
	slog.Handler
	bucket *tokenbucket.Bucket
	began  time.Time // of the clock of bucket
	rate   tokenbucket.Rate
	left   func() // is called for each record that is left out
}

func newTenantLog(next slog.Handler, left func()) slog.Handler {
	return &tenantLog{next, &tokenbucket.Bucket{}, time.Now(), tokenbucket.New(logPerSecond, logBurst), left}
}

// Handle implements [slog.Handler].
func (l *tenantLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelInfo { // the operator wants to see all
		return l.Handler.Handle(ctx, r)
	}
	size := len(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		size += len(a.Key) + len(a.Value.String())
		return true
	})
	if _, ok := l.bucket.Take(int64(time.Since(l.began)), min(1+size/logToken, logBurst), l.rate); !ok {
		l.left()
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (l *tenantLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *l
	next.Handler = l.Handler.WithAttrs(attrs)
	return &next
}

// WithGroup implements [slog.Handler].
func (l *tenantLog) WithGroup(name string) slog.Handler {
	next := *l
	next.Handler = l.Handler.WithGroup(name)
	return &next
}
