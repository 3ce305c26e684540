package load

import (
	"bytes"
	"fmt"
	"syscall"
	"time"
)

// underWay is the most requests a pipe can have.
const underWay = 1 << 10

type stdioRun struct {
	in, out  int
	request  []byte
	idAt     int
	next     uint64
	expected [underWay]time.Time // when id was asked for, at id modulo underWay
	asked    int                 // and not yet answered
	line     *line
	meter    *meter
	stopping bool
}

// Run asks until the load's end, and waits for what is still under way.
func (s Stdio) Run(l Load) (*Result, error) {
	poll, err := openPoller()
	if err != nil {
		return nil, err
	}
	defer poll.close()
	if err := poll.add(s.Pipe.r, 0); err != nil {
		return nil, err
	}
	defer func() { _ = syscall.SetNonblock(s.Pipe.r, false) }()
	text, id := s.Call.message(s.Pipe.revision)
	r := &stdioRun{in: s.Pipe.r, out: s.Pipe.w, request: []byte(text + "\n"), idAt: id, next: s.Pipe.nextID,
		line: newLine(), meter: newMeter(l)}
	err = undisturbed(func() error { return r.run(poll, min(s.Depth, underWay)) })
	s.Pipe.nextID = r.next
	return r.meter.result, err
}

func (r *stdioRun) run(poll *poller, depth int) error {
	r.meter.start()
	for range depth {
		if err := r.send(); err != nil {
			return err
		}
	}
	buf := make([]byte, bufferSize)
	heard := time.Now()
	for r.asked > 0 {
		n, e := read(r.in, buf)
		if e == syscall.EAGAIN || e == syscall.EINTR {
			if _, err := poll.wait(time.Second); err != nil {
				return err
			}
			if time.Since(heard) > patience {
				return errSilent
			}
			continue
		}
		if e != 0 || n == 0 {
			return fmt.Errorf("the server has closed its standard output, %d bytes into a line: %w", r.line.length, e)
		}
		heard = time.Now()
		if err := r.receive(buf[:n], heard); err != nil {
			return err
		}
	}
	return nil
}

func (r *stdioRun) send() error {
	r.next++
	putID(r.request[r.idAt:], r.next)
	r.expected[r.next%underWay] = time.Now()
	r.asked++
	return writeAll(r.out, r.request)
}

func (r *stdioRun) receive(b []byte, now time.Time) error {
	for {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			r.line.add(b)
			return nil
		}
		r.line.add(b[:end])
		if err := r.answered(now); err != nil {
			return err
		}
		r.line.reset()
		b = b[end+1:]
	}
}

// answered takes a line that is complete.
func (r *stdioRun) answered(now time.Time) error {
	id := r.line.id()
	if id == 0 && bytes.Contains(r.line.head, []byte(`"method"`)) {
		return nil
	}
	since := &r.expected[id%underWay]
	if id == 0 || since.IsZero() {
		return fmt.Errorf("an answer to nothing that was asked: %q", r.line.head)
	}
	last := false
	var err error
	if !r.stopping {
		last, err = r.meter.count(now, now.Sub(*since), r.line.length, false)
	}
	*since = time.Time{}
	r.asked--
	r.stopping = r.stopping || last
	if err != nil || r.stopping {
		return err
	}
	return r.send()
}
