package fair

import (
	goruntime "runtime"
	"sync"
	"time"
)

// A Meter charges a share what its processes use, one after the other. It is safe for concurrent use. The nil Meter charges nothing.
type Meter struct {
	share *Share
	read  func() (time.Duration, error)

	mu    sync.Mutex // guards the fields below
	last  time.Duration
	at    time.Duration // on the queue's clock, when last was read
	epoch uint64        // of the queue, in which last was read
}

// NewMeter makes a Meter. read returns the processor time that the process of now has used in
// its life. A nil Share has the nil Meter.
func (s *Share) NewMeter(read func() (time.Duration, error)) *Meter {
	if s == nil {
		return nil
	}
	return &Meter{share: s, read: read}
}

// charge charges what was used since the last reading of this epoch. The first reading of an epoch charges nothing.
func (m *Meter) charge() {
	if m == nil {
		return
	}
	q := m.share.queue
	m.mu.Lock()
	defer m.mu.Unlock()
	used, err := m.read()
	if err != nil { // there is none
		return
	}
	now, epoch := q.now(), q.epoch.Load()
	if m.epoch == epoch {
		most := (now - m.at + time.Millisecond) * time.Duration(goruntime.NumCPU()) // another process may have the number by now
		if more := min(used-m.last, most); more > 0 {
			m.share.owe(more)
		}
	}
	m.last, m.at, m.epoch = used, now, epoch
}
