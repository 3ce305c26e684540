package link

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// ended is a process that has ended long ago, while what it sends still comes.
type ended struct {
	attach func(socket, window *os.File)
}

func (ended) Kill()                      {}
func (ended) Cancel(uint32, uint64)      {}
func (ended) Pause(uint32, uint64, bool) {}
func (ended) SetBackground(bool)         {}
func (ended) Contended() bool            { return false }

// Attach hands copies of the files on.
func (p ended) Attach(_ uint32, files ...*os.File) error {
	var copies [2]*os.File
	for i, f := range files {
		fd, err := syscall.Dup(int(f.Fd()))
		if err != nil {
			return err
		}
		copies[i] = os.NewFile(uintptr(fd), f.Name())
	}
	p.attach(copies[0], copies[1])
	return nil
}

// plain is what is the same for all runners here.
type plain struct{}

func (plain) ResetUsed()        {}
func (plain) MaxCalls() int     { return protocol.MaxLinks }
func (plain) EndSession(string) {}
func (plain) Info() guest.Info  { return guest.Info{Reset: guest.ResetInPlace} }

// unavailable makes of a lost worker what package worker makes of it.
func unavailable(err error) error {
	var lost *LostError
	if !errors.As(err, &lost) {
		return err
	}
	return abi.Errorf(abi.CodeUnavailable, "the provider's process has ended").Because(lost)
}

// A Host is the parent of a worker that a test plays in this process. It is a [guest.Runner] for one module, and runs
// calls at the same time as a parent does. Killing the worker ends one link, so that the others go on.
type Host struct {
	plain
	// Link is called on a goroutine of its own with each link, as the worker has it. It closes both files.
	Link func(socket, window *os.File)

	cfg    Config
	module Module
	set    *Set
	played sync.WaitGroup
}

// Open implements [guest.Runner].
func (h *Host) Open(_ context.Context, host *guest.Host) (guest.Guests, error) {
	h.module = Module{Host: host, Quota: &Quota{}}
	h.cfg = Config{
		Process: ended{func(socket, window *os.File) { h.played.Go(func() { h.Link(socket, window) }) }},
		Grace:   60 * time.Millisecond, PipelineUnder: time.Hour, Idle: time.Hour, Logger: slog.New(slog.DiscardHandler),
	}
	h.set = New(h.cfg)
	h.set.module, h.set.maxShared, h.set.pipelining = h.module, 2, true
	return h, nil
}

// Call implements [guest.Guests].
func (h *Host) Call(ctx *deadline.Context, c *guest.Call) error {
	return unavailable(h.set.Call(ctx, c))
}

// Start has play start another worker, given its end of the first link, which it closes.
func (h *Host) Start(ctx context.Context, play func(socket *os.File)) error {
	conn, theirs, err := protocol.Pair()
	if err != nil {
		return err
	}
	s := New(h.cfg)
	if _, err := s.Add(conn); err != nil {
		return errors.Join(err, theirs.Close())
	}
	var played sync.WaitGroup
	defer played.Wait()
	played.Go(func() { play(theirs) })
	_, err = s.Start(ctx, h.module)
	s.Close()
	return err
}

// Log logs what play reports beside calls, until it closes the connection or violates the protocol.
func (h *Host) Log(play func(reports *os.File)) error {
	conn, theirs, err := protocol.Pair()
	if err != nil {
		return err
	}
	var played sync.WaitGroup
	played.Go(func() { play(theirs) })
	_ = LogReports(conn, h.module.Host)
	err = conn.Close()
	played.Wait()
	return err
}

// Close implements [guest.Guests]. It waits until all links have been played.
func (h *Host) Close() error {
	h.set.Close()
	h.played.Wait()
	return nil
}

// A Parent is the parent's side of a worker that has ended. It is a [guest.Runner] for one module, and runs one call at a
// time.
type Parent struct {
	plain
	// Say is called with each call's link, as the worker has it, and the number of the call. It closes the link.
	Say func(socket *os.File, number uint64)

	set *Set
}

// Open implements [guest.Runner].
func (p *Parent) Open(_ context.Context, host *guest.Host) (guest.Guests, error) {
	p.set = New(Config{Process: ended{}, Grace: 60 * time.Millisecond, Idle: time.Hour, Logger: slog.New(slog.DiscardHandler)})
	p.set.module = Module{Host: host, Quota: &Quota{}}
	return p, nil
}

// Call implements [guest.Guests].
func (p *Parent) Call(ctx *deadline.Context, c *guest.Call) error {
	conn, theirs, err := protocol.Pair()
	if err != nil {
		return err
	}
	if _, err := p.set.Add(conn); err != nil {
		return errors.Join(err, theirs.Close())
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		var header [16]byte
		_, _ = io.ReadFull(theirs, header[:])
		p.Say(theirs, binary.LittleEndian.Uint64(header[8:]))
	}()
	err = p.set.Call(ctx, c)
	p.set.mu.Lock()
	idle := p.set.idle
	p.set.idle = nil
	p.set.mu.Unlock()
	for _, l := range idle {
		l.close()
	}
	<-said
	return unavailable(err)
}

// Close implements [guest.Guests].
func (p *Parent) Close() error { return nil }
