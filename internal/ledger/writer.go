package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/wasmres/wasmres/internal/faultpoint"
)

const (
	maxQueue   = 256                   // requests that wait for the writer
	maxBatch   = 100                   // lines that are written together, if they came apart
	batchTime  = 10 * time.Millisecond // for which notes wait for others
	retryTime  = time.Second           // after notes could not be written
	headPeriod = time.Hour
)

// A request is entries that a caller of Append waits for.
type request struct {
	entries []Entry
	done    chan error // has room for the answer
}

// A writer has the file to which entries are appended. Its goroutine owns it.
type writer struct {
	ledger *Ledger
	file   *os.File // nil before the first entry
	size   int64    // of the whole lines in it
	torn   bool     // the file may be longer than size

	heads    *os.File
	headSize int64
	headTorn bool
	signed   uint64 // number of the entry of the newest head

	at         position
	generation uint64
	failing    bool  // the last batch could not be written
	err        error // of the end
}

// write is the goroutine that writes, until the Ledger is closed.
func (l *Ledger) write() {
	defer close(l.done)
	timer := time.NewTimer(headPeriod)
	defer timer.Stop()
	var retry <-chan time.Time
	for {
		select {
		case r := <-l.queue:
			l.batch(r)
		case <-l.notes.wake:
			l.await()
		case <-retry:
			l.batch()
		case <-timer.C:
			_ = l.w.signHead() // which has logged its error
			timer.Reset(headPeriod)
		case <-l.closing:
			l.end()
			return
		}
		retry = nil
		if l.w.failing {
			retry = time.After(retryTime)
		}
	}
}

// await lets notes wait for others, until a caller waits for the ledger.
func (l *Ledger) await() {
	timer := time.NewTimer(batchTime)
	defer timer.Stop()
	select {
	case r := <-l.queue:
		l.batch(r)
	case <-timer.C:
		l.batch()
	case <-l.closing:
	}
}

// batch writes requests, with more that are there already, and all notes. It answers the requests.
func (l *Ledger) batch(requests ...request) {
	lines := 0
	for _, r := range requests {
		lines += len(r.entries)
	}
collect:
	for lines < maxBatch {
		select {
		case r := <-l.queue:
			requests = append(requests, r)
			lines += len(r.entries)
		default:
			break collect
		}
	}
	entries, noted, skipped := l.notes.peek()
	reads, read, skippedReads := l.reads.peek()
	if entries = append(entries, reads...); l.w.failing {
		entries = append([]Entry{{Actor: "server", Action: "ledger.resume"}}, entries...)
	}
	for _, r := range requests {
		entries = append(entries, r.entries...)
	}
	err := l.w.append(entries)
	if err == nil {
		l.notes.written(noted, skipped)
		l.reads.written(read, skippedReads)
	}
	l.failing.Store(l.w.failing)
	for _, r := range requests {
		r.done <- err
	}
	if err == nil && l.w.signed == 0 {
		_ = l.w.signHead() // so that a ledger without any head is a short one
	}
}

// end writes what is left, and signs the head.
func (l *Ledger) end() {
	for len(l.queue) > 0 {
		l.batch(<-l.queue)
	}
	l.batch()
	for l.reads.oldest() != (time.Time{}) && !l.w.failing {
		l.batch()
	}
	left, _, _ := l.notes.peek()
	reads, _, _ := l.reads.peek()
	if lost := len(left) + len(reads); lost > 0 {
		l.w.err = fmt.Errorf("%w: %d noted entries are lost, or more", ErrUnavailable, lost)
	}
	l.w.err = errors.Join(l.w.err, l.w.signHead())
}

// append writes entries as lines. After an error the ledger is as it was.
func (w *writer) append(entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	at, generation := w.at, w.generation
	text := make([]byte, 0, 512*len(entries))
	now := w.ledger.cfg.Now()
	for _, e := range entries {
		line := Line{Seq: at.seq + 1, Time: now, Node: w.ledger.node, Entry: bounded(e), Prev: at.hash}
		if line.Seq > w.at.seq+1 {
			line.Batch = w.at.seq + 1
		}
		if line.Generation == 0 {
			line.Generation = generation
		}
		text = appendLine(text, &line)
		at, generation = position{line.Seq, line.Hash}, line.Generation
	}
	if err := w.put(text); err != nil {
		if !w.failing {
			w.ledger.cfg.Logger.Error("ledger cannot be written, changes are refused until it can", "dir", w.ledger.cfg.Dir, "err", err)
		}
		w.failing = true
		return fmt.Errorf("%w: %w: make room, or mend what the error names; it is tried again with the next change", ErrUnavailable, err)
	}
	if w.failing {
		w.ledger.cfg.Logger.Info("ledger can be written again", "dir", w.ledger.cfg.Dir)
	}
	w.at, w.generation, w.failing = at, generation, false
	w.ledger.acknowledged.Store(at.seq)
	w.ledger.growth.tell()
	return nil
}

