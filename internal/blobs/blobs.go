package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/wasmres/wasmres/internal/faultpoint"
)

const (
	ingestDir = "ingest"
	blobDir   = "sha256"
	prefix    = "sha256:"
)

// Errors of a Store.
var (
	// ErrTooLarge says that a blob has more bytes than it may.
	ErrTooLarge = errors.New("the module is too large")
	// ErrNotFound says that there is no blob of a digest.
	ErrNotFound = errors.New("the module is missing")
	// ErrFull says that a blob could not be written. It may be added again when there is room.
	ErrFull = errors.New("the module could not be written: the disk is full")
)

// A DamagedError says that a file has not the content that its name promises. The same module may be pushed again: it replaces
// the file.
type DamagedError struct {
	File string // its path
	Has  string // what it has instead
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the module in %s is damaged: it has %s: push the module again", e.File, e.Has)
}

// A Store keeps blobs in a folder. It is safe for concurrent use. One process at a time has a folder: the caller sees to it.
type Store struct {
	// fixed at creation
	dir    string
	logger *slog.Logger

	mu       sync.Mutex
	pins     map[string]int     // uses of each digest, which must not be removed
	verified map[string]fileKey // the files that were verified, by digest
}

// A fileKey is what changes when the content of a file does.
type fileKey struct {
	size  int64
	mtime int64
}

func keyOf(info fs.FileInfo) fileKey { return fileKey{info.Size(), info.ModTime().UnixNano()} }

// Open opens a folder, which it makes if there is none, and removes what an earlier process has not written to its end.
// A nil logger discards.
func Open(dir string, logger *slog.Logger) (*Store, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{dir: dir, logger: logger, pins: map[string]int{}, verified: map[string]fileKey{}}
	for _, name := range []string{"", ingestDir, blobDir} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("open the modules: %w", err)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, ingestDir))
	if err != nil {
		return nil, fmt.Errorf("open the modules: %w", err)
	}
	for _, entry := range left {
		if err := os.Remove(filepath.Join(dir, ingestDir, entry.Name())); err != nil {
			return nil, fmt.Errorf("remove what an earlier server has left: %w", err)
		}
	}
	return s, nil
}

// A Blob is one that stays until it is released.
type Blob struct {
	Digest string // as in "sha256:9f86…"
	Size   int64  // bytes
	File   string // its path

	store *Store
	once  sync.Once
}

// Release lets go of the blob. It is idempotent.
func (b *Blob) Release() { b.once.Do(func() { b.store.unpin(b.Digest) }) }

// Add stores what r has, at most so many bytes, and returns when it is on disk. It replaces a file of the same digest, which
// may be damaged. The caller releases the Blob, after something names it. The error is one of those above, or of r or ctx.
func (s *Store) Add(ctx context.Context, r io.Reader, most int64) (*Blob, error) {
	f, err := os.CreateTemp(filepath.Join(s.dir, ingestDir), "blob-*")
	if err != nil {
		return nil, writeError(err)
	}
	defer os.Remove(f.Name()) // gone, unless something has failed
	digest, size, err := copyHashed(ctx, f, r, most)
	if err == nil {
		err = writeError(f.Sync())
	}
	if err = errors.Join(err, writeError(f.Close())); err != nil {
		return nil, err
	}
	faultpoint.Reach("blob ingested")
	b := s.pin(digest)
	b.Size = size
	if err = os.Rename(f.Name(), b.File); err == nil {
		faultpoint.Reach("blob named")
		err = syncDir(filepath.Dir(b.File))
	}
	if err != nil {
		b.Release()
		return nil, writeError(err)
	}
	s.note(digest, b.File)
	return b, nil
}

