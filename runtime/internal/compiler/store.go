package compiler

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
)

// A store is the compilation cache folder. It holds
//
//	<digest>/           the engine's compilation cache of one module alone, since the child chooses what is in it
//	<digest>.compiled   the name of the file with the module's native code
//	<digest>.refused    why the module was refused
//	<key>.mapped        native code of a module alone, for one owner
//	<key>.image         an image of a module for one owner, whose files have names that begin alike
//	<key>.prepared      a module as it was prepared, by one program under one configuration
//	compiling-*         folders of running children
//
// Several processes may share it: files appear complete, and the store works without any of them.
type store struct {
	// fixed at creation
	engine   engines.Kind
	dir      string
	maxBytes int64                  // of all that is in dir
	program  func() (string, error) // identifies the running program

	mu          sync.Mutex // guards the field below
	fingerprint string     // the engine's; empty until open has succeeded
}

const (
	scratchPrefix = "compiling-"
	// scratchAge is the age at which the child of a temporary directory has ended for sure.
	scratchAge = 24 * time.Hour
	// maxRefusals bounds the files of refusals. The oldest are removed first.
	maxRefusals = 1024
	// maxMarker is how many bytes of a marker are read.
	maxMarker = 4 << 10
)

// open checks the directory, and returns the engine's fingerprint.
func (s *store) open(ctx context.Context) (string, error) {
	if err := codedir.CheckOwn(s.dir); err != nil {
		return "", err
	}
	s.mu.Lock()
	fingerprint := s.fingerprint
	s.mu.Unlock()
	if fingerprint != "" {
		return fingerprint, nil
	}
	s.sweep()
	scratch, err := s.scratch()
	if err != nil {
		return "", err
	}
	fingerprint, err = s.engine.Fingerprint(ctx, scratch)
	if err := errors.Join(err, os.RemoveAll(scratch)); err != nil {
		return "", err
	}
	s.mu.Lock()
	s.fingerprint = fingerprint
	s.mu.Unlock()
	return fingerprint, nil
}

// sweep removes the temporary directories of processes that died, and old images. It ignores errors.
func (s *store) sweep() {
	for _, folder := range s.byAge(scratchPrefix + "*") {
		if info, err := os.Lstat(folder); err == nil && time.Since(info.ModTime()) > scratchAge {
			_ = os.RemoveAll(folder)
		}
	}
	s.removeOldImages()
}

func (s *store) scratch() (string, error) {
	dir, err := os.MkdirTemp(s.dir, scratchPrefix)
	if err != nil {
		return "", fmt.Errorf("compilation cache: %w", err)
	}
	return dir, nil
}

// install moves the one file in a child's temporary directory to the module's directory.
func (s *store) install(d digest, scratch string) (string, int64, error) {
	left, err := codedir.List(scratch)
	if err != nil {
		return "", 0, err
	}
	if len(left) != 1 {
		return "", 0, fmt.Errorf("compilation cache: the child has left %d files, want 1", len(left))
	}
	info, err := os.Lstat(left[0])
	if err != nil {
		return "", 0, fmt.Errorf("compilation cache: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("compilation cache: the child has left a %v", info.Mode())
	}
	file, err := filepath.Rel(scratch, left[0])
	if err != nil {
		return "", 0, err
	}
	file = filepath.Join(hex.EncodeToString(d[:]), file)
	target := filepath.Join(s.dir, file)
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return "", 0, fmt.Errorf("compilation cache: %w", err)
	}
	if err := os.Rename(left[0], target); err != nil {
		return "", 0, fmt.Errorf("compilation cache: %w", err)
	}
	return filepath.ToSlash(file), info.Size(), nil
}

// has reports whether the file of the outcome is in the cache; true for a refusal.
func (s *store) has(o outcome) bool {
	if o.Refused != "" {
		return true
	}
	if !filepath.IsLocal(filepath.FromSlash(o.File)) {
		return false
	}
	info, err := os.Lstat(s.path(o))
	return err == nil && info.Mode().IsRegular() && info.Size() == o.Size
}

// folder returns the cache directory of one module.
func (s *store) folder(d digest) string { return filepath.Join(s.dir, hex.EncodeToString(d[:])) }

// path returns the file of the compiled module.
func (s *store) path(o outcome) string { return filepath.Join(s.dir, filepath.FromSlash(o.File)) }

// discard removes a compiled module and its marker; o may name the file. It is no error if nothing is there.
func (s *store) discard(d digest, o outcome) error {
	marker := s.marker(d, "compiled")
	if o.File == "" {
		o, _ = s.load(marker) // an unreadable marker names no file
	}
	var errs []error
	if o.Refused == "" && s.has(o) {
		errs = append(errs, os.Remove(s.path(o)))
	}
	if err := os.Remove(marker); !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// find returns the outcome of an earlier compilation, by any process. An invalid marker counts as absent.
func (s *store) find(d digest, fingerprint string, cfg *Config) (outcome, bool) {
	o, err := s.load(s.marker(d, "compiled"))
	if err == nil && o.Refused == "" && o.Fingerprint == fingerprint && s.has(o) {
		use(s.marker(d, "compiled"))
		return o, true
	}
	o, err = s.load(s.marker(d, "refused"))
	if err == nil && o.Fingerprint == fingerprint && o.stillApplies(cfg) {
		return o, true
	}
	return outcome{}, false
}

func (s *store) load(marker string) (o outcome, err error) {
	info, err := os.Lstat(marker)
	if err != nil {
		return o, err
	}
	if !info.Mode().IsRegular() {
		return o, fmt.Errorf("%s is a %v", marker, info.Mode())
	}
	f, err := os.Open(marker)
	if err != nil {
		return o, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMarker))
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(text, &o)
}

// keep stores an outcome for later processes.
func (s *store) keep(d digest, o outcome) error {
	kind := "compiled"
	if o.Refused != "" {
		kind = "refused"
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := s.put(s.marker(d, kind), text); err != nil {
		return err
	}
	if o.Refused != "" {
		s.trim("*.refused", maxRefusals)
	}
	s.limit()
	return nil
}

// put writes a file that appears complete.
func (s *store) put(path string, parts ...[]byte) error {
	scratch, err := s.scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	fresh := filepath.Join(scratch, filepath.Base(path))
	if err := os.WriteFile(fresh, slices.Concat(parts...), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// trim removes the oldest files that match, beyond a number.
func (s *store) trim(pattern string, most int) {
	files := s.byAge(pattern)
	for _, old := range files[:max(0, len(files)-most)] {
		_ = os.Remove(old) // another process may have removed it
	}
}

func (s *store) marker(d digest, kind string) string {
	return filepath.Join(s.dir, hex.EncodeToString(d[:])+"."+kind)
}

// byAge lists the files that match, the oldest first.
func (s *store) byAge(pattern string) []string {
	entries, _ := os.ReadDir(s.dir) // an unreadable directory counts as empty
	ages := map[string]time.Time{}
	var names []string
	for _, e := range entries {
		if fits, err := filepath.Match(pattern, e.Name()); err != nil || !fits {
			continue
		}
		name := filepath.Join(s.dir, e.Name())
		names = append(names, name)
		if info, err := e.Info(); err == nil {
			ages[name] = info.ModTime()
		}
	}
	slices.SortFunc(names, func(a, b string) int { return ages[a].Compare(ages[b]) })
	return names
}
