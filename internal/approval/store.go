package approval

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
)

const (
	suffix     = ".approval"
	maxRecords = 10_000
)

// A Store keeps records in a folder that is the user's alone. Several processes may use it at once: files appear and go
// as a whole, and the last to write wins. Nothing is held open between calls.
type Store struct{ dir string }

// DefaultDir is where the user's approvals are kept.
func DefaultDir() (string, error) {
	base, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "wasmres", "approvals"), nil
}

// Open gives the store in a folder, which must be the user's and closed to all others. The folder is made with the first
// record.
func Open(dir string) (*Store, error) {
	s := &Store{dir}
	root, err := s.open()
	if err == nil {
		err = root.Close()
	}
	return s, ignoreAbsent(err)
}

// open opens the folder, and checks that nobody else uses it. The error is [fs.ErrNotExist] when it is not there.
func (s *Store) open() (*os.Root, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, fmt.Errorf("approvals: %w", err)
	}
	info, err := root.Stat(".")
	if err == nil {
		err = private(info)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("approvals: the folder %s is not used: %w", s.dir, err), root.Close())
	}
	return root, nil
}

// Get gives the record of a digest. The error is [fs.ErrNotExist] when there is none; any other says that what there is
// cannot be trusted.
func (s *Store) Get(digest string) (*Record, error) {
	if err := CheckDigest(digest); err != nil {
		return nil, err
	}
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return s.get(root, digest)
}

func (s *Store) get(root *os.Root, digest string) (*Record, error) {
	name := fileOf(digest)
	text, err := read(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var r *Record
	if err == nil {
		r, err = decode(text)
	}
	if err == nil && r.Digest != digest {
		err = errors.New("it is about another module")
	}
	if err != nil {
		return nil, fmt.Errorf("the approval %s does not count: %w", filepath.Join(s.dir, name), err)
	}
	return r, nil
}

func fileOf(digest string) string { return strings.TrimPrefix(digest, digestPrefix) + suffix }

// read reads a file that is one, and the user's own. It is checked when it is open, so that nobody changes it
// meanwhile.
func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := private(info); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord+1 {
		return nil, fmt.Errorf("it has %d bytes", info.Size())
	}
	return io.ReadAll(io.LimitReader(f, maxRecord+2))
}

// Grant keeps that a person granted r.Policy to the module r.Digest, in place of what was decided before.
func (s *Store) Grant(r Record) error {
	r.Revoked, r.Inherited = false, false
	return s.put(&r)
}

// Inherit keeps that a module ran with what an earlier version was granted, unless something was decided about it.
func (s *Store) Inherit(r Record) error {
	if _, err := s.Get(r.Digest); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.Revoked, r.Inherited = false, true
	return errors.Join(s.put(&r), s.thin(r.Origin))
}

// maxInherited is how many records are kept of versions of one file that nobody decided about: the last ones.
const maxInherited = 10

// thin takes away what is too many of the records of a file that only say that it inherited.
func (s *Store) thin(origin string) error {
	records, _ := s.List()
	kept := 0
	for _, r := range records {
		if !r.Inherited || r.Origin != origin {
			continue
		}
		if kept++; kept <= maxInherited {
			continue
		}
		if err := s.Reset(r.Digest); err != nil {
			return err
		}
	}
	return nil
}

// Revoke keeps that a module is refused, whatever earlier versions of it were granted.
func (s *Store) Revoke(r Record) error {
	r.Revoked, r.Inherited, r.Policy = true, false, &policy.Policy{}
	return s.put(&r)
}

// Reset forgets what was decided about a module. Forgetting nothing is fine.
func (s *Store) Reset(digest string) error {
	if err := CheckDigest(digest); err != nil {
		return err
	}
	root, err := s.open()
	if err != nil {
		return ignoreAbsent(err)
	}
	defer root.Close()
	return ignoreAbsent(root.Remove(fileOf(digest)))
}

// put writes a record under another name, and then in its place.
func (s *Store) put(r *Record) error {
	if err := CheckDigest(r.Digest); err != nil {
		return err
	}
	text, err := r.encode()
	if err != nil {
		return err
	}
	if _, err := decode(text); err != nil {
		return fmt.Errorf("approvals: this could not be read again: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := replace(root, fileOf(r.Digest), text); err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	return nil
}

// replace has a file hold a text, at once and for good.
func replace(root *os.Root, name string, text []byte) error {
	scratch := fmt.Sprintf("%s.%d.%d%s", name, os.Getpid(), time.Now().UnixNano(), scratchSuffix)
	err := write(root, scratch, text)
	if err == nil {
		err = root.Rename(scratch, name)
	}
	if err != nil {
		return errors.Join(err, ignoreAbsent(root.Remove(scratch)))
	}
	return sync(root)
}

func write(root *os.Root, name string, text []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// sync has the folder's entries on disk. Systems that cannot do that keep them without being asked.
func sync(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	_ = dir.Sync()
	return dir.Close()
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List gives the records that count, the latest first, and what is wrong with the others.
func (s *Store) List() (records []Record, wrong error) {
	root, err := s.open()
	if err != nil {
		return nil, ignoreAbsent(err)
	}
	defer root.Close()
	names, err := s.names(root)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range names {
		digest, _ := digestOf(name)
		r, err := s.get(root, digest)
		if err != nil {
			errs = append(errs, ignoreAbsent(err))
			continue
		}
		records = append(records, *r)
	}
	slices.SortStableFunc(records, func(a, b Record) int { return b.When.Compare(a.When) })
	return records, errors.Join(errs...)
}
