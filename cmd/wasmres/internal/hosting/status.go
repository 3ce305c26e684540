package hosting

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/systemd"
)

// tell logs that the service manager could not be told something.
func tell(logger *slog.Logger, err error) {
	if err != nil {
		logger.Warn("service manager not told", "err", err)
	}
}

// A statusLine keeps what "systemctl status" shows of the server true. It is safe for concurrent use.
type statusLine struct {
	logger *slog.Logger // fixed at creation

	mu        sync.Mutex // held while the service manager is told; guards the fields below
	said      string     // last; empty before the server is ready
	reloading bool       // the manager waits for ready
}

// ready tells the manager that the server serves.
func (s *statusLine) ready(n *node.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said, s.reloading = statusOf(n), false
	tell(s.logger, systemd.Ready(s.said))
}

// reload tells the manager that the server reads its files. The caller calls ready.
func (s *statusLine) reload() (ready func(*node.Node)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloading = true
	tell(s.logger, systemd.Reloading())
	return s.ready
}

// update tells the manager what has changed, if the server was ready before.
func (s *statusLine) update(n *node.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said == "" || s.reloading {
		return
	}
	if now := statusOf(n); now != s.said {
		s.said = now
		tell(s.logger, systemd.Status(now))
	}
}

// statusOf is a line about a server.
func statusOf(n *node.Node) string {
	s := n.Snapshot()
	line := fmt.Sprintf("serving %s, %d with problems", terminal.Counted(len(s.Tenants), "tenant"), len(s.Problems))
	if n.Unread() != nil {
		line += "; settings not read, the last ones stay in force: see the log"
	}
	return line
}
