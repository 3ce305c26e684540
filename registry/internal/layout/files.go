package layout

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/wasmres/wasmres/internal/filelock"
)

// replacements is how often a file may be replaced while it is opened: by a rename of another process that stores the same.
const replacements = 100

// open opens a regular file of the layout. It checks the open file, so that no link or pipe takes its place. The error is
// [fs.ErrNotExist] when there is none.
func (l *Layout) open(name string) (f *os.File, info fs.FileInfo, err error) {
	for range replacements {
		if f, info, err = l.openOnce(name); !errors.Is(err, errReplaced) {
			break
		}
	}
	return f, info, err
}

var errReplaced = errors.New("another file took its place while it was opened")

// openOnce is open, with errReplaced where the name has got another regular file meanwhile.
func (l *Layout) openOnce(name string) (*os.File, fs.FileInfo, error) {
	named, err := l.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	f, err := l.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !(named.Mode().IsRegular() && info.Mode().IsRegular()) {
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err == nil && !os.SameFile(named, info) {
		err = fmt.Errorf("%s: %w", name, errReplaced)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// readFile reads a file of at most limit bytes.
func (l *Layout) readFile(name string, limit int64) ([]byte, error) {
	f, info, err := l.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes: at most %d are accepted", name, info.Size(), limit)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// A draft is a file that is being written, under a name that no reader looks at. It is locked until it is closed, so that
// no other process removes it as a leftover.
type draft struct {
	*os.File
	l    *Layout
	name string
}

// draft creates an empty file. The caller ends it with commit or discard.
func (l *Layout) draft() (*draft, error) {
	if err := l.mkdir(ingestDir); err != nil {
		return nil, err
	}
	name := ingestDir + "/" + rand.Text()
	f, err := l.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	l.o.step("draft created")
	d := &draft{f, l, name}
	if locked, err := filelock.TryLock(f, true); err != nil || !locked {
		d.discard()
		return nil, errors.Join(err, errors.New("the file that was just created cannot be locked"))
	}
	return d, nil
}

// commit makes the draft the file called name, with its content on disk, in place of an earlier one. The name is on disk after
// a syncDir of its folder.
func (d *draft) commit(name string, mode fs.FileMode) error {
	err := errors.Join(d.Chmod(mode), d.Sync())
	d.l.o.step("draft synced")
	if err == nil {
		err = d.l.mkdir(path.Dir(name))
	}
	if err == nil {
		err = d.l.root.Rename(d.name, name)
	}
	if err != nil {
		d.discard()
		return err
	}
	d.l.o.step("draft renamed")
	return d.Close()
}

// discard closes and removes the draft. A file that stays is removed later, as a leftover.
func (d *draft) discard() {
	_ = d.l.root.Remove(d.name)
	_ = d.Close()
}

// replace replaces the content of a file, so that other processes find the old one or the new one.
func (l *Layout) replace(name string, text []byte) error {
	d, err := l.draft()
	if err != nil {
		return err
	}
	half := len(text) / 2
	if _, err = d.Write(text[:half]); err == nil {
		l.o.step("draft half written")
		_, err = d.Write(text[half:])
	}
	if err != nil {
		d.discard()
		return err
	}
	l.o.step("draft written")
	if err := d.commit(name, l.mode(0o644)); err != nil {
		return err
	}
	return l.syncDir(path.Dir(name))
}

// syncDir writes the entries of a folder to disk. Some file systems need no sync of folders and refuse it.
func (l *Layout) syncDir(name string) error {
	dir, err := l.root.Open(name)
	if err != nil {
		return err
	}
	_ = dir.Sync()
	l.o.step("folder synced")
	return dir.Close()
}

// entries calls visit for the entries of a folder, until ctx ends. A folder that does not exist has none.
func (l *Layout) entries(ctx context.Context, name string, visit func(fs.FileInfo)) error {
	dir, err := l.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		some, err := dir.ReadDir(1000)
		for _, e := range some {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			info, err := l.root.Lstat(name + "/" + e.Name())
			if err == nil {
				visit(info)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// isAbandoned reports whether a file is older than age and no process has locked it: the process that made it has ended. If
// so, it calls remove while no other process can lock the file.
func (l *Layout) isAbandoned(name string, info fs.FileInfo, age time.Duration, remove func(name string) error) bool {
	if !info.Mode().IsRegular() || time.Since(info.ModTime()) < age {
		return false
	}
	f, _, err := l.open(name)
	if err != nil {
		return false
	}
	defer filelock.Close(f)
	locked, err := filelock.TryLock(f, true)
	return err == nil && locked && remove(name) == nil
}

// removeAbandoned has remove called for the abandoned files of a folder. It returns how many, and the bytes that this frees.
func (l *Layout) removeAbandoned(ctx context.Context, dir string, age time.Duration, remove func(name string) error) (n int, freed int64, err error) {
	err = l.entries(ctx, dir, func(info fs.FileInfo) {
		if l.isAbandoned(dir+"/"+info.Name(), info, age, remove) {
			n++
			freed += info.Size()
		}
	})
	return n, freed, err
}
