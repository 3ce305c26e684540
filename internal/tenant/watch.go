package tenant

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/watch"
)

// When files are looked at.
const (
	quietTime   = 30 * time.Millisecond // without a change, after which changes are told
	pollTime    = 5 * time.Second       // where the system does not report changes
	checkTime   = 30 * time.Second      // in any case: network file systems do not report all
	maxWatched  = 16                    // folders; each takes one of some 128 instances of inotify
	problemTime = time.Minute           // between two lines of the log about one folder
)

// A Watcher tells when the files of settings and tenants may have changed.
type Watcher struct {
	logger  *slog.Logger
	changed chan struct{}
	mu      sync.Mutex    // is held to send to folders
	folders chan []folder // what to watch; the last one counts
	done    chan struct{} // closed when all goroutines have ended
}

// A folder has files that are watched.
type folder struct {
	path  string   // absolute
	names []string // of these files in it, sorted; nil for those of tenants
}

// Watch watches the files that s names until ctx ends. Settings without Watch are watched, too: the caller decides. A nil
// logger discards.
func Watch(ctx context.Context, s *Settings, logger *slog.Logger) *Watcher {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{logger: logger, changed: make(chan struct{}, 1), folders: make(chan []folder, 1), done: make(chan struct{})}
	w.Follow(s, nil)
	go w.run(ctx)
	return w
}

// Changed receives when files may have changed: first when they are watched, then once for changes at about the same time,
// and every 30 seconds at least.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Done is closed when nothing is watched any longer, after the end of the context.
func (w *Watcher) Done() <-chan struct{} { return w.done }

// Follow replaces the files that are watched, as they are after a reading: those of settings, those of tenants, and policies.
func (w *Watcher) Follow(s *Settings, policies []string) {
	all := []folder{{path: s.Tenants}}
	for _, name := range slices.Concat(s.Files, policies) {
		dir := filepath.Dir(name)
		i := slices.IndexFunc(all, func(f folder) bool { return f.path == dir && f.names != nil })
		if i < 0 {
			i = len(all)
			all = append(all, folder{path: dir})
		}
		all[i].names = append(all[i].names, filepath.Base(name))
	}
	for i := range all {
		slices.Sort(all[i].names)
		all[i].names = slices.Compact(all[i].names)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.folders:
	default:
	}
	w.folders <- all // there is room: others only receive
}

// tell makes Changed receive.
func (w *Watcher) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// run watches the folders that Follow gives.
func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	var running sync.WaitGroup
	defer running.Wait()
	known := map[string]watched{}
	tick := time.NewTicker(checkTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.tell()
		case all := <-w.folders:
			if len(all) > maxWatched {
				w.logger.Info("files in many folders are looked at in intervals only", "folders", len(all)-maxWatched, "interval", checkTime)
			}
			w.follow(ctx, all[:min(len(all), maxWatched)], known, &running)
		}
	}
}

// A watched folder has a goroutine, which stop ends.
type watched struct {
	folder
	stop context.CancelFunc
}

// follow begins to watch what is new in all, and ends what is not in it.
func (w *Watcher) follow(ctx context.Context, all []folder, known map[string]watched, running *sync.WaitGroup) {
	next := map[string]folder{}
	for _, f := range all {
		next[f.path+"\x00"+strings.Join(f.names, "\x00")] = f
	}
	for key, old := range known {
		if _, stays := next[key]; !stays {
			old.stop()
			delete(known, key)
		}
	}
	for key, f := range next {
		if _, runs := known[key]; !runs {
			folderCtx, stop := context.WithCancel(ctx)
			known[key] = watched{f, stop}
			running.Go(func() { w.watch(folderCtx, f) })
		}
	}
}

// watch reports changes in one folder. While the folder is missing, or the system cannot watch it, it looks in intervals.
func (w *Watcher) watch(ctx context.Context, f folder) {
	var said time.Time
	for ctx.Err() == nil {
		err := w.watchUntil(ctx, f)
		if ctx.Err() != nil {
			return
		}
		if now := time.Now(); now.Sub(said) > problemTime {
			said = now
			w.logger.Warn("folder not watched, its files are looked at in intervals", "dir", f.path, "interval", pollTime, "err", err)
		}
		w.tell()
		select {
		case <-ctx.Done():
		case <-time.After(pollTime):
		}
	}
}

// watchUntil reports changes in a folder until it cannot be watched any longer.
func (w *Watcher) watchUntil(ctx context.Context, f folder) error {
	in, err := watch.Open(ctx, watch.Config{Folder: f.path, Ignores: f.ignores, All: true, Quiet: quietTime})
	if err != nil {
		return err
	}
	defer in.Close()
	w.tell() // what has changed before
	for {
		change, err := in.Next(ctx)
		if change == nil {
			return err
		}
		w.tell()
	}
}

// ignores reports whether a change of a name below the folder changes no file of it. Kubernetes replaces all files of a
// volume by a change of the link ..data.
func (f *folder) ignores(name string) bool {
	switch {
	case strings.ContainsRune(name, '/'):
		return true
	case name == "..data":
		return false
	case f.names == nil:
		return strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml")
	}
	_, found := slices.BinarySearch(f.names, name)
	return !found
}
