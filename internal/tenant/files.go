package tenant

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/strict"
)

// A stamp changes when a file does. Its zero value is that of no file.
type stamp struct {
	size, mtime int64 // bytes; nanoseconds since 1970
	inode       uint64
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{info.Size(), info.ModTime().UnixNano(), inode(info)}
}

// How long after a change a file may change again under the same time: on file systems that count nanoseconds, and others.
const (
	fineTime   = 100 * time.Millisecond
	coarseTime = 2 * time.Second
)

// holds reports whether a file with this stamp was the same ever since a time. A file that had just changed then may have
// changed once more under the same time.
func (s stamp) holds(since time.Time) bool {
	window := fineTime
	if s.mtime%int64(time.Second) == 0 {
		window = coarseTime
	}
	return time.Unix(0, s.mtime).Add(window).Before(since)
}

// openFlags open a file for reading, without a wait for the writer of a pipe.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// A policyFile is a policy as it was read, or authorities of certificates.
type policyFile struct {
	name        string // absolute path
	sum         [sha256.Size]byte
	policy      *policy.Policy // with absolute host paths; nil if there is an error, or for authorities
	authorities string         // in PEM; empty for a policy
	err         error
	seen        atomic.Uint64 // the pass in which it was found to be as it is on disk
}

// policyFiles keeps policies that have been read, each once, however many tenants name it.
type policyFiles struct {
	mu    sync.Mutex // guards names
	names map[string]*policySlot
	pass  uint64 // fixed while tenants are read
}

// A policySlot has what is known of one policy file.
type policySlot struct {
	mu     sync.Mutex // guards the fields below, also while the file is read
	pass   uint64     // in which the file was looked at last
	stamp  stamp
	readAt time.Time
	file   *policyFile // the same one while the file has the same content
}

// begin begins a pass, in which each file is looked at once. It forgets what the pass before did not need.
func (p *policyFiles) begin() {
	if p.names == nil {
		p.names = map[string]*policySlot{}
	}
	for name, slot := range p.names {
		if slot.pass != p.pass {
			delete(p.names, name)
		}
	}
	p.pass++
}

// get returns the policy of a file, as it is in this pass. It is safe for concurrent use.
func (p *policyFiles) get(name string) *policyFile {
	p.mu.Lock()
	slot := p.names[name]
	if slot == nil {
		slot = &policySlot{}
		p.names[name] = slot
	}
	p.mu.Unlock()
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if slot.pass != p.pass {
		slot.pass = p.pass
		slot.look(name)
		slot.file.seen.Store(p.pass)
	}
	return slot.file
}

// isCurrent reports whether a policy is that of its file in this pass. Of many tenants with the same one, the first looks.
func (p *policyFiles) isCurrent(f *policyFile) bool {
	return f.seen.Load() == p.pass || p.get(f.name) == f
}

// look reads the file again, if it has changed.
func (s *policySlot) look(name string) {
	info, err := os.Stat(name)
	if err == nil && s.file != nil && s.stamp == stampOf(info) && s.stamp.holds(s.readAt) {
		return
	}
	var text []byte
	at := time.Now()
	if err == nil {
		text, info, err = readFile(info, func() (*os.File, error) { return os.OpenFile(name, openFlags, 0) })
	}
	if err != nil {
		s.stamp = stamp{}
		s.set(&policyFile{name: name, err: fmt.Errorf("%s: %w", name, reason(err))})
		return
	}
	s.stamp, s.readAt = stampOf(info), at
	sum := sha256.Sum256(text)
	if s.file != nil && s.file.sum == sum {
		return
	}
	f := &policyFile{name: name, sum: sum}
	if bytes.Contains(text, []byte(certificateText)) {
		f.authorities = string(text)
	} else if f.policy, f.err = policy.Parse(name, text); f.err == nil {
		f.policy = f.policy.Under(filepath.Dir(name))
	}
	s.file = f
}

// set keeps the last file, if it has the same error.
func (s *policySlot) set(f *policyFile) {
	if s.file == nil || s.file.err == nil || s.file.err.Error() != f.err.Error() {
		s.file = f
	}
}

// readFile opens and reads a regular file of at most [strict.MaxSize] bytes. info is what is known of it.
func readFile(info fs.FileInfo, open func() (*os.File, error)) ([]byte, fs.FileInfo, error) {
	switch {
	case info.IsDir():
		return nil, info, fmt.Errorf("it is a folder")
	case !info.Mode().IsRegular():
		return nil, info, fmt.Errorf("it is not a regular file")
	case info.Size() > strict.MaxSize:
		return nil, info, fmt.Errorf("it has %d bytes, at most %d are allowed", info.Size(), strict.MaxSize)
	}
	f, err := open()
	if err != nil {
		return nil, info, err
	}
	defer f.Close()
	return strict.ReadOpen(f)
}

// digestVersion is part of each digest. It changes when equal files are no longer read as equal objects.
const digestVersion = "wasmres 1\n"

// A part is one of the files that an object is made of.
type part struct {
	name string
	sum  [sha256.Size]byte
}

// combine returns the names of parts, sorted but for the first, and the digest of all, each counted once.
func combine(first part, others []part) (names []string, digest string) {
	slices.SortFunc(others, func(a, b part) int { return strings.Compare(a.name, b.name) })
	others = slices.CompactFunc(others, func(a, b part) bool { return a.name == b.name })
	var b bytes.Buffer
	b.WriteString(digestVersion)
	for _, p := range append([]part{first}, others...) {
		names = append(names, p.name)
		fmt.Fprintf(&b, "%d %s %x\n", len(p.name), p.name, p.sum)
	}
	sum := sha256.Sum256(b.Bytes())
	return names, hex.EncodeToString(sum[:])
}
