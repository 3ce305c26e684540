package compiler

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
)

// DefaultMaxBytes is the default of [Config.MaxBytes].
const DefaultMaxBytes = 2 << 30

// spared is how long an entry stays after its last use, however full the directory is: another process may be about to
// read it. It is not for images, which are opened at once and not missed.
const spared = 10 * time.Minute

// A Cached is one entry of a cache directory.
type Cached struct {
	Digest string    `json:"digest"` // of the module, or of what the entry was made from
	Kind   string    `json:"kind"`   // compiled, image, mapped, prepared or refused
	Bytes  int64     `json:"bytes"`
	Used   time.Time `json:"used"` // when it was made, or was last read; of an image, when it was made
}

// mappedKind is the kind of the files of native code alone, and imageKind that of images.
const (
	mappedKind = "mapped"
	imageKind  = "image"
)

// kinds are the kinds of entries, each the ending of a file name.
var kinds = []string{"compiled", imageKind, mappedKind, "prepared", "refused"}

// List returns the entries of a cache directory, the least recently used first. A directory that does not exist has
// none; one that other users can write to is an error.
func List(dir string) ([]Cached, error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := codedir.Check(dir); err != nil {
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
		if !ok || err != nil { // another process may have removed it meanwhile
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
			one.Bytes += diskSize(info)
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

// cachedName parses the name of an entry. ok is false for other files.
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

// folderSize returns the bytes of all files below a directory. Files that disappear meanwhile count as nothing.
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

// Size returns the bytes of all entries.
func Size(all []Cached) (bytes int64) {
	for _, one := range all {
		bytes += one.Bytes
	}
	return bytes
}

// Clean removes entries of a cache directory, until at most so many bytes are left, and returns them: images first, the oldest first, then
// files of native code alone, since they are made again in milliseconds, then all others; of these, the least recently used first. Other
// processes may use the directory meanwhile. On Unix, a process that reads a removed file can go on reading. On Windows, Clean leaves an
// open file in place, without an error. A removed module is compiled again when it is needed.
func Clean(dir string, most int64) (removed []Cached, err error) {
	return clean(dir, most, time.Time{})
}

// clean is Clean for images, and for other entries that were not used since that time; a zero time includes all. It spares no image, so
// that images have nothing else removed, however many were made lately.
func clean(dir string, most int64, since time.Time) (removed []Cached, err error) {
	all, err := List(dir)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Cached) int { return cmp.Compare(orderOf(a), orderOf(b)) })
	size := Size(all)
	for _, one := range all {
		if size <= most {
			break
		}
		if one.Kind != imageKind && !since.IsZero() && one.Used.After(since) {
			continue
		}
		if remove(dir, one) != nil {
			continue // another process has it open, or has removed it
		}
		size -= one.Bytes
		removed = append(removed, one)
	}
	return removed, nil
}

// orderOf is the order in which entries of a kind are removed.
func orderOf(c Cached) int {
	switch c.Kind {
	case imageKind:
		return 0
	case mappedKind:
		return 1
	}
	return 2
}

// remove removes the file that marks a module as present before the module itself.
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

// use sets the time of last use of a file to now. On failure the file is only removed sooner.
func use(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

// limit removes entries beyond the bound. Those that it cannot remove now remain until the next call.
func (s *store) limit() {
	_, _ = clean(s.dir, s.maxBytes, time.Now().Add(-spared))
}
