package worker

import (
	"slices"
	"sync"
	"time"
)

// lately is how long ago a module may have been called whose next calls are reckoned with.
const lately = time.Second

// A crowd is the modules that are open. It is safe for concurrent use.
type crowd struct {
	mu   sync.Mutex
	open []*guests // guarded by mu
}

func (c *crowd) enter(g *guests) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, g)
}

func (c *crowd) leave(g *guests) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = slices.DeleteFunc(c.open, func(other *guests) bool { return other == g })
}

// beside reports whether another module than g has been called of late.
func (c *crowd) beside(g *guests) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.open, func(other *guests) bool { return other != g && other.calledLately() })
}

func (g *guests) calledLately() bool {
	called := time.Duration(g.called.Load())
	return called > 0 && time.Since(g.runner.made)-called < lately
}
