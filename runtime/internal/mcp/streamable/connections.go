package streamable

import (
	"cmp"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"
)

// Connections bounds the open connections of several servers together, those of streams included. It lends open files to others, for which
// it has servers close idle connections, and keeps an eighth for them, so that clients that are always busy leave some. Nil bounds nothing, and lends nothing. It is safe for concurrent use, and needs no closing.
type Connections struct {
	// fixed at creation
	files  int
	logger *slog.Logger

	mu     sync.Mutex // guards the fields below; not held while connections are closed
	lent   int        // files
	open   int        // connections of all servers
	of     map[IdleCloser]int
	warned time.Time
}

// An IdleCloser is a server.
type IdleCloser interface {
	// CloseIdle closes up to n connections that wait for requests, and returns how many.
	CloseIdle(n int) int
}

// warnEvery bounds how often a Connections logs that it has too few files.
const warnEvery = time.Minute

// NewConnections makes a Connections with so many files for connections and others together. A nil logger discards.
func NewConnections(files int, logger *slog.Logger) *Connections {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Connections{files: files, logger: logger, of: map[IdleCloser]int{}}
}

// Opened counts a connection of a server, and closes idle ones if there are too many, a hundredth of them at once. It reports false if too
// few are idle: then the caller closes the new one. In any case the caller calls Closed once, when the connection is closed.
func (c *Connections) Opened(s IdleCloser) bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	c.open++
	c.of[s]++
	over := c.overLocked()
	atOnce := max(over, c.open/100)
	c.mu.Unlock()
	return over <= 0 || c.shrink(over, atOnce)
}

// Closed says that a connection of a server is closed.
func (c *Connections) Closed(s IdleCloser) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.of[s]--; c.of[s] == 0 {
		delete(c.of, s)
	}
}

// Lend says how many files others need, and closes as many idle connections as they lack. It reports false if too few are idle: no
// connection opens until the others have their files, or need fewer.
func (c *Connections) Lend(files int) bool {
	c.mu.Lock()
	c.lent = files
	over := c.overLocked()
	c.mu.Unlock()
	return over <= 0 || c.shrink(over, over)
}

// overLocked is how many connections are too many.
func (c *Connections) overLocked() int { return c.open + max(c.lent, c.files/8) - c.files }

// shrink closes idle connections, those of the servers that have most first, and reports whether those that were too many are closed.
func (c *Connections) shrink(over, atOnce int) bool {
	c.mu.Lock()
	servers := slices.SortedFunc(maps.Keys(c.of), func(a, b IdleCloser) int { return cmp.Compare(c.of[b], c.of[a]) })
	warning := c.warningLocked()
	c.mu.Unlock()
	if warning != nil {
		c.logger.Warn("connections of clients closed, as all open files are in use: raise the limit, as by LimitNOFILE= of a unit or 'ulimit -Hn'", warning...)
	}
	closed := 0
	for _, s := range servers {
		if closed < over {
			closed += s.CloseIdle(atOnce - closed)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overLocked() <= 0
}

// warningLocked returns the attributes of a warning, or nil if the last one was less than [warnEvery] ago.
func (c *Connections) warningLocked() []any {
	if time.Since(c.warned) < warnEvery {
		return nil
	}
	c.warned = time.Now()
	return []any{"files", c.files, "connections", c.open, "files_of_providers", c.lent}
}

// Counted returns a connection of a server that was counted, and is closed by others: closing it counts that.
func (c *Connections) Counted(conn net.Conn, s IdleCloser) net.Conn {
	if c == nil {
		return conn
	}
	return &counted{Conn: conn, closed: sync.OnceFunc(func() { c.Closed(s) })}
}

type counted struct {
	net.Conn
	closed func()
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	defer c.closed()
	return c.Conn.Close()
}
