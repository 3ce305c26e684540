package guesttest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// A recipe is all that a module depends on, which is what tells it from every other module of the same name.
type recipe struct {
	digest hash.Hash
	err    error // the first one
}

// newRecipe begins a recipe with what every build depends on.
func newRecipe() *recipe {
	r := &recipe{digest: sha256.New()}
	r.add("go", []byte(goruntime.Version()))
	return r
}

func (r *recipe) add(name string, content []byte) {
	fmt.Fprintf(r.digest, "%q %d\n", name, len(content))
	r.digest.Write(content)
}

// addFile reads a file. Go's cache of test results notes that the test has read it, and so the test runs again when the
// file changes.
func (r *recipe) addFile(path string) {
	text, err := os.ReadFile(path)
	if err != nil && r.err == nil {
		r.err = err
	}
	r.add(filepath.Base(path), text)
}

// key names the module's folder.
func (r *recipe) key() (string, error) {
	return hex.EncodeToString(r.digest.Sum(nil)[:12]), r.err
}

const (
	moduleLife = 7 * 24 * time.Hour // how long a module stays that no test uses
	lockName   = "lock"
)

// shared returns the file called base in the folder that all test processes share. If it is not there, build makes it:
// it gets the path of a file to write. A process that needs a file which another one is making waits for that.
func shared(base string, r *recipe, build func(file string) error) (file string, err error) {
	all, err := sharedDir("guests")
	if err != nil {
		return "", err
	}
	key, err := r.key()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(all, strings.TrimSuffix(base, ".wasm")+"-"+key)
	file = filepath.Join(dir, base)
	if isThere(file) {
		return file, nil
	}
	sweep(all)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(dir, lockName)).Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	if isThere(file) {
		return file, nil
	}
	return file, install(file, build)
}

// install makes a file and moves it to its place, so that it is whole whenever it is there.
func install(file string, build func(file string) error) error {
	fresh, err := os.MkdirTemp(filepath.Dir(file), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	made := filepath.Join(fresh, filepath.Base(file))
	if err := build(made); err != nil {
		return err
	}
	return os.Rename(made, file)
}

// isThere reports whether a module is there, and notes that it is used.
func isThere(file string) bool {
	now := time.Now()
	return os.Chtimes(file, now, now) == nil
}

// sweep removes the modules that no test has used for long. What it cannot remove now, the next sweep removes.
func sweep(all string) {
	entries, err := os.ReadDir(all)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(all, e.Name())
		if isOld(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

// isOld reports whether all that is in a module's folder is old, and the folder as well.
func isOld(dir string) bool {
	old := true
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		old = old && time.Since(info.ModTime()) > moduleLife
		return nil
	})
	return old && (err == nil || errors.Is(err, fs.ErrNotExist))
}

// sharedDir returns a folder in the user's cache folder, which it makes.
func sharedDir(name string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "wasmres-tests", name)
	return dir, os.MkdirAll(dir, 0o700)
}
