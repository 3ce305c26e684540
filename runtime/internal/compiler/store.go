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

	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
)

// A store is the compilation cache folder. It holds
//
//	<digest>/           the engine's compilation cache of one module alone, since the child chooses what is in it
//	<digest>.compiled   says which file of the engine's is the module's
//	<digest>.refused    says why the module has none
//	<key>.prepared      a module as it was prepared, by one program under one configuration
//	compiling-*         folders of running children
//
// Several processes may share it: files appear whole, and none is needed.
type store struct {
	// fixed at creation
	dir      string
	maxBytes int64                  // of all that is in dir
	program  func() (string, error) // which this is

	mu          sync.Mutex // guards the field below
	fingerprint string     // the engine's; empty until open has succeeded
}

const (
	scratchPrefix = "compiling-"
	// scratchAge is when a scratch folder's child cannot be alive any more.
	scratchAge = 24 * time.Hour
	// maxRefusals bounds the files that refusals leave. The oldest go first.
	maxRefusals = 1024
	// maxMarker bounds the bytes read of a marker.
	maxMarker = 4 << 10
)

// open checks the folder and gives the engine's fingerprint.
func (s *store) open(ctx context.Context) (string, error) {
	if err := wazero.CheckCacheDir(s.dir); err != nil {
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
	fingerprint, err = wazero.Fingerprint(ctx, scratch)
	if err := errors.Join(err, os.RemoveAll(scratch)); err != nil {
		return "", err
	}
	s.mu.Lock()
	s.fingerprint = fingerprint
	s.mu.Unlock()
	return fingerprint, nil
}

// sweep removes the scratch folders of processes that died before they could. What cannot be removed does no harm.
func (s *store) sweep() {
	for _, folder := range s.byAge(scratchPrefix + "*") {
		if info, err := os.Lstat(folder); err == nil && time.Since(info.ModTime()) > scratchAge {
			_ = os.RemoveAll(folder)
		}
	}
}

func (s *store) scratch() (string, error) {
	dir, err := os.MkdirTemp(s.dir, scratchPrefix)
	if err != nil {
		return "", fmt.Errorf("compilation cache: %w", err)
	}
	return dir, nil
}

// install moves the one file that a child has written in its scratch folder into the module's own.
func (s *store) install(d digest, scratch string) (string, int64, error) {
	left, err := wazero.Entries(scratch)
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

// has reports whether the cache holds what the outcome says it does. A refusal says nothing.
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

// folder is the cache of one module.
func (s *store) folder(d digest) string { return filepath.Join(s.dir, hex.EncodeToString(d[:])) }

// path is where the compiled module is.
func (s *store) path(o outcome) string { return filepath.Join(s.dir, filepath.FromSlash(o.File)) }

// discard removes what there is of a compiled module, of which o may know where. Nothing is enough.
func (s *store) discard(d digest, o outcome) error {
	marker := s.marker(d, "compiled")
	if o.File == "" {
		o, _ = s.load(marker) // what cannot be read points nowhere
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

// find returns the outcome of an earlier compilation, by whichever process. What makes no sense is as good as absent.
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

// keep remembers an outcome for later processes.
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

// put leaves a file that appears whole.
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

// trim removes the oldest of what matches in the folder, but so many.
func (s *store) trim(pattern string, most int) {
	files := s.byAge(pattern)
	for _, old := range files[:max(0, len(files)-most)] {
		_ = os.Remove(old) // another process may have been quicker
	}
}

func (s *store) marker(d digest, kind string) string {
	return filepath.Join(s.dir, hex.EncodeToString(d[:])+"."+kind)
}

// byAge lists what matches in the folder, the oldest first.
func (s *store) byAge(pattern string) []string {
	entries, _ := os.ReadDir(s.dir) // what cannot be read is as good as empty
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
