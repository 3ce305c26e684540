// Package throttle logs repeated events at a bounded rate, so that clients that cause them cannot fill the log.
package throttle

import (
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Every is the shortest time between two lines of one kind of event.
const Every = 10 * time.Second

// A Log writes warnings, at most one of each kind in any [Every]. It writes the first event of a kind at once. Of further
// events it writes the newest after Every, with the attribute left_out, which counts the others. A Log is safe for
// concurrent use and has no goroutine.
type Log struct {
	logger  *slog.Logger
	writing sync.WaitGroup // lines; added to with mu held

	mu     sync.Mutex // guards the fields below; not held while a line is written
	closed bool
	kinds  map[string]*kind // that were written within Every
}

// A kind has the events of one kind since its last line was written.
type kind struct {
	timer  *time.Timer // calls expire
	newest event
	count  int // of events
}

// An event is one line.
type event struct {
	message string
	args    []any
}

// New makes a Log, which the caller closes.
func New(logger *slog.Logger) *Log { return &Log{logger: logger, kinds: make(map[string]*kind)} }

// Warn logs an event, or counts it. The caller bounds how many kinds there are. A closed Log discards it.
func (l *Log) Warn(name, message string, args ...any) {
	if e := (event{message, args}); l.isFirst(name, e) {
		l.write(e)
	}
}

// isFirst reports whether the caller must write an event now. Otherwise it counts the event.
func (l *Log) isFirst(name string, e event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if k := l.kinds[name]; k != nil {
		k.newest = e
		k.count++
		return false
	}
	l.kinds[name] = &kind{timer: time.AfterFunc(Every, func() { l.expire(name) })}
	l.writing.Add(1)
	return true
}

// expire writes the newest event of a kind, or removes the kind if there was none.
func (l *Log) expire(name string) {
	if e, ok := l.take(name); ok {
		l.write(e)
	}
}

// take returns the newest event of a kind, if there is one, and resets its count.
func (l *Log) take(name string) (e event, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.kinds[name]
	if k == nil { // closed
		return e, false
	}
	if k.count == 0 {
		delete(l.kinds, name)
		return e, false
	}
	e = k.summary()
	k.newest, k.count = event{}, 0
	k.timer.Reset(Every)
	l.writing.Add(1)
	return e, true
}

// summary is the newest event, with the count of the others.
func (k *kind) summary() event {
	e := k.newest
	if k.count > 1 {
		e.args = append(slices.Clip(e.args), "left_out", k.count-1)
	}
	return e
}

// write writes an event of isFirst, take or close.
func (l *Log) write(e event) {
	defer l.writing.Done()
	l.logger.Warn(e.message, e.args...)
}

// Close writes the events that are not written yet. After Close no line is written.
func (l *Log) Close() {
	for _, e := range l.close() {
		l.write(e)
	}
	l.writing.Wait()
}

func (l *Log) close() (left []event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, k := range l.kinds {
		k.timer.Stop()
		if k.count > 0 {
			left = append(left, k.summary())
			l.writing.Add(1)
		}
	}
	clear(l.kinds)
	return left
}
