package compiler

import (
	"context"
	"errors"
)

// What a child is expected to use: childMemory, and memoryEach for each byte of a metered module. A provider in Go of 1.7 MiB takes 86 MiB,
// a third of it files that it shares with its parent.
const (
	childMemory = 48 << 20 // bytes
	memoryEach  = 32
)

// errKilled says that something other than this process has killed a child, as the system does when memory is exhausted.
var errKilled = errors.New("the system has killed the child, as it does when memory is exhausted")

// compileWithin compiles a module within memory that it has reserved. If the system kills the child, it reserves twice as much, and
// compiles once more, both within Config.Timeout: a child changes nothing but its own temporary directory. A module whose second child is
// killed as well is not compiled again for a while.
func (c *Compiler) compileWithin(ctx context.Context, d digest, from source) (outcome, error) {
	ctx, stop := context.WithTimeoutCause(ctx, c.cfg.Timeout, errTimeout)
	defer stop()
	bytes := childMemory + memoryEach*int64(from.size)
	o, err := c.compileReserved(ctx, d, from, bytes)
	if c.cfg.Reserve == nil || !errors.Is(err, errKilled) {
		return o, err
	}
	c.cfg.Logger.Warn("compilation killed by the system, making room and trying once more", "digest", short(d), "bytes", 2*bytes)
	o, err = c.compileReserved(ctx, d, from, 2*bytes)
	if !errors.Is(err, errKilled) {
		return o, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return outcome{}, c.killed.add(d).Because(err)
}

func (c *Compiler) compileReserved(ctx context.Context, d digest, from source, bytes int64) (outcome, error) {
	bytes = min(bytes, int64(c.cfg.Memory))
	if c.cfg.Reserve != nil {
		release, err := c.cfg.Reserve(ctx, bytes)
		if err != nil {
			return outcome{}, err
		}
		defer release()
	}
	binary, err := from.load()
	if err != nil {
		return outcome{}, err
	}
	return c.compile(ctx, d, binary)
}
