package crashes

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/atomicfile"
)

const (
	pause      = time.Second      // between two writings
	retryPause = 10 * time.Second // after one that failed
	maxFile    = 1 << 20          // bytes of a report

	reportEnd  = ".json"
	sessionEnd = ".txtar"
)

// ErrNotFound says that there is no such crash, or no session of it.
var ErrNotFound = errors.New("no such crash")

// write writes reports until Close. It closes ended.
func (s *Store) write() {
	defer close(s.ended)
	for {
		select {
		case <-s.wake:
		case <-s.closing:
		}
		wait := pause
		if err := s.flush(); err != nil {
			s.errors.Warn("write", "crashes not written", "err", err)
			wait = retryPause
		}
		if s.isClosed() {
			break
		}
		select { // counts of crashes in a row are written together
		case <-time.After(wait):
		case <-s.closing:
		}
	}
	if err := s.flush(); err != nil {
		s.errors.Warn("write", "crashes not written", "err", err)
	}
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// flush writes the reports that have changed.
func (s *Store) flush() error {
	s.files.Lock()
	defer s.files.Unlock()
	s.mu.Lock()
	var changed []*book
	for _, b := range s.tenants {
		if b.dirty {
			b.dirty = false
			changed = append(changed, b)
		}
	}
	dropped := s.dropped
	s.dropped = 0
	s.mu.Unlock()
	if dropped > 0 {
		s.errors.Warn("drop", "crashes not counted: a tenant has too many different ones", "dropped", dropped)
	}
	var errs []error
	for _, b := range changed {
		if err := s.flushBook(b); err != nil {
			s.mu.Lock()
			b.dirty = true
			s.mu.Unlock()
			errs = append(errs, fmt.Errorf("tenant %s: %w", b.tenant, err))
		}
	}
	return errors.Join(errs...)
}

// flushBook writes the reports of one tenant that have changed, and removes those beyond the bounds. files is held.
func (s *Store) flushBook(b *book) error {
	if err := s.load(b); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir(b.tenant), 0o700); err != nil {
		return err
	}
	s.mu.Lock()
	s.evictLocked(b)
	var dirty []*entry
	for _, e := range b.known {
		if e.dirty {
			dirty = append(dirty, e)
		}
	}
	s.mu.Unlock()
	for _, e := range dirty {
		if err := s.writeEntry(b, e); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.evictLocked(b)
	s.mu.Unlock()
	return s.removeUnknown(b)
}

// writeEntry writes one report, after its session if that is not made yet.
func (s *Store) writeEntry(b *book, e *entry) error {
	s.mu.Lock()
	r, maker := e.report, e.maker
	e.dirty = false
	s.mu.Unlock()
	err := s.writeFiles(b, &r, maker)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		e.dirty = true
		return err
	}
	if e.maker != nil {
		e.maker = nil
		s.pending--
		e.report.Session, e.report.Inexact = r.Session, r.Inexact
	}
	return nil
}

func (s *Store) writeFiles(b *book, r *Report, maker Maker) error {
	if maker != nil {
		comment := fmt.Sprintf("Crash %s of provider %s of tenant %s.\nRun it again with: wasmres test PROVIDER.wasm FILE\n\n", r.ID, r.Provider, r.Tenant)
		text, inexact := maker(comment)
		r.Inexact = inexact
		if len(text) > 0 && len(text) <= MaxBytes {
			if err := atomicfile.Write(s.file(b.tenant, r.ID, sessionEnd), text, 0o600); err != nil {
				return err
			}
			r.Session = len(text)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.file(b.tenant, r.ID, reportEnd), append(text, '\n'), 0o600)
}

// evictLocked forgets the reports beyond the bounds, first those whose crash is longest ago.
func (s *Store) evictLocked(b *book) {
	all := slicesOf(b)
	bytes := 0
	for i, e := range all {
		bytes += e.report.Session
		if i < MaxReports && bytes <= MaxBytes {
			continue
		}
		if e.maker != nil {
			s.pending--
		}
		delete(b.known, e.report.ID)
	}
}

// slicesOf returns the entries of a book, the last crash first.
func slicesOf(b *book) []*entry {
	var all []*entry
	for _, e := range b.known {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(b.report.Last.Compare(a.report.Last), strings.Compare(a.report.ID, b.report.ID))
	})
	return all
}

