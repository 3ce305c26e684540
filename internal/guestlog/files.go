package guestlog

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	pause   = 250 * time.Millisecond // between two writings
	logFile = "guests.log"
	oldFile = "guests.log.1"
)

// write writes lines until Close. It closes ended.
func (b *Book) write() {
	defer close(b.ended)
	for {
		select {
		case <-b.wake:
			b.flush()
		case <-b.closing:
			b.flush()
			return
		}
		select { // lines in a row are written together
		case <-time.After(pause):
		case <-b.closing:
		}
	}
}

// flush writes the lines that wait. What cannot be written is dropped, and logged.
func (b *Book) flush() {
	type work struct {
		tenant  string
		text    []byte
		dropped uint64
	}
	var all []work
	b.mu.Lock()
	for tenant, r := range b.rings {
		if len(r.waiting) > 0 || r.dropped > 0 {
			all = append(all, work{tenant, r.waiting, r.dropped})
			r.waiting, r.dropped = nil, 0
		}
	}
	b.mu.Unlock()
	for _, w := range all {
		if w.dropped > 0 {
			w.text = fmt.Appendf(w.text, "%s WARN server: %d lines were dropped: they came quicker than they are written\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), w.dropped)
		}
		if err := b.append(w.tenant, w.text); err != nil {
			b.errors.Warn("write", "lines of guests not written", "tenant", w.tenant, "err", err)
		}
	}
}

// append appends text to the file of a tenant, which it replaces when it has half of the bytes that the tenant may use.
func (b *Book) append(tenant string, text []byte) error {
	most := int64(DefaultFile)
	if b.cfg.MaxFile != nil {
		most = cmp.Or(b.cfg.MaxFile(tenant), most)
	}
	dir := filepath.Join(b.cfg.Dir, "tenants", tenant, "log")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(dir, logFile)
	info, err := os.Lstat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", name)
	case err == nil && info.Size()+int64(len(text)) > most/2:
		if err := os.Rename(name, filepath.Join(dir, oldFile)); err != nil {
			return err
		}
	}
	if int64(len(text)) > most/2 {
		text = text[int64(len(text))-most/2:]
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
