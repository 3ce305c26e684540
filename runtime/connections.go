package runtime

import (
	"log/slog"

	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
)

// Connections shares the files that this process may have open among the connections of clients on its listeners, by
// TransportOptions.Connections, and the worker processes of a Live, by LiveConfig.Connections. Connections may have what processes do
// not use, but for an eighth of all files. When a process starts for which too few files are left, connections are closed that wait for requests, those that have waited
// longest first. A start waits while all are in use, and no connection opens then. It is safe for concurrent use, and needs no closing.
type Connections struct{ shared *streamable.Connections }

// NewConnections makes a Connections with so many files for both. It logs when connections are closed or refused for want of files; a nil
// logger discards.
func NewConnections(files int, logger *slog.Logger) *Connections {
	return &Connections{streamable.NewConnections(files, logger)}
}

// inner returns what transports need of c; nil for nil.
func (c *Connections) inner() *streamable.Connections {
	if c == nil {
		return nil
	}
	return c.shared
}

// Lend implements [live.Files].
func (c *Connections) Lend(workers int) bool { return c.shared.Lend(workers * eachDescriptors) }
