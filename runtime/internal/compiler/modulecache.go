package compiler

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
)

const (
	// maxPrepared bounds the texts of prepared modules that are stored: three for each module. The oldest are removed first.
	// Config.MaxBytes bounds their size.
	maxPrepared = 3 << 14
	// maxPreparedSize bounds one prepared module, in bytes.
	maxPreparedSize = 128 << 20
)

// Get implements [runtime.ModuleCache] in the cache directory.
func (c *Compiler) Get(key [sha256.Size]byte) []byte {
	text, err := c.store.prepared(key)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.cfg.Logger.Debug("prepared module not read", "err", err)
	}
	return text
}

// Put implements [runtime.ModuleCache].
func (c *Compiler) Put(key [sha256.Size]byte, text []byte) {
	if err := c.store.putPrepared(key, text); err != nil {
		c.cfg.Logger.Debug("prepared module not stored", "err", err)
	}
}

// prepared returns the text stored under a key. Its checksum guards against damage only: a user who can write to the
// directory can run native code anyway.
func (s *store) prepared(key [sha256.Size]byte) ([]byte, error) {
	if err := codedir.CheckOwn(s.dir); err != nil {
		return nil, err
	}
	path, err := s.preparedPath(key)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPreparedSize {
		return nil, fmt.Errorf("%s is a %v of %d bytes", path, info.Mode(), info.Size())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := make([]byte, info.Size())
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, err
	}
	if len(text) < sha256.Size || sha256.Sum256(text[sha256.Size:]) != [sha256.Size]byte(text) {
		return nil, fmt.Errorf("%s is damaged", path)
	}
	use(path)
	return text[sha256.Size:], nil
}

func (s *store) putPrepared(key [sha256.Size]byte, text []byte) error {
	path, err := s.preparedPath(key)
	if err != nil {
		return err
	}
	if err := codedir.CheckOwn(s.dir); err != nil {
		return err
	}
	digest := sha256.Sum256(text)
	if err := s.put(path, digest[:], text); err != nil {
		return err
	}
	s.trim("*.prepared", maxPrepared)
	s.limit()
	return nil
}

// preparedPath returns the file for a key. Its name depends on the program file, and not only on its version: a
// prepared module depends on the whole program.
func (s *store) preparedPath(key [sha256.Size]byte) (string, error) {
	program, err := s.program()
	if err != nil {
		return "", err
	}
	name := sha256.Sum256(append([]byte(program), key[:]...))
	return filepath.Join(s.dir, hex.EncodeToString(name[:])+".prepared"), nil
}
