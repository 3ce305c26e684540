package compiler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MapsCode reports whether Code has files for the engine.
func (c *Compiler) MapsCode() bool { return c.cfg.Engine.MapsCode() }

var errNoOwner = errors.New("file of native code: the module has no owner, and others have one: open it in a context of WithOwner")

// Code opens the file of the native code alone of a module, from the directory that Folder has returned, and makes it if there is
// none: see [engine.Config.Code]. MapsCode must be true. The file is only for the owner that ctx has, so that no two owners share
// its pages in memory: from the time that the use of a page takes, one could learn what the other runs. After a module with an owner,
// one without gets no file, since it could be that of any of them. The caller closes the file.
//
// The file appears complete, is only readable, and is never written again. Its name depends on the entry from which it was made, so
// a module that was compiled again has another. Code does not check its content: the engine does, by the checksum in the entry.
func (c *Compiler) Code(ctx context.Context, dir string) (*os.File, error) {
	owner := c.ownerOf(ctx)
	if owner == "" && c.hasOwners.Load() {
		return nil, errNoOwner
	}
	o, err := c.compiledIn(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("file of native code: %w", err)
	}
	f, err := c.store.code(o, owner)
	if err != nil {
		return nil, fmt.Errorf("file of native code: %w", err)
	}
	return f, nil
}

// compiledIn returns the outcome for the module of a directory, which has native code.
func (c *Compiler) compiledIn(ctx context.Context, dir string) (outcome, error) {
	name, err := hex.DecodeString(filepath.Base(dir))
	if err != nil || len(name) != len(digest{}) {
		return outcome{}, fmt.Errorf("%s is no directory of the compilation cache", dir)
	}
	d := digest(name)
	if o, ok := c.cached(d); ok && o.Refused == "" {
		return o, nil
	}
	fingerprint, err := c.store.open(ctx)
	if err != nil {
		return outcome{}, err
	}
	o, ok := c.store.find(d, fingerprint, &c.cfg)
	if !ok || o.Refused != "" {
		return outcome{}, fmt.Errorf("the compilation cache has no native code in %s", dir)
	}
	return o, nil
}

// code opens the file of the native code in the entry of an outcome, for an owner.
func (s *store) code(o outcome, owner string) (*os.File, error) {
	entry, info, err := openRegular(s.path(o))
	if err != nil {
		return nil, err
	}
	defer entry.Close()
	code, err := s.engine.NativeCode(entry, info.Size())
	if err != nil {
		return nil, err
	}
	path := s.mapped(o, info, owner)
	if f, info, err := openRegular(path); err == nil {
		if info.Size() == code.Size() {
			use(path)
			return f, nil
		}
		f.Close()
	}
	err = s.putFile(path, func(f *os.File) error {
		_, err := io.Copy(f, code)
		return err
	}, os.Rename)
	if err != nil {
		return nil, err
	}
	s.limit()
	return os.Open(path)
}

// mapped is the path of the file of the native code in the entry of an outcome, for an owner.
func (s *store) mapped(o outcome, entry fs.FileInfo, owner string) string {
	name := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %s", o.File, entry.Size(), entry.ModTime().UnixNano(), owner))
	return filepath.Join(s.dir, hex.EncodeToString(name[:])+"."+mappedKind)
}

// openRegular opens a regular file to be read.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, nil, fmt.Errorf("%s is a %v, not a regular file", path, info.Mode())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// putFile writes a file that appears complete, and that cannot be written to. rename has it appear.
func (s *store) putFile(path string, write func(*os.File) error, rename func(from, to string) error) error {
	scratch, err := s.scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	fresh := filepath.Join(scratch, filepath.Base(path))
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return rename(fresh, path)
}
