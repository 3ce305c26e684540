package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/wasmres/wasmres/internal/atomicfile"
)

// A Change is an edit of a configuration that has not been written.
type Change struct {
	*Document
	before, after []byte
}

// ErrChanged is the error if another program has changed the configuration since it was read.
var ErrChanged = errors.New("another program has changed it meanwhile: nothing was written")

// IsNone reports whether there is nothing to write.
func (c *Change) IsNone() bool { return bytes.Equal(c.before, c.after) }

// After returns the whole file as it will be. The caller does not change it.
func (c *Change) After() []byte { return c.after }

// Diff returns the change in the unified format, each line with a line break. It has texts of the file as they are.
func (c *Change) Diff() string {
	name := c.File
	if c.Real != c.File {
		name += " (a link to " + c.Real + ")"
	}
	old := name
	if !c.Exists {
		old = "(no file)"
	}
	out := string(diff.Diff(old, c.before, name, c.after))
	_, out, _ = strings.Cut(out, "\n") // the command line of a diff
	return out
}

// Write writes the change in one step, and returns the file that has the configuration as it was; empty if there was none. It
// gives ErrChanged, and writes nothing, if the file is not as it was when it was read.
func (c *Change) Write(now time.Time) (backup string, err error) {
	if err := c.checkUnchanged(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(c.Real), 0o700); err != nil {
		return "", err
	}
	if c.Exists {
		backup = c.File + backupMark + now.UTC().Format("20060102T150405.000") + backupEnd
		if err := atomicfile.Write(backup, c.before, c.mode); err != nil {
			return "", fmt.Errorf("no backup, so nothing was written: %w", err)
		}
	}
	if err := atomicfile.WriteIf(c.Real, c.after, c.mode, c.checkUnchanged); err != nil {
		if backup != "" {
			err = errors.Join(err, os.Remove(backup))
		}
		return "", err
	}
	return backup, removeOldBackups(c.File)
}

// checkUnchanged compares the file with what was read.
func (c *Change) checkUnchanged() error {
	now, _, err := readFile(c.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !c.Exists:
		return nil
	case err == nil && c.Exists && bytes.Equal(now, c.before):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return fmt.Errorf("%s: %w", c.File, ErrChanged)
}

// Names of backups: that of the configuration, with a time.
const (
	backupMark = ".wasmres-"
	backupEnd  = ".bak"
	maxBackups = 5
)

// removeOldBackups removes all but the newest backups of a configuration.
func removeOldBackups(file string) error {
	dir, prefix := filepath.Dir(file), filepath.Base(file)+backupMark
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var all []string
	for _, e := range entries {
		stamp, isBackup := strings.CutPrefix(e.Name(), prefix)
		if _, err := time.Parse("20060102T150405.000"+backupEnd, stamp); isBackup && err == nil {
			all = append(all, e.Name())
		}
	}
	slices.Sort(all)
	for len(all) > maxBackups {
		if err := os.Remove(filepath.Join(dir, all[0])); err != nil {
			return err
		}
		all = all[1:]
	}
	return nil
}
