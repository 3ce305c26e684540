package load

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// bufferSize is read at once. Larger than what a socket or a pipe holds in most cases.
const bufferSize = 1 << 20

const streamSlack = 64

// patience is how long nothing may come from a server.
const patience = 30 * time.Second

var errSilent = errors.New("the server has not answered for half a minute")

// A meter counts responses, from the end of the warm-up on.
type meter struct {
	load      Load
	result    *Result
	measuring bool
	began     time.Time
	cpu       time.Duration
	streamed  int64 // the length of the first stream of events
}

func newMeter(l Load) *meter { return &meter{load: l, result: new(Result)} }

func (m *meter) start() {
	m.began = time.Now()
	if m.load.Warmup == 0 {
		m.measure(m.began)
	}
}

func (m *meter) measure(now time.Time) {
	m.measuring = true
	if m.load.Measuring != nil {
		m.load.Measuring()
	}
	m.began, m.cpu = time.Now(), cpu()
}

// count notes a response of so many bytes that came now. It reports whether it was the last one.
func (m *meter) count(now time.Time, latency time.Duration, bytes int64, stream bool) (last bool, err error) {
	r := m.result
	if err := m.compare(bytes, stream); err != nil {
		return false, err
	}
	past := now.Sub(m.began)
	if !m.measuring {
		if past >= m.load.Warmup {
			m.measure(now)
		}
		return false, nil
	}
	r.Requests++
	r.latency.add(latency)
	if past < m.load.Duration && (m.load.Requests == 0 || r.Requests < m.load.Requests) {
		return false, nil
	}
	r.Elapsed, r.CPU = past, cpu()-m.cpu
	return true, nil
}

// compare holds a response to the length of the first one. Streams are held to that of the first stream, and may have
// names of events that are longer by a little.
func (m *meter) compare(bytes int64, stream bool) error {
	first, slack := &m.result.Length, int64(0)
	if stream {
		first, slack = &m.streamed, streamSlack
		m.result.Streams++
	}
	if *first == 0 {
		*first = bytes
	}
	if over := *first - bytes; over < -slack || over > slack {
		return fmt.Errorf("a response has %d bytes, the first one had %d", bytes, *first)
	}
	return nil
}

// undisturbed runs f on a thread of its own, with no garbage collected meanwhile.
func undisturbed(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	sharpen()
	return f()
}
