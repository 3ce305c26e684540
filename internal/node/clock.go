package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/atomicfile"
	"github.com/wasmres/wasmres/internal/ledger"
)

const (
	clockFile    = "clock"         // has the highest time seen
	clockCheck   = time.Second     // how often the clock is looked at
	clockKeep    = time.Minute     // how often the highest time is written
	smallestStep = 2 * time.Second // that is one
)

// A clock is the time of the system, but for its steps back: while that is behind the highest time seen, also before a restart,
// the clock stands still. So no key that has expired lives again. It is safe for concurrent use but for check and keep.
type clock struct {
	// fixed at creation
	file   string
	system func() time.Time

	highest atomic.Int64 // in nanoseconds since 1970

	shown, monotonic time.Time // of the last check
	kept             int64     // highest in the file
	keptAt           time.Time // by the monotonic clock
}

// openClock reads the highest time seen from a data folder. behind is for how long the clock will stand still; zero for not.
func openClock(data string, system func() time.Time) (c *clock, behind time.Duration, err error) {
	if system == nil {
		system = time.Now
	}
	c = &clock{file: filepath.Join(data, clockFile), system: system, shown: system(), monotonic: time.Now(), keptAt: time.Now()}
	text, err := os.ReadFile(c.file)
	if err == nil {
		var seen time.Time
		if seen, err = time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text))); err != nil {
			return nil, 0, fmt.Errorf("%s does not have a time: remove it: %w", c.file, err)
		}
		c.highest.Store(seen.UnixNano())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	c.kept = c.highest.Load()
	return c, max(time.Duration(c.kept-c.shown.UnixNano()), 0), nil
}

// now gives the time.
func (c *clock) now() time.Time {
	t := c.system()
	if seen := c.highest.Load(); t.UnixNano() < seen {
		return time.Unix(0, seen)
	}
	return t
}

// check notes the time, and returns by how much the system's was set forward since the last check, or back if it is negative;
// zero for not. from is the time before.
func (c *clock) check() (from time.Time, step time.Duration) {
	shown, monotonic := c.system(), time.Now()
	from = c.shown
	step = shown.Round(0).Sub(from.Round(0)) - monotonic.Sub(c.monotonic)
	c.shown, c.monotonic = shown, monotonic
	if shown.UnixNano() > c.highest.Load() {
		c.highest.Store(shown.UnixNano())
	}
	if step.Abs() < smallestStep {
		return from, 0
	}
	return from, step
}

// keep writes the highest time, unless the file has it.
func (c *clock) keep() error {
	seen := c.highest.Load()
	if seen == c.kept {
		return nil
	}
	text := time.Unix(0, seen).UTC().Format(time.RFC3339Nano) + "\n"
	if err := atomicfile.Write(c.file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the highest time seen: %w", err)
	}
	c.kept, c.keptAt = seen, time.Now()
	return nil
}

// openClock opens the clock, and says if it stands still.
func (n *Node) openClock(data string) (err error) {
	var behind time.Duration
	if n.clock, behind, err = openClock(data, n.cfg.Now); err != nil || behind < smallestStep {
		return err
	}
	n.cfg.Logger.Warn("the time is behind the highest that this server has seen: keys expire as if it were that time; if that was wrong, remove the file and start again",
		"behind", behind.Round(time.Second), "file", n.clock.file)
	n.ledger.Note(clockEntry(n.clock.now(), -behind))
	return nil
}

func clockEntry(from time.Time, step time.Duration) ledger.Entry {
	format := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	return ledger.Entry{
		Actor: "server", Action: "clock.step", Before: format(from), After: format(from.Add(step)),
		Object: fmt.Sprintf("%+d s", int64(step.Round(time.Second)/time.Second)),
	}
}

// watchClock looks at the clock each second, until ctx ends.
func (n *Node) watchClock(ctx context.Context) {
	tick := time.NewTicker(clockCheck)
	defer tick.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		n.checkClock()
		if time.Since(n.clock.keptAt) < clockKeep {
			continue
		}
		err := n.clock.keep()
		if err != nil && !failed {
			n.cfg.Logger.Error("keys that expire now may live again if the clock is set back before a restart", "err", err)
		}
		failed = err != nil
	}
}

func (n *Node) checkClock() {
	if from, step := n.clock.check(); step != 0 {
		n.cfg.Logger.Warn("the clock was set", "from", from, "step", step)
		n.ledger.Note(clockEntry(from, step))
	}
}