// copyHashed copies at most so many bytes, until ctx ends.
func copyHashed(ctx context.Context, w io.Writer, r io.Reader, most int64) (digest string, size int64, err error) {
	hash := sha256.New()
	size, err = io.Copy(&writer{w}, io.TeeReader(io.LimitReader(&untilEnd{ctx, r}, most+1), hash))
	switch {
	case err != nil:
		return "", 0, err
	case size > most:
		return "", 0, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, most)
	}
	return prefix + hex.EncodeToString(hash.Sum(nil)), size, nil
}

// A writer says which errors are those of writing.
type writer struct{ w io.Writer }

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	return n, writeError(err)
}

// An untilEnd reader fails when ctx has ended.
type untilEnd struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilEnd) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// writeError makes the error of a full disk, or of a quota, ErrFull.
func writeError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("%w: make room, and push it again: %w", ErrFull, err)
	}
	return err
}

// Open returns a blob for the caller to read, after it has compared the file with its digest. The caller releases it. The error
// is ErrNotFound, or a [DamagedError].
func (s *Store) Open(digest string) (*Blob, error) {
	if !isDigest(digest) {
		return nil, fmt.Errorf("%w: %.80q is no digest", ErrNotFound, digest)
	}
	b := s.pin(digest)
	if err := s.verify(b); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// isDigest reports whether a text is a SHA-256, which may become the name of a file.
func isDigest(digest string) bool {
	name, found := strings.CutPrefix(digest, prefix)
	return found && len(name) == hex.EncodedLen(sha256.Size) && strings.Trim(name, "0123456789abcdef") == ""
}

// verify compares a file with its digest, unless that was done for this file.
func (s *Store) verify(b *Blob) error {
	f, err := os.Open(b.File)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no file %s: push the module again", ErrNotFound, b.File)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b.Size = info.Size()
	if !info.Mode().IsRegular() {
		return &DamagedError{b.File, "another kind of file"}
	}
	s.mu.Lock()
	known := s.verified[b.Digest] == keyOf(info)
	s.mu.Unlock()
	if known {
		return nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return fmt.Errorf("read the module %s: %w", b.File, err)
	}
	if has := prefix + hex.EncodeToString(hash.Sum(nil)); has != b.Digest {
		return &DamagedError{b.File, "the digest " + has}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified[b.Digest] = keyOf(info)
	return nil
}

// note remembers that a file is as its digest says.
func (s *Store) note(digest, file string) {
	info, err := os.Lstat(file)
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.verified, digest); err == nil {
		s.verified[digest] = keyOf(info)
	}
}

func (s *Store) pin(digest string) *Blob {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pins[digest]++
	return &Blob{Digest: digest, File: filepath.Join(s.dir, blobDir, strings.TrimPrefix(digest, prefix)), store: s}
}

func (s *Store) unpin(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pins[digest]--; s.pins[digest] == 0 {
		delete(s.pins, digest)
	}
}

// Keep removes all blobs but those that are in use, or that names returns. It calls names after it has found the blobs: one
// that is named by then, or released after it was named, stays.
func (s *Store) Keep(names func() map[string]bool) (removed int, err error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, blobDir))
	if err != nil {
		return 0, fmt.Errorf("list the modules: %w", err)
	}
	used := map[string]bool{}
	s.mu.Lock()
	for digest := range s.pins {
		used[digest] = true
	}
	s.mu.Unlock()
	named := names() // after the uses were read: who has released one since has named it before
	var errs []error
	for _, entry := range entries {
		digest := prefix + entry.Name()
		if !isDigest(digest) || used[digest] || named[digest] {
			continue
		}
		if err := s.remove(digest); err != nil {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}

// remove removes a blob, unless it is in use now.
func (s *Store) remove(digest string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pins[digest] > 0 {
		return nil
	}
	delete(s.verified, digest)
	defer faultpoint.Reach("blob removed")
	return os.Remove(filepath.Join(s.dir, blobDir, strings.TrimPrefix(digest, prefix)))
}

// syncDir has the name of a new file outlive a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // some file systems refuse it, and need none
	return d.Close()
}
