package load

import (
	"fmt"
	"syscall"
	"time"
)

// Run asks until the load's end. It opens the connections, and sessions, and closes the connections.
func (h HTTP) Run(l Load) (*Result, error) {
	poll, err := openPoller()
	if err != nil {
		return nil, err
	}
	defer poll.close()
	r := &httpRun{poll: poll, meter: newMeter(l), buf: make([]byte, bufferSize), id: idBase}
	defer r.close()
	for range h.Connections {
		if err := r.open(h); err != nil {
			return nil, err
		}
	}
	err = undisturbed(func() error { return r.run(newPace(l.Rate)) })
	return r.meter.result, err
}

// A conn has one request under way, or is free.
type conn struct {
	fd       int
	request  []byte
	id       int // where in request
	asked    time.Time
	response response
}

type httpRun struct {
	poll  *poller
	conns []*conn
	free  []*conn
	meter *meter
	buf   []byte
	id    uint64
}

func (r *httpRun) open(h HTTP) error {
	x, err := OpenExchange(h.Addr, h.Revision)
	if err != nil {
		return err
	}
	c := &conn{fd: x.fd}
	body, id := h.Call.message(h.Revision)
	head := h.Call.header(h.Addr, h.Revision, x.session, len(body))
	c.request, c.id = []byte(head+body), len(head)+id
	r.conns, r.free = append(r.conns, c), append(r.free, c)
	return r.poll.add(c.fd, len(r.conns)-1)
}

func (r *httpRun) close() {
	for _, c := range r.conns {
		_ = syscall.Close(c.fd)
	}
}

func (r *httpRun) run(p *pace) error {
	r.meter.start()
	heard := time.Now()
	for {
		if err := r.sendDue(p); err != nil {
			return err
		}
		now := time.Now()
		events, err := r.poll.wait(p.until(now, len(r.free) > 0, time.Second))
		if err != nil {
			return err
		}
		if len(events) > 0 {
			heard = now
		} else if now.Sub(heard) > patience {
			return errSilent
		}
		for i := range events {
			last, err := r.receive(r.conns[events[i].Fd], p)
			if err != nil || last {
				return err
			}
		}
	}
}

// sendDue sends what is due on connections that are free.
func (r *httpRun) sendDue(p *pace) error {
	now := time.Now()
	for {
		since, ok := p.due(now, len(r.free) > 0)
		if !ok {
			return nil
		}
		c := r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
		if err := r.send(c, since); err != nil {
			return err
		}
	}
}

func (r *httpRun) send(c *conn, since time.Time) error {
	r.id++
	putID(c.request[c.id:], r.id)
	c.asked = since
	return writeAll(c.fd, c.request)
}

// receive reads what is there. A response that is complete is counted, and without a pace the next one asked for.
func (r *httpRun) receive(c *conn, p *pace) (last bool, err error) {
	n, e := read(c.fd, r.buf)
	if e == syscall.EAGAIN || e == syscall.EINTR {
		return false, nil
	}
	if e != 0 || n == 0 {
		return false, fmt.Errorf("the server has closed a connection, %d bytes into a body: %w", c.response.body, e)
	}
	done, err := c.response.feed(r.buf[:n])
	if !done || err != nil {
		return false, err
	}
	if c.response.status != 200 {
		return false, fmt.Errorf("status %d", c.response.status)
	}
	now := time.Now()
	last, err = r.meter.count(now, now.Sub(c.asked), c.response.body, c.response.stream)
	c.response.reset()
	if last || err != nil {
		return last, err
	}
	if p.every == 0 {
		return false, r.send(c, now)
	}
	r.free = append(r.free, c)
	return false, nil
}
