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

// Reasons for the end of changes.
var (
	ErrGone   = errors.New("the folder is gone") // removed or renamed
	ErrClosed = errors.New("the watcher is closed")
)

// Config configures a Watcher.
type Config struct {
	Folder string
	// Ignores reports whether to ignore a file or directory, and all below it. name is its path below Folder, with
	// slashes. Hidden files and those of editors are ignored in any case. Nil ignores no others.
	Ignores func(name string) bool
	// All ignores nothing: it also reports hidden files, files of editors, files that existed for a moment, empty
	// directories, and changes of permissions and times.
	All bool

	Quiet      time.Duration // time without a change after which Next returns; 0 means 50 ms
	Longest    time.Duration // time after which Next returns in any case; 0 means 1 s
	MaxFolders int           // that are watched at once; 0 means 4,096
}

// A Change is a set of changes at about the same time.
type Change struct {
	Names   []string  // below the directory, with slashes, in order; some 1,000 at most; "." for anything
	Entries bool      // some of them may have been added or removed
	At      time.Time // when the first of them was seen
	Since   time.Time // none of them is older
}

// A Watcher watches a directory and those below it, also new ones. The caller closes it.
type Watcher struct {
	// fixed at creation
	cfg  Config
	root string // absolute, without symbolic links

	mu     sync.Mutex // guards the fields below
	events *fsnotify.Watcher
	closed bool

	folders map[string]struct{} // watched ones; owned by the caller of Next
	told    time.Time           // when Next last returned a change, or Open was called; likewise
	moved   bool                // directories were moved, so that the system may confuse them; likewise
	unread  error               // what is not watched although All is set; likewise, until it is returned
}

// Open begins to watch, until ctx ends at the latest while it opens. Its time grows with the number of directories.
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

// current returns the source of events.
func (w *Watcher) current() *fsnotify.Watcher {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events
}

// begin watches everything again: after a move of directories, the system's names for them are unreliable.
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

// Next waits for changes since its last return, or since Open, until there have been no more for a while. One goroutine
// at a time may call it. An error beside a change names the part of the directory that is not watched. An error alone
// says why there is no change: [ErrGone], [ErrClosed], or that of ctx.
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

// note adds an event to b, and watches new directories.
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

// recover continues after err. If events were lost, it reports that anything may have changed.
func (w *Watcher) recover(ctx context.Context, err error, b *batch) error {
	b.add(&w.cfg, ".", happening{entry: true})
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		return w.add(ctx, w.root, b)
	}
	return err
}

// name returns the path of a file below the directory.
func (w *Watcher) name(file string) string {
	name, err := filepath.Rel(w.root, file)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(name)
}

// add watches a directory and those below it, and adds existing files to b, unless that is nil.
func (w *Watcher) add(ctx context.Context, folder string, b *batch) error {
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		name := w.name(file)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist) && file != w.root: // it existed for a moment
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

// goesOn reports whether to watch other files although this one cannot be watched.
func (w *Watcher) goesOn(file string) bool { return w.cfg.All && file != w.root }

// addOne watches one directory, if it exists.
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

// forget stops watching a directory that is gone, and those below it: they may return under other names.
func (w *Watcher) forget(folder string) {
	if _, known := w.folders[folder]; !known {
		return
	}
	w.moved = true
	for f := range w.folders {
		if f == folder || strings.HasPrefix(f, folder+string(filepath.Separator)) {
			delete(w.folders, f)
			_ = w.current().Remove(f) // it may be unwatched already
		}
	}
}

// ignores reports whether to ignore a file or directory.
func (w *Watcher) ignores(name string) bool {
	base := path.Base(name)
	passing := !w.cfg.All && (strings.HasPrefix(base, ".") || isTemporary(base))
	return passing || w.cfg.Ignores != nil && w.cfg.Ignores(name)
}

// isTemporary reports whether a file is a temporary one of an editor: of Emacs, vim or JetBrains.
func isTemporary(base string) bool {
	return strings.HasSuffix(base, "~") || strings.HasPrefix(base, "#") && strings.HasSuffix(base, "#") ||
		strings.HasSuffix(base, "___jb_tmp___") || strings.HasSuffix(base, "___jb_old___") || base == "4913"
}