// put writes whole lines to the disk, in a new file if the present one has no room.
func (w *writer) put(text []byte) error {
	if w.file == nil || w.size > 0 && w.size+int64(len(text)) > w.ledger.cfg.MaxFile {
		if err := w.nextFile(); err != nil {
			return err
		}
	}
	if err := putAt(w.file, text, w.size, &w.torn); err != nil {
		return err
	}
	w.size += int64(len(text))
	return nil
}

// putAt writes text at the end of a file that has size bytes, and waits until it is on disk. After an error the file may be
// longer; then isTorn is true, and the next call removes what is too much.
func putAt(f *os.File, text []byte, size int64, isTorn *bool) error {
	if *isTorn {
		if err := f.Truncate(size); err != nil {
			return err
		}
	}
	*isTorn = true
	if _, err := f.WriteAt(text, size); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	faultpoint.Reach("ledger line written")
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	*isTorn = false
	return nil
}

// nextFile begins a file for the entries to come.
func (w *writer) nextFile() error {
	if w.torn { // what is too much at the end of a file that is not the newest would be damage
		if err := errors.Join(w.file.Truncate(w.size), w.file.Sync()); err != nil {
			return err
		}
	}
	path := filepath.Join(w.ledger.cfg.Dir, segmentName(w.at.seq+1))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := syncDir(w.ledger.cfg.Dir); err != nil {
		return errors.Join(err, f.Close())
	}
	if w.file != nil {
		_ = w.file.Close() // all of it is on disk
	}
	w.file, w.size, w.torn = f, 0, false
	return nil
}

// openFile opens the newest file, whose whole lines have size bytes, and removes a line that was never ended.
func (w *writer) openFile(s segment, size int64) error {
	if err := checkPrivate(s.path); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	w.file, w.size = f, size
	return w.ledger.removeTorn(f, size)
}

// removeTorn makes a file as long as its whole lines.
func (l *Ledger) removeTorn(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil || info.Size() == size {
		return err
	}
	l.cfg.Logger.Warn("end of a file removed that was not written to its end, and never acknowledged", "file", f.Name(), "bytes", info.Size()-size)
	return errors.Join(f.Truncate(size), f.Sync())
}

// openHeads checks the heads against the newest file, and opens their file to append.
func (l *Ledger) openHeads() error {
	path := filepath.Join(l.cfg.Dir, headFile)
	flags := os.O_RDWR
	if l.w.at.seq == 0 {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return &DamageError{File: path, What: "the signed heads are missing"}
	}
	if err != nil {
		return err
	}
	l.w.heads = f
	if flags&os.O_CREATE != 0 {
		if err := syncDir(l.cfg.Dir); err != nil {
			return err
		}
	}
	h := heads{file: path, of: f, in: bufio.NewReaderSize(f, maxHead)}
	for {
		head, err := h.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if head.Seq > l.w.at.seq || head.Seq == l.w.at.seq && head.Hash != l.w.at.hash {
			return &DamageError{File: path, Line: h.line, Seq: head.Seq, What: cutMessage(l.w.at, head)}
		}
		l.w.signed = head.Seq
	}
	l.w.headSize = h.size
	return l.removeTorn(f, h.size)
}

func cutMessage(end position, h Head) string {
	if h.Seq == end.seq {
		return fmt.Sprintf("the server has signed another entry %d: the end of the ledger was replaced", h.Seq)
	}
	return fmt.Sprintf("the server has signed entry %d, and the ledger ends with %d: its end was cut off", h.Seq, end.seq)
}

// signHead signs the newest entry, unless it has done so.
func (w *writer) signHead() error {
	if w.at.seq == w.signed {
		return nil
	}
	text, head := signHead(nil, w.ledger.key, w.at, w.ledger.cfg.Now())
	log := w.ledger.cfg.Logger
	if err := putAt(w.heads, text, w.headSize, &w.headTorn); err != nil {
		log.Error("head of the ledger not written", "dir", w.ledger.cfg.Dir, "seq", head.Seq, "head", head.Hash.String(), "err", err)
		return fmt.Errorf("%w: sign its head: %w", ErrUnavailable, err)
	}
	w.headSize += int64(len(text))
	w.signed = head.Seq
	log.Info("ledger signed", "seq", head.Seq, "head", head.Hash.String(), "key", head.Key)
	return nil
}
