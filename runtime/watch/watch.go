package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	defaultQuiet      = 50 * time.Millisecond
	defaultLongest    = time.Second
	defaultMaxFolders = 4096

	maxNames = 1000 // of one Change
)

// Why there are no more changes.
var (
	ErrGone   = errors.New("the folder is gone") // removed or renamed
	ErrClosed = errors.New("the watcher is closed")
)

// Config says what to watch.
type Config struct {
	Folder string
	// Ignores reports whether a file or folder, called name below Folder, with slashes, is none of our business;
	// nothing in such a folder is. Beside these, what is hidden or an editor's is ignored. Nil ignores nothing else.
	Ignores func(name string) bool
	// All is for who must not miss anything: what is hidden, or an editor's, counts too, as do files that were there for
	// a moment, empty folders, and changes of permissions and times.
	All bool

	Quiet      time.Duration // for how long nothing more must change; 0 means 50 ms
	Longest    time.Duration // after which a change is told anyhow; 0 means 1 s
	MaxFolders int           // that are watched at once; 0 means 4,096
}

// A Change is what has changed at about the same time.
type Change struct {
	Names   []string  // below the folder, with slashes, in order; about 1,000 at most. "." when it may be anything
	Entries bool      // some of them may have come or gone
	At      time.Time // when the first of them was seen
	Since   time.Time // none of them is older
}

// A Watcher watches a folder and those in it, also those that are made later. Close releases it.
type Watcher struct {
	// fixed at creation
	cfg  Config
	root string // absolute, without symbolic links

	mu     sync.Mutex // guards the fields below
	events *fsnotify.Watcher
	closed bool

	folders map[string]struct{} // that are watched, for the one who calls Next
	told    time.Time           // when Next gave a change last, or Open was called; likewise
	moved   bool                // folders were, so that the system may take one for another; likewise
	unread  error               // what is not watched, though All is wanted; likewise, until it is told
}

// Open begins to watch. It takes the longer the more there is in the folder, and ends when ctx does.
func Open(ctx context.Context, cfg Config) (*Watcher, error) {
	cfg.Quiet, cfg.Longest = cmp.Or(cfg.Quiet, defaultQuiet), cmp.Or(cfg.Longest, defaultLongest)
	cfg.MaxFolders = cmp.Or(cfg.MaxFolders, defaultMaxFolders)
	root, err := filepath.Abs(cfg.Folder)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", cfg.Folder, err)
	}
	w := &Watcher{cfg: cfg, root: root, events: events, folders: map[string]struct{}{}, told: time.Now()}
	if err := w.add(ctx, root, nil); err != nil {
		return nil, errors.Join(err, events.Close())
	}
	return w, nil
}

// Close ends the watching, and a Next under way.
func (w *Watcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return w.events.Close()
}

// current is what events come from.
func (w *Watcher) current() *fsnotify.Watcher {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events
}

// begin watches everything anew: after folders were moved, the system's names for them are not to be relied on.
func (w *Watcher) begin(ctx context.Context) error {
	fresh, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	w.mu.Lock()
	old := w.events
	if w.closed {
		old = fresh // Next ends with the old one
	} else {
		w.events = fresh
	}
	w.mu.Unlock()
	w.folders, w.moved = map[string]struct{}{}, false
	return errors.Join(old.Close(), w.add(ctx, w.root, nil))
}

// Next waits for changes since the last time, or since Open, until there have been no more for a while. It is called
// by one goroutine at a time. Beside a change, an error says what of the folder is not watched; alone, it says why
// there is no change: [ErrGone], [ErrClosed], or that ctx has ended.
func (w *Watcher) Next(ctx context.Context) (*Change, error) {
	b := batch{all: w.cfg.All, since: w.told}
	called, problem := time.Now(), error(nil)
	for {
		events := w.current()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case event, open := <-events.Events:
			switch {
			case !open:
				return nil, ErrClosed
			case event.Name == w.root && event.Has(fsnotify.Remove|fsnotify.Rename):
				return nil, ErrGone
			}
			problem = cmp.Or(problem, w.note(ctx, event, &b))
		case err, open := <-events.Errors:
			if !open {
				return nil, ErrClosed
			}
			problem = cmp.Or(problem, w.recover(ctx, err, &b))
		case <-b.over:
			if w.moved && w.cfg.All {
				problem = cmp.Or(w.begin(ctx), problem)
				b.changed["."] = happening{entry: true}
			}
			if change := b.change(w.root, called); change != nil {
				problem = cmp.Or(problem, w.unread)
				w.told, w.unread = time.Now(), nil
				return change, problem
			}
		}
	}
}