// removeUnknown removes the files of reports that are forgotten, and what a killed process has left. files is held.
func (s *Store) removeUnknown(b *book) error {
	names, err := os.ReadDir(s.dir(b.tenant))
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range names {
		id, end, _ := strings.Cut(f.Name(), ".")
		s.mu.Lock()
		e := b.known[id]
		keep := e != nil && (end == reportEnd[1:] || end == sessionEnd[1:] && e.report.Session > 0)
		s.mu.Unlock()
		if !keep {
			errs = append(errs, os.Remove(filepath.Join(s.dir(b.tenant), f.Name())))
		}
	}
	return errors.Join(errs...)
}

// load reads the reports of a tenant, unless that was done. files is held. A file that is no report is left out.
func (s *Store) load(b *book) error {
	s.mu.Lock()
	loaded := b.loaded
	s.mu.Unlock()
	if loaded {
		return nil
	}
	names, err := os.ReadDir(s.dir(b.tenant))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var found []*Report
	for _, f := range names {
		id, ok := strings.CutSuffix(f.Name(), reportEnd)
		if !ok || !isID(id) {
			continue
		}
		r, err := s.read(b.tenant, id)
		if err != nil {
			s.errors.Warn("read", "report of a crash not read", "tenant", b.tenant, "id", id, "err", err)
			continue
		}
		found = append(found, r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range found {
		if e := b.known[r.ID]; e != nil {
			e.count(r)
			if e.maker != nil && e.report.Session > 0 {
				e.maker = nil
				s.pending--
			}
			continue
		}
		b.known[r.ID] = &entry{report: *r}
	}
	b.loaded = true
	return nil
}

// read reads a report. It checks what other code relies on.
func (s *Store) read(tenant, id string) (*Report, error) {
	name := s.file(tenant, id, reportEnd)
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("the file has %d bytes, more than a report can have", info.Size())
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if r.ID != id || r.Tenant != tenant || r.Session < 0 {
		return nil, errors.New("it is not the report of its name")
	}
	if _, err := os.Stat(s.file(tenant, id, sessionEnd)); err != nil {
		r.Session = 0
	}
	return &r, nil
}

func (s *Store) dir(tenant string) string {
	return filepath.Join(s.cfg.Dir, "tenants", tenant, "crashes")
}

func (s *Store) file(tenant, id, end string) string { return filepath.Join(s.dir(tenant), id+end) }

// isID reports whether a text has the form of an ID.
func isID(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// List returns the reports of a tenant, the last crash first. tenant is the ID of one there is. Sessions that are not made yet are
// made first, so that the reports say of which there are some.
func (s *Store) List(tenant string) ([]Report, error) {
	if err := s.flush(); err != nil { // the reports are there all the same
		s.errors.Warn("write", "crashes not written", "err", err)
	}
	s.files.Lock()
	defer s.files.Unlock()
	s.mu.Lock()
	b := s.bookLocked(tenant)
	s.mu.Unlock()
	if err := s.load(b); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reports := []Report{}
	for _, e := range slicesOf(b) {
		reports = append(reports, e.report)
	}
	return reports, nil
}

// Find returns the report with an ID, among those of tenants. The error is ErrNotFound if there is none.
func (s *Store) Find(id string, tenants []string) (Report, error) {
	if !isID(id) {
		return Report{}, ErrNotFound
	}
	for _, tenant := range tenants {
		s.mu.Lock()
		b := s.tenants[tenant]
		known := b != nil && b.known[id] != nil
		s.mu.Unlock()
		if !known {
			if _, err := os.Stat(s.file(tenant, id, reportEnd)); err != nil {
				continue
			}
		}
		reports, err := s.List(tenant)
		if err != nil {
			return Report{}, err
		}
		for _, r := range reports {
			if r.ID == id {
				return r, nil
			}
		}
	}
	return Report{}, ErrNotFound
}

// Session returns the recorded session of a crash. The error is ErrNotFound if there is none. A session that is not made yet
// is made first.
func (s *Store) Session(r Report) ([]byte, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	s.files.Lock()
	defer s.files.Unlock()
	text, err := os.ReadFile(s.file(r.Tenant, r.ID, sessionEnd))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	return text, err
}

// SortByLast sorts reports, the last crash first.
func SortByLast(reports []Report) {
	slices.SortFunc(reports, func(a, b Report) int {
		return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.ID, b.ID))
	})
}
