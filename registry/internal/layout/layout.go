package layout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Options say how a layout is opened. The zero Options open an existing layout, which other programs may have written.
type Options struct {
	// Create creates the layout, and the folders above it, if there is none.
	Create bool
	// Private refuses a folder that other users can access, and creates one that they cannot.
	Private bool
	// Compress has modules compressed that have not been used lately. Other programs find no such blobs.
	Compress bool
	// LockWait bounds the wait for a process that changes the layout. 0 means 10 s.
	LockWait time.Duration

	step func(name string) // for tests; may be nil
}

// A Layout is an open image layout. Its methods may be called concurrently. Close releases it.
type Layout struct {
	dir      string // absolute
	root     *os.Root
	o        Options
	tidied   sync.Once // removes what killed processes have left in ingest, before the first blob is written
	mu       sync.Mutex
	verified map[string]fs.FileInfo // guarded by mu; files of this process that had the right digest, by name
}

const (
	versionFile = "oci-layout"
	indexFile   = "index.json"
	lockFile    = "index.lock"
	blobDir     = "blobs/sha256"
	ingestDir   = "ingest"
	zstdDir     = "zstd"
	pinDir      = "pins"
	usedDir     = "used"

	versionText = `{"imageLayoutVersion":"1.0.0"}`
)

// folders are those that a layout has or gets, each after the one above it.
var folders = []string{"blobs", blobDir, ingestDir, zstdDir, pinDir, usedDir}

// files are those that a layout gets before it is complete.
var files = []string{lockFile, indexFile, versionFile}

// Open opens the layout in dir.
func Open(dir string, o Options) (*Layout, error) {
	if o.LockWait <= 0 {
		o.LockWait = 10 * time.Second
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	l := &Layout{dir: dir, o: o, verified: map[string]fs.FileInfo{}}
	if o.Create {
		if err := os.MkdirAll(dir, l.mode(0o755)); err != nil {
			return nil, l.fail(err)
		}
	}
	if l.root, err = os.OpenRoot(dir); err != nil {
		return nil, l.fail(err)
	}
	if err := l.begin(); err != nil {
		return nil, errors.Join(l.fail(err), l.root.Close())
	}
	return l, nil
}

// Close releases the folder. Pins stay until they are released.
func (l *Layout) Close() error { return l.root.Close() }

// Dir returns the absolute path of the folder.
func (l *Layout) Dir() string { return l.dir }

// begin checks the folder, and creates the layout if that is wanted.
func (l *Layout) begin() error {
	if err := l.checkFolders(); err != nil {
		return err
	}
	text, err := l.readFile(versionFile, 4<<10)
	if errors.Is(err, fs.ErrNotExist) {
		if !l.o.Create {
			return errors.New("it is no OCI image layout: it has no file " + versionFile)
		}
		return l.create()
	}
	if err != nil {
		return err
	}
	var version struct {
		Version string `json:"imageLayoutVersion"`
	}
	if err := json.Unmarshal(text, &version); err != nil || version.Version != "1.0.0" {
		return fmt.Errorf("it is no OCI image layout of version 1.0.0: %s contains %.100q", versionFile, text)
	}
	return nil
}

// checkFolders checks that the folder is private, if it has to be, and that the folders in it are no links.
func (l *Layout) checkFolders() error {
	info, err := l.root.Stat(".")
	if err != nil {
		return err
	}
	if l.o.Private {
		if err := checkPrivate(info); err != nil {
			return err
		}
	}
	for _, name := range folders {
		info, err := l.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is a link or a file, not a folder", name)
		}
	}
	return nil
}

// create makes a layout in a folder that is empty, or in which a process was killed while it did the same.
func (l *Layout) create() error {
	entries, err := fs.ReadDir(l.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(folders, e.Name()) && !slices.Contains(files, e.Name()) {
			return fmt.Errorf("it is no OCI image layout, and no empty folder: it has %q: name another folder", e.Name())
		}
	}
	if err := l.mkdir(blobDir); err != nil {
		return err
	}
	// A process that waits for the lock finds what the one before it has written.
	err = l.update(context.Background(), func(*index) (bool, error) {
		_, err := l.root.Lstat(indexFile)
		return errors.Is(err, fs.ErrNotExist), nil
	})
	if err != nil {
		return err
	}
	return l.replace(versionFile, []byte(versionText))
}

// mkdir makes a folder of the layout, if it has none.
func (l *Layout) mkdir(name string) error {
	if _, err := l.root.Lstat(name); err == nil {
		return nil
	}
	return l.root.MkdirAll(name, l.mode(0o755))
}

// mode returns the mode of a file or folder: others may read it if the layout is not private.
func (l *Layout) mode(public fs.FileMode) fs.FileMode {
	if l.o.Private {
		return public & 0o700
	}
	return public
}

// fail names the layout in an error, and what to do about a full disk.
func (l *Layout) fail(err error) error {
	if err == nil {
		return nil
	}
	hint := ""
	if isDiskFull(err) {
		hint = ": free some space on its file system, or run wasmres images prune"
	}
	return fmt.Errorf("image layout %s: %w%s", l.dir, err, hint)
}
