package compiler

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/wasmres/wasmres/runtime/engine/wazero"
)

const (
	// maxPrepared bounds the prepared modules that are kept. The oldest go first.
	maxPrepared = 128
	// maxPreparedSize bounds one of them, in bytes.
	maxPreparedSize = 128 << 20
)

// Find implements [runtime.Shelf] in the cache folder.
func (c *Compiler) Find(key [sha256.Size]byte) []byte {
	text, err := c.store.prepared(key)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.cfg.Logger.Debug("prepared module not found", "err", err)
	}
	return text
}

// Keep implements [runtime.Shelf].
func (c *Compiler) Keep(key [sha256.Size]byte, text []byte) {
	if err := c.store.keepPrepared(key, text); err != nil {
		c.cfg.Logger.Debug("prepared module not kept", "err", err)
	}
}

// prepared gives what is kept under a key. Whoever can write to the folder could have native code run, so that all
// there is to be afraid of is damage.
func (s *store) prepared(key [sha256.Size]byte) ([]byte, error) {
	if err := wazero.CheckCacheDir(s.dir); err != nil {
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

func (s *store) keepPrepared(key [sha256.Size]byte, text []byte) error {
	path, err := s.preparedPath(key)
	if err != nil {
		return err
	}
	if err := wazero.CheckCacheDir(s.dir); err != nil {
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

// preparedPath is where something is kept. What is prepared depends on all of this program, and not only on its version.
func (s *store) preparedPath(key [sha256.Size]byte) (string, error) {
	program, err := s.program()
	if err != nil {
		return "", err
	}
	name := sha256.Sum256(append([]byte(program), key[:]...))
	return filepath.Join(s.dir, hex.EncodeToString(name[:])+".prepared"), nil
}
