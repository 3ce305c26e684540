package watch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A batch is what changes at about the same time.
type batch struct {
	all     bool                 // as in Config
	since   time.Time            // none is older
	changed map[string]happening // by name
	began   time.Time
	over    <-chan time.Time // nil while it is empty
}

// A happening is what has happened to a file: the first of it, and anything of it.
type happening struct{ made, entry bool }

// what says what an event means for a file: whether there was none before, and whether it is one of its folder's entries
// that have come or gone.
func what(op fsnotify.Op) happening {
	return happening{made: op.Has(fsnotify.Create), entry: op.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename)}
}

// add adds what has changed, and waits for more.
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

// atOnce is for how long, at most, a change is on its way to who waits for it already.
const atOnce = 100 * time.Millisecond

// change returns what there is to tell to who has called at some time: not of files that were there only meanwhile,
// unless all of it is wanted. It is nil, and the batch empty, when nothing is left.
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
		since = b.since // it may have waited for the call
	}
	return &Change{Names: slices.Sorted(maps.Keys(b.changed)), Entries: entries, At: b.began, Since: since}
}
