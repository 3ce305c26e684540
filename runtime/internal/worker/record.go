package worker

import (
	"context"
	"log/slog"
	"slices"

	"github.com/wasmres/wasmres/runtime/internal/sandbox"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// record logs what a worker says, from a call's budget.
func record(ctx context.Context, c *sandbox.Call, payload []byte) error {
	var m protocol.Log
	if err := m.Decode(payload); err != nil {
		return err
	}
	keys, known := records[m.Message]
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

// records are what the runtime logs in a worker, and with what. There is no other line that a worker can put into the
// log.
var records = map[string][]string{
	"guest log":             {"op", "stream", "text"},
	"guest log dropped":     {"code", "bytes", "lines"},
	"service refused":       {"service", "code", "err"},
	"instance discarded":    {"why"},
	"instance close failed": {"err"},
}
