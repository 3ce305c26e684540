// Package seen remembers, for each repository and key, the newest provider that a user has accepted. So a registry that
// serves an older one, with its true signature, is found out.
package seen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wasmres/wasmres/internal/atomicfile"
	"github.com/wasmres/wasmres/internal/filelock"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// maxFile bounds a file of the store, in bytes.
const maxFile = 8 << 10

// A Version is a provider at one time.
type Version struct {
	Created time.Time // by its signed manifest; zero if that says nothing
	Digest  oci.Digest
}

// A Store is a private folder of the user, with a file for each repository and key. Several processes may use it at once.
type Store struct{ dir string }

// Open returns the store in a folder, which the first version creates.
func Open(dir string) *Store { return &Store{dir} }

// A record is the content of a file.
type record struct {
	Repository string     `json:"repository"`
	Key        string     `json:"key"`
	Created    time.Time  `json:"created"`
	Digest     oci.Digest `json:"digest"`
}

// Newest returns the newest version of a repository that was accepted by any of keys; the zero value if there was none. A file
// that cannot be read is an error: without it, nothing would be too old.
func (s *Store) Newest(repository string, keys ...string) (newest Version, err error) {
	for _, key := range keys {
		r, err := s.read(repository, key)
		if err != nil {
			return Version{}, err
		}
		if r.Created.After(newest.Created) {
			newest = Version{r.Created, r.Digest}
		}
	}
	return newest, nil
}

// Add records that a version was accepted by keys, where it is newer than the newest one.
func (s *Store) Add(ctx context.Context, repository string, v Version, keys ...string) error {
	for _, key := range keys {
		r, err := s.read(repository, key)
		if err != nil {
			return err
		}
		if !v.Created.After(r.Created) {
			continue
		}
		if err := s.raise(ctx, record{repository, key, v.Created, v.Digest}); err != nil {
			return fmt.Errorf("remember the newest version of %s: %w", repository, err)
		}
	}
	return nil
}

// raise writes a record in place of an older one.
func (s *Store) raise(ctx context.Context, next record) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	unlock, err := filelock.Lock(ctx, filepath.Join(s.dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	now, err := s.read(next.Repository, next.Key)
	if err != nil || !next.Created.After(now.Created) {
		return err
	}
	text, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(s.file(next.Repository, next.Key), append(text, '\n'), 0o600)
}

func (s *Store) file(repository, key string) string {
	sum := sha256.Sum256([]byte(repository + "\n" + key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+".json")
}

// read returns a record, the zero value if there is none.
func (s *Store) read(repository, key string) (record, error) {
	name := s.file(repository, key)
	r, err := decode(name)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	if err == nil && (r.Repository != repository || r.Key != key || r.Created.IsZero()) {
		err = errors.New("it is about something else")
	}
	if err != nil {
		return record{}, fmt.Errorf("what was seen of %s cannot be read: %w: restore %s, or remove it to accept any version", repository, err, name)
	}
	return r, nil
}

func decode(name string) (r record, err error) {
	f, err := os.Open(name)
	if err != nil {
		return r, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}