// note adds to b what an event is about, and watches folders that are new.
func (w *Watcher) note(ctx context.Context, event fsnotify.Event, b *batch) error {
	name := w.name(event.Name)
	if event.Op == fsnotify.Chmod && !w.cfg.All || w.ignores(name) {
		return nil
	}
	if event.Has(fsnotify.Remove | fsnotify.Rename) {
		w.forget(event.Name)
	}
	if info, err := os.Lstat(event.Name); err == nil && info.IsDir() {
		if w.cfg.All {
			b.add(&w.cfg, name, what(event.Op))
		}
		return w.add(ctx, event.Name, b)
	}
	b.add(&w.cfg, name, what(event.Op))
	return nil
}

// recover goes on after err: when there was more to tell than the system keeps, anything may have changed.
func (w *Watcher) recover(ctx context.Context, err error, b *batch) error {
	b.add(&w.cfg, ".", happening{entry: true})
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		return w.add(ctx, w.root, b)
	}
	return err
}

// name returns what a file is called below the folder.
func (w *Watcher) name(file string) string {
	name, err := filepath.Rel(w.root, file)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(name)
}

// add watches a folder and those in it, and adds the files that are there to b, unless that is nil.
func (w *Watcher) add(ctx context.Context, folder string, b *batch) error {
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		name := w.name(file)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist) && file != w.root: // it was there for a moment
			return nil
		case err != nil && w.goesOn(file):
			w.unread = cmp.Or(w.unread, err)
			return fs.SkipDir
		case err != nil:
			return err
		case name != "." && w.ignores(name):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			err := w.addOne(file)
			if err == nil || !w.goesOn(file) {
				return err
			}
			if w.unread = cmp.Or(w.unread, err); errors.Is(err, errTooMany) {
				return fs.SkipAll
			}
			return fs.SkipDir
		case b != nil:
			b.add(&w.cfg, name, what(fsnotify.Create))
		}
		return nil
	})
}

var errTooMany = errors.New("not all of them are watched")

// goesOn reports whether what is beside a file is watched though it cannot be.
func (w *Watcher) goesOn(file string) bool { return w.cfg.All && file != w.root }

// addOne watches one folder, if it is there.
func (w *Watcher) addOne(folder string) error {
	if _, known := w.folders[folder]; !known && len(w.folders) >= w.cfg.MaxFolders {
		return fmt.Errorf("%s has more than %d folders: %w", w.cfg.Folder, w.cfg.MaxFolders, errTooMany)
	}
	err := w.current().Add(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && folder != w.root:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%s has more folders than this system watches: %w: raise fs.inotify.max_user_watches", w.cfg.Folder, errTooMany)
	case err != nil:
		return fmt.Errorf("watch %s: %w", folder, err)
	}
	w.folders[folder] = struct{}{}
	return nil
}

// forget ends the watching of a folder that is gone, and of those in it: they may come back under other names.
func (w *Watcher) forget(folder string) {
	if _, known := w.folders[folder]; !known {
		return
	}
	w.moved = true
	for f := range w.folders {
		if f == folder || strings.HasPrefix(f, folder+string(filepath.Separator)) {
			delete(w.folders, f)
			_ = w.current().Remove(f) // that it is not watched any more is as well
		}
	}
}

// ignores reports whether a file or folder of a watched one is none of our business.
func (w *Watcher) ignores(name string) bool {
	base := path.Base(name)
	passing := !w.cfg.All && (strings.HasPrefix(base, ".") || isTemporary(base))
	return passing || w.cfg.Ignores != nil && w.cfg.Ignores(name)
}

// isTemporary reports whether a file is one that an editor keeps while it writes another: Emacs, vim, and those of
// JetBrains.
func isTemporary(base string) bool {
	return strings.HasSuffix(base, "~") || strings.HasPrefix(base, "#") && strings.HasSuffix(base, "#") ||
		strings.HasSuffix(base, "___jb_tmp___") || strings.HasSuffix(base, "___jb_old___") || base == "4913"
}
