package compiler

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
)

// DefaultMaxBytes is how much a cache folder may hold unless [Config] says otherwise.
const DefaultMaxBytes = 2 << 30

// spared is for how long a module stays after it was used last, however full the folder is: another process may be about
// to read it.
const spared = 10 * time.Minute

// A Cached is one thing that a cache folder holds.
type Cached struct {
	Digest string    `json:"digest"` // of the module, or of what a prepared module was made of
	Kind   string    `json:"kind"`   // compiled, prepared or refused
	Bytes  int64     `json:"bytes"`
	Used   time.Time `json:"used"` // when it was made, or was last taken from the folder
}

// kinds are what a cache folder holds, by the ending of the file that says so.
var kinds = []string{"compiled", "prepared", "refused"}

// List returns what a cache folder holds, what was used least recently first. A folder that is not there holds nothing;
// one that others can write to is an error.
func List(dir string) ([]Cached, error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := wazero.CheckCacheDir(dir); err != nil {
		return nil, err
	}
	return list(dir)
}

func list(dir string) ([]Cached, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	found := map[string]*Cached{} // by name in the folder, folders by that of their marker
	for _, e := range entries {
		digest, kind, ok := cachedName(e)
		info, err := e.Info()
		if !ok || err != nil { // which another process may have removed meanwhile
			continue
		}
		name := digest + "." + kind
		one := found[name]
		if one == nil {
			one = &Cached{Digest: digest, Kind: kind}
			found[name] = one
		}
		if e.IsDir() {
			one.Bytes += folderSize(filepath.Join(dir, digest))
		} else {
			one.Bytes += info.Size()
		}
		if one.Used.Before(info.ModTime()) {
			one.Used = info.ModTime()
		}
	}
	var all []Cached
	for _, one := range found {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Cached) int {
		if order := a.Used.Compare(b.Used); order != 0 {
			return order
		}
		return strings.Compare(a.Digest+a.Kind, b.Digest+b.Kind)
	})
	return all, nil
}

// cachedName takes the name of an entry of a cache folder apart. ok is false for what is none of ours.
func cachedName(e fs.DirEntry) (digest, kind string, ok bool) {
	digest, kind, hasKind := strings.Cut(e.Name(), ".")
	isDigest := len(digest) == 64 && strings.Trim(digest, "0123456789abcdef") == ""
	switch {
	case !isDigest:
		return "", "", false
	case e.IsDir() && !hasKind:
		return digest, kinds[0], true
	}
	return digest, kind, e.Type().IsRegular() && slices.Contains(kinds, kind)
}

// folderSize is the bytes of all files below a folder. What disappears meanwhile counts as nothing.
func folderSize(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// Size is the bytes of all that is cached.
func Size(all []Cached) (bytes int64) {
	for _, one := range all {
		bytes += one.Bytes
	}
	return bytes
}

// Clean removes from a cache folder what was used least recently, until at most so many bytes are left, and gives what it
// has removed. Other processes may use the folder meanwhile. A file that one of them reads stays readable to it on Unix; on
// Windows such a file is not removed, and that is not an error. A module that is gone is compiled again when it is needed.
func Clean(dir string, most int64) (removed []Cached, err error) {
	return clean(dir, most, time.Time{})
}

// clean removes nothing that was used since then, unless that is zero.
func clean(dir string, most int64, since time.Time) (removed []Cached, err error) {
	all, err := List(dir)
	if err != nil {
		return nil, err
	}
	size := Size(all)
	for _, one := range all {
		if size <= most || !since.IsZero() && one.Used.After(since) {
			break
		}
		if remove(dir, one) != nil {
			continue // another process has it open, or was quicker
		}
		size -= one.Bytes
		removed = append(removed, one)
	}
	return removed, nil
}

// remove removes the file that says a module is there before the module itself.
func remove(dir string, one Cached) error {
	path := filepath.Join(dir, one.Digest)
	if err := os.Remove(path + "." + one.Kind); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if one.Kind != kinds[0] {
		return nil
	}
	return os.RemoveAll(path)
}

// use notes that a file of the folder was used now. What cannot be noted is removed sooner than it should be.
func use(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

// limit keeps the folder within its bound. What cannot be removed now will be next time.
func (s *store) limit() {
	_, _ = clean(s.dir, s.maxBytes, time.Now().Add(-spared))
}
