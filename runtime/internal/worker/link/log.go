package link

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// messages are the messages that a worker may log, each with its keys. The parent discards others.
var messages = map[string][]string{
	"guest log":             {"op", "stream", "text"},
	"guest log dropped":     {"code", "bytes", "lines"},
	"service refused":       {"service", "code", "err"},
	"instance discarded":    {"err"},
	"instance close failed": {"err"},
}

// logRecord logs a record of the worker, within the limits of a call.
func logRecord(ctx context.Context, c *guest.Call, payload []byte) error {
	var m protocol.Log
	if err := m.Decode(payload); err != nil {
		return err
	}
	keys, known := messages[m.Message]
	if !known {
		return nil
	}
	attrs := make([]slog.Attr, 0, len(keys))
	for _, a := range m.Attrs {
		if slices.Contains(keys, a.Key) && len(attrs) < len(keys) {
			attrs = append(attrs, slog.String(a.Key, a.Value))
		}
	}
	c.Record(ctx, m.Level, m.Message, attrs...)
	return nil
}

// maxReports bounds the records outside of calls that a worker may send in a minute: with debug logging there is one
// for each discarded instance.
const maxReports = 100_000

// LogReports logs the records on a worker's connection for reports, until the connection ends or the worker violates
// the protocol. The error is never nil. In each minute the log limits of one call of h apply.
func LogReports(conn *protocol.Conn, h *guest.Host) error {
	c, since, records := h.StartCall(), time.Now(), 0
	for {
		kind, payload, err := conn.Next()
		if err != nil {
			return err
		}
		if kind != protocol.KindLog {
			return conn.Unexpected(kind)
		}
		if time.Since(since) > time.Minute {
			c, since, records = h.StartCall(), time.Now(), 0
		}
		if records++; records > maxReports {
			return protocol.Errorf("more than %d reports in a minute", maxReports)
		}
		if err := logRecord(context.Background(), c, payload); err != nil {
			return err
		}
	}
}
