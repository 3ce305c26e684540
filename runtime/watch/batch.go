package watch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A batch is a set of changes at about the same time.
type batch struct {
	all     bool                 // as in Config
	since   time.Time            // no change is older
	changed map[string]happening // by name
	began   time.Time
	over    <-chan time.Time // nil while it is empty
}

// A happening says what has happened to a file: first made says that it did not exist before; entry that a directory
// entry was added or removed.
type happening struct{ made, entry bool }

// what returns the meaning of an event for a file.
func what(op fsnotify.Op) happening {
	return happening{made: op.Has(fsnotify.Create), entry: op.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename)}
}

// add adds a change, and restarts the wait for more.
func (b *batch) add(cfg *Config, name string, now happening) {
	at := time.Now()
	if len(b.changed) == 0 {
		b.began, b.changed = at, map[string]happening{}
	}
	before, known := b.changed[name]
	switch {
	case known:
		b.changed[name] = happening{made: before.made, entry: before.entry || now.entry}
	case len(b.changed) < maxNames:
		b.changed[name] = now
	default:
		b.changed["."] = happening{entry: true}
	}
	b.over = time.After(min(cfg.Quiet, b.began.Add(cfg.Longest).Sub(at)))
}

// atOnce is the longest delay of a change for a caller that waits already.
const atOnce = 100 * time.Millisecond

// change returns the changes for a call of Next that began at called, without files that existed only meanwhile, unless
// Config.All is set. If none is left, it returns nil and empties the batch.
func (b *batch) change(root string, called time.Time) *Change {
	entries := false
	maps.DeleteFunc(b.changed, func(name string, h happening) bool {
		_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		passing := h.made && os.IsNotExist(err) && !b.all
		entries = entries || h.entry && !passing
		return passing
	})
	if b.over = nil; len(b.changed) == 0 {
		return nil
	}
	since := b.began.Add(-atOnce)
	if since.Before(called) {
		since = b.since // the batch may be older than the call
	}
	return &Change{Names: slices.Sorted(maps.Keys(b.changed)), Entries: entries, At: b.began, Since: since}
}
