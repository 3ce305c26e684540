package ledger

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/filelock"
)

var (
	// ErrUnavailable says that an entry could not be written, as when the disk is full. It is not in the ledger, and may be
	// appended again.
	ErrUnavailable = errors.New("the ledger could not be written")
	// ErrClosed says that the Ledger was closed.
	ErrClosed = errors.New("the ledger is closed")
)

// Config says where a Ledger is. Dir and KeyFile are required.
type Config struct {
	Dir     string           // which Open makes; other users of the machine must not have access to it
	KeyFile string           // private key of the server, which Open makes if there is none; better not in Dir
	MaxFile int64            // bytes of one file; zero for MaxFile
	Logger  *slog.Logger     // nil discards
	Now     func() time.Time // gives the time; nil is for [time.Now]
}

// A Ledger appends entries. It is safe for concurrent use. The caller closes it.
type Ledger struct {
	// fixed at creation
	cfg     Config
	key     ed25519.PrivateKey
	node    string
	queue   chan request
	closing chan struct{} // closed by Close
	done    chan struct{} // closed when the writer has ended
	opened  State

	acknowledged atomic.Uint64 // number of the newest entry on disk
	growth       growth        // of acknowledged, for those that wait

	notes   notes
	reads   notes
	failing atomic.Bool // the last batch could not be written
	waiting waiting

	w         writer // owned by the writer's goroutine
	lock      *os.File
	closeOnce sync.Once
	closeErr  error
}

// A State is what a ledger ends with.
type State struct {
	Seq        uint64    // of the newest entry; zero for none
	Time       time.Time // of the newest entry; zero for none
	Generation uint64    // of the newest entry
	// Torn is how many bytes Open has removed that were not written to their end, as by a server that was killed, or a power cut.
	// No Append has acknowledged an entry in them.
	Torn int64
}

// Open opens the ledger of a folder, and makes it if there is none. It checks the newest file; [Verify] checks all. It removes
// what was not written to its end, which no Append has acknowledged. Any other damage is a [DamageError].
func Open(c Config) (*Ledger, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.MaxFile == 0 {
		c.MaxFile = MaxFile
	}
	l := &Ledger{cfg: c, queue: make(chan request, maxQueue), closing: make(chan struct{}), done: make(chan struct{})}
	l.notes = notes{most: maxEntries, what: "entries", wake: make(chan struct{}, 1)}
	l.reads = notes{most: maxReads, what: "reads", wake: l.notes.wake}
	if err := l.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger: %w", err), l.closeFiles())
	}
	l.acknowledged.Store(l.w.at.seq)
	go l.write()
	return l, nil
}

func (l *Ledger) open() (err error) {
	if err := makePrivate(l.cfg.Dir); err != nil {
		return err
	}
	if err := l.lockDir(); err != nil {
		return err
	}
	if l.key, err = loadKey(l.cfg.KeyFile); err != nil {
		return err
	}
	l.node = nodeID(l.key.Public().(ed25519.PublicKey))
	l.w = writer{ledger: l}
	if err := l.openEntries(); err != nil {
		return err
	}
	return l.openHeads()
}

// lockDir locks the folder for this process.
func (l *Ledger) lockDir() (err error) {
	file := filepath.Join(l.cfg.Dir, lockFile)
	if l.lock, err = os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	alone, err := filelock.TryLock(l.lock, true)
	if err == nil && !alone {
		err = fmt.Errorf("another process has locked %s: end it, or choose another folder (%w)", file, filelock.ErrHeld)
	}
	return err
}

// openEntries checks the newest file, and opens it to append. If that has no entry, it checks the one before it too.
func (l *Ledger) openEntries() error {
	all, err := segments(l.cfg.Dir)
	if err != nil || len(all) == 0 {
		return err
	}
	newest := all[len(all)-1]
	end, size, torn, err := l.checkEnd(newest, newest.readNewest)
	if err != nil {
		return err
	}
	l.opened.Torn = torn
	if size == 0 && len(all) > 1 { // it was made just before the server was killed, and all of the one before was on disk
		before := all[len(all)-2]
		if end, _, torn, err = l.checkEnd(before, before.read); err != nil {
			return err
		}
		if torn > 0 {
			return &DamageError{File: before.path, Seq: end.seq + 1, What: "the file ends within a line"}
		}
	}
	if size == 0 && newest.first != end.seq+1 || len(all) == 1 && size == 0 && newest.first != 1 {
		return &DamageError{File: newest.path, Seq: end.seq + 1, What: "the entries before this file are missing"}
	}
	l.w.at = end
	return l.w.openFile(newest, size)
}

// checkEnd checks a file that may have the newest entry, and takes the state of the ledger from it. It returns how many bytes
// its whole lines have, and how many follow that were never written to their end.
func (l *Ledger) checkEnd(s segment, read func(*position, func([]byte) error) (size, unended int64, err error)) (end position, size, torn int64, err error) {
	at, err := startOf(s)
	if err != nil {
		return at, 0, 0, err
	}
	var last []byte
	size, torn, err = read(&at, func(text []byte) error {
		last = append(last[:0], text...)
		return nil
	})
	if err != nil || last == nil {
		return at, size, torn, err
	}
	line, err := parseLine(last)
	if err != nil {
		return at, size, torn, &DamageError{File: s.path, Seq: at.seq, What: err.Error()}
	}
	l.opened.Seq, l.opened.Time, l.opened.Generation = line.Seq, line.Time, line.Generation
	l.w.generation = line.Generation
	return at, size, torn, nil
}

// Opened returns what the ledger ended with when it was opened.
func (l *Ledger) Opened() State { return l.opened }

