package accesslog

import (
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	// maxBuffer is how many bytes of lines may wait to be written.
	maxBuffer = 1 << 20
	// batchDelay is the least time between two writes, so that many lines share one.
	batchDelay = 50 * time.Millisecond
	// reportInterval is the least time between two reports of lines that were dropped.
	reportInterval = 10 * time.Second
	// closeTimeout is how long Close waits for lines to be written.
	closeTimeout = 2 * time.Second
)

// A Log writes lines. It is safe for concurrent use. Close releases it.
type Log struct {
	// fixed at creation
	out    io.WriteCloser
	logger *slog.Logger
	wake   chan struct{} // holds a token while there is something to write
	closed chan struct{} // closed by Close
	done   chan struct{} // closed when run has ended

	mu      sync.Mutex // guards the fields below
	pending []byte     // whole lines
	spare   []byte     // the buffer that pending becomes next; nil while it is written
	dropped int64      // lines since the last report
	ended   bool
	formatter

	// owned by run
	reported time.Time
	problem  error // of the last write
}

// New makes a Log that writes to out, and closes it in the end. A nil logger discards reports of what goes wrong.
func New(out io.WriteCloser, format Format, logger *slog.Logger) *Log {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	l := &Log{
		formatter: formatter{format: format}, out: out, logger: logger,
		wake: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{}),
	}
	go l.run()
	return l
}

// Add adds the line of a request. It does not block, and keeps nothing of e.
func (l *Log) Add(e Entry) {
	if l.add(&e) {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// add reports whether the line is the first that waits.
func (l *Log) add(e *Entry) (isFirst bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const longest = 4 * 6 * maxText // bytes of a line, about, if all its texts need escapes
	if l.ended || len(l.pending) > maxBuffer-longest {
		l.dropped++
		return false
	}
	isFirst = len(l.pending) == 0
	l.pending = l.appendLine(l.pending, e)
	return isFirst
}

// Close writes the lines that wait, for at most two seconds, and closes what the Log writes to. It is idempotent. Lines
// that are added later are dropped.
func (l *Log) Close() error {
	l.mu.Lock()
	if !l.ended {
		l.ended = true
		close(l.closed)
	}
	l.mu.Unlock()
	select {
	case <-l.done:
		return nil
	case <-time.After(closeTimeout):
		return errors.New("close access log: the last lines could not be written in time")
	}
}

// run writes until the Log is closed.
func (l *Log) run() {
	defer close(l.done)
	pause := time.NewTimer(0)
	defer pause.Stop()
	for ended := false; !ended; {
		select {
		case <-l.wake:
		case <-l.closed:
			ended = true
		}
		l.write()
		l.report(ended)
		pause.Reset(batchDelay)
		select {
		case <-pause.C:
		case <-l.closed:
		}
	}
	if err := l.out.Close(); err != nil {
		l.logger.Warn("access log not closed", "err", err)
	}
}

// write writes the lines that wait. Lines that cannot be written are dropped.
func (l *Log) write() {
	l.mu.Lock()
	lines := l.pending
	l.pending, l.spare = l.spare[:0], nil
	l.mu.Unlock()
	if len(lines) > 0 {
		if _, err := l.out.Write(lines); err != nil {
			l.problem = err
			l.drop(lines)
		}
	}
	l.mu.Lock()
	l.spare = lines
	l.mu.Unlock()
}

func (l *Log) drop(lines []byte) {
	var n int64
	for _, c := range lines {
		if c == '\n' {
			n++
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped += n
}

// report logs how many lines were dropped, at most once in reportInterval unless it is the last report.
func (l *Log) report(isLast bool) {
	if !isLast && time.Since(l.reported) < reportInterval {
		return
	}
	l.mu.Lock()
	dropped := l.dropped
	l.dropped = 0
	l.mu.Unlock()
	if dropped == 0 {
		return
	}
	l.reported = time.Now()
	reason := "the lines are not written fast enough"
	if l.problem != nil {
		reason, l.problem = l.problem.Error(), nil
	}
	l.logger.Warn("access log lines dropped", "lines", dropped, "err", reason)
}
