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

// A Store stores records in a private folder of the user. Several processes may use it at once: a file is replaced
// atomically, and the last writer wins. The store holds no file open between calls, so there is nothing to close.
type Store struct{ dir string }

// DefaultDir returns the folder of the user's approvals.
func DefaultDir() (string, error) {
	base, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "wasmres", "approvals"), nil
}

// Open returns the store in a folder, which must belong to the user and be inaccessible to other users. The first
// record creates the folder.
func Open(dir string) (*Store, error) {
	s := &Store{dir}
	root, err := s.open()
	if err == nil {
		err = root.Close()
	}
	return s, ignoreAbsent(err)
}

// open opens the folder, and checks that it is private. The error is [fs.ErrNotExist] when there is no folder.
func (s *Store) open() (*os.Root, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, fmt.Errorf("approvals: %w", err)
	}
	info, err := root.Stat(".")
	if err == nil {
		err = checkPrivate(info)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("approvals: the folder %s is ignored: %w", s.dir, err), root.Close())
	}
	return root, nil
}

// Get returns the record of a digest. The error is [fs.ErrNotExist] when there is none; another error says why the
// record cannot be trusted.
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
		return nil, fmt.Errorf("the approval %s is ignored: %w", filepath.Join(s.dir, name), err)
	}
	return r, nil
}

func fileOf(digest string) string { return strings.TrimPrefix(digest, digestPrefix) + suffix }

// read reads a private regular file. It checks the open file, so that the check and the reading are of the same one.
func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := checkPrivate(info); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord+1 {
		return nil, fmt.Errorf("it has %d bytes", info.Size())
	}
	return io.ReadAll(io.LimitReader(f, maxRecord+2))
}

// Grant stores that the user granted r.Policy to the module r.Digest. It replaces an earlier decision.
func (s *Store) Grant(r Record) error {
	r.Revoked, r.Inherited = false, false
	return s.put(&r)
}

// Inherit stores that a module ran with the grants of an earlier version, unless there is a record of the module.
func (s *Store) Inherit(r Record) error {
	if _, err := s.Get(r.Digest); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.Revoked, r.Inherited = false, true
	return errors.Join(s.put(&r), s.pruneInherited(r.Origin))
}

// maxInherited bounds the inherited records of one file: the latest are kept.
const maxInherited = 10

// pruneInherited removes the oldest inherited records of a file, beyond maxInherited.
func (s *Store) pruneInherited(origin string) error {
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

// Revoke stores that a module is refused, whatever earlier versions of it were granted.
func (s *Store) Revoke(r Record) error {
	r.Revoked, r.Inherited, r.Policy = true, false, &policy.Policy{}
	return s.put(&r)
}

// Reset removes the record of a module, if there is one.
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

// put writes a record.
func (s *Store) put(r *Record) error {
	if err := CheckDigest(r.Digest); err != nil {
		return err
	}
	text, err := r.encode()
	if err != nil {
		return err
	}
	if _, err := decode(text); err != nil {
		return fmt.Errorf("approvals: the record is invalid: %w", err)
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

// replace replaces the contents of a file atomically and durably.
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

// sync writes the folder's entries to disk. It ignores errors, since some systems need no sync.
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

// List returns the valid records, the latest first, and an error about the others.
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