// Node returns the ID of the server's key, which each line has.
func (l *Ledger) Node() string { return l.node }

// maxEntries is how many entries one Append may have.
const maxEntries = 1000

// Append appends entries, one after the other, and returns when all of them are on disk. After an error none of them is in
// the ledger, unless it is of ctx, which bounds the wait: then they may be. The error may be one of those of this package. At
// most 1000 entries are allowed.
func (l *Ledger) Append(ctx context.Context, entries ...Entry) error {
	if len(entries) > maxEntries {
		return fmt.Errorf("append to the ledger: %d entries at once, which is more than %d", len(entries), maxEntries)
	}
	r := request{entries: entries, done: make(chan error, 1)}
	id := l.waiting.begin()
	defer l.waiting.end(id)
	select {
	case <-l.closing:
		return ErrClosed
	default:
	}
	select {
	case l.queue <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.closing:
		return ErrClosed
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done: // the writer has ended, perhaps after it has answered
		select {
		case err := <-r.done:
			return err
		default:
			return ErrClosed
		}
	}
}

// Lag returns how long the oldest entry has waited that was passed to Append or Note and is not on disk yet; zero for none.
func (l *Ledger) Lag() time.Duration {
	oldest := l.waiting.oldest()
	for _, n := range []*notes{&l.notes, &l.reads} {
		if noted := n.oldest(); oldest.IsZero() || !noted.IsZero() && noted.Before(oldest) {
			oldest = noted
		}
	}
	if oldest.IsZero() {
		return 0
	}
	return time.Since(oldest)
}

// Note has an entry appended soon, and does not wait. While the ledger cannot be written, it holds 1000 entries; of more it
// holds the number, for which there is an entry with the action "ledger.skipped".
func (l *Ledger) Note(e Entry) { l.notes.add(e) }

// maxReads is how many reads wait for the disk.
const maxReads = 10_000

// NoteRead has an entry of a read appended soon, and does not wait. It holds 10,000 of them apart from those of Note; of more it holds
// the number, as Note does.
func (l *Ledger) NoteRead(e Entry) { l.reads.add(e) }

// IsBehind reports whether entries that no caller waits for would be held back, or lost, now: the last could not be written, or as many
// reads wait as the Ledger holds. While nothing can be written it tries each second.
func (l *Ledger) IsBehind() bool { return l.failing.Load() || l.reads.isFull() }

// notes are entries for which no caller waits.
type notes struct {
	most int    // entries that are held
	what string // they are, for "ledger.skipped"

	mu      sync.Mutex
	entries []Entry
	times   []time.Time // when each of entries came
	skipped int
	wake    chan struct{} // has one value if there may be entries
}

// isFull reports whether no more entries are held.
func (n *notes) isFull() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.entries) >= n.most
}

// oldest returns when the oldest entry came; zero for none.
func (n *notes) oldest() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.times) == 0 {
		return time.Time{}
	}
	return n.times[0]
}

// waiting are calls of Append under way. Its zero value has none.
type waiting struct {
	mu    sync.Mutex
	last  uint64
	began map[uint64]time.Time
}

func (w *waiting) begin() (id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.began == nil {
		w.began = map[uint64]time.Time{}
	}
	w.last++
	w.began[w.last] = time.Now()
	return w.last
}

func (w *waiting) end(id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.began, id)
}

// oldest returns when the first of the calls began; zero for none.
func (w *waiting) oldest() (first time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, began := range w.began {
		if first.IsZero() || began.Before(first) {
			first = began
		}
	}
	return first
}

func (n *notes) add(e Entry) {
	e = bounded(e)
	n.mu.Lock()
	if len(n.entries) < n.most {
		n.entries, n.times = append(n.entries, e), append(n.times, time.Now())
	} else {
		n.skipped++
	}
	n.mu.Unlock()
	n.call()
}

// call has the writer look for entries.
func (n *notes) call() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// peek returns the entries to write now, at most 1000, with one for those that were skipped if there are no others.
func (n *notes) peek() (entries []Entry, count, skipped int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	count = min(len(n.entries), maxEntries)
	entries = append(entries, n.entries[:count]...)
	if n.skipped > 0 && count == len(n.entries) {
		skipped = n.skipped
		entries = append(entries, Entry{Actor: "server", Action: "ledger.skipped", After: fmt.Sprintf("%d %s, while the ledger could not be written, or not as quickly", skipped, n.what)})
	}
	return entries, count, skipped
}

// written removes entries that peek has returned.
func (n *notes) written(count, skipped int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entries = append([]Entry(nil), n.entries[count:]...)
	n.times = append([]time.Time(nil), n.times[count:]...)
	n.skipped -= skipped
	if len(n.entries) > 0 {
		n.call()
	}
}

// Left returns the entries that were noted since the Ledger was closed, for another one.
func (l *Ledger) Left() (all []Entry) {
	for _, n := range []*notes{&l.notes, &l.reads} {
		for some := true; some; {
			part, count, skipped := n.peek()
			n.written(count, skipped)
			all, some = append(all, part...), len(part) > 0
		}
	}
	return all
}

// Close writes what is left, signs the head, and closes the files. It is idempotent.
func (l *Ledger) Close() error {
	l.closeOnce.Do(func() {
		close(l.closing)
		<-l.done
		l.closeErr = errors.Join(l.w.err, l.closeFiles())
	})
	return l.closeErr
}

// closeFiles closes what was opened. The lock is the last.
func (l *Ledger) closeFiles() error {
	var errs []error
	for _, f := range []*os.File{l.w.file, l.w.heads} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if l.lock != nil {
		errs = append(errs, filelock.Close(l.lock))
	}
	return errors.Join(errs...)
}
