package watch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A batch is what changes at about the same time.
type batch struct {
	made  map[string]bool // by name: whether there was no such file before
	began time.Time
	over  <-chan time.Time // nil while it is empty
}

// add adds what has changed, and waits for more.
func (b *batch) add(cfg *Config, name string, made bool) {
	now := time.Now()
	if len(b.made) == 0 {
		b.began, b.made = now, map[string]bool{}
	}
	if _, known := b.made[name]; !known && len(b.made) < maxNames {
		b.made[name] = made
	}
	b.over = time.After(min(cfg.Quiet, b.began.Add(cfg.Longest).Sub(now)))
}

// change gives what there is to tell: not of files that were there only meanwhile. It is nil, and the batch empty, when
// nothing is left.
func (b *batch) change(root string) *Change {
	maps.DeleteFunc(b.made, func(name string, made bool) bool {
		_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		return made && os.IsNotExist(err)
	})
	if b.over = nil; len(b.made) == 0 {
		return nil
	}
	return &Change{Names: slices.Sorted(maps.Keys(b.made)), At: b.began}
}
