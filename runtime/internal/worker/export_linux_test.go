package worker

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"os"

	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// Slowdown is how much longer what is bounded by the clock may take in this build.
const Slowdown = slowdown

// A Parent is the parent's side of a worker whose process has ended long ago, while what it says still comes. It is a
// [sandbox.Runner] for one module, and does one call at a time.
type Parent struct {
	worker  *worker
	control *os.File
	// Say is called with each call's link, as the worker has it, and the number of the call. It closes the link.
	Say func(socket *os.File, number uint64)
}

// Open implements [sandbox.Runner].
func (p *Parent) Open(_ context.Context, o *sandbox.Order) (sandbox.Guests, error) {
	ended, err := process.Start(process.Config{Executable: "/proc/self/exe", Name: protocol.ProcessName}) // gets no start request
	if err != nil {
		return nil, err
	}
	<-ended.Done()
	g := &guests{runner: &Runner{cfg: Config{Grace: grace, Logger: slog.New(slog.DiscardHandler)}}, order: o}
	p.worker = &worker{runner: g.runner, guests: g, process: ended}
	p.worker.links = &links{worker: p.worker}
	if p.worker.control, p.control, err = protocol.Pair(); err == nil {
		go io.Copy(io.Discard, p.control) // until it is closed
	}
	return p, err
}

// Call implements [sandbox.Guests].
func (p *Parent) Call(ctx context.Context, c *sandbox.Call) error {
	conn, theirs, err := protocol.Pair()
	if err != nil {
		return err
	}
	l, err := p.worker.links.make(conn)
	if err != nil {
		return err
	}
	p.worker.links.give(l)
	said := make(chan struct{})
	go func() {
		defer close(said)
		var header [16]byte
		_, _ = io.ReadFull(theirs, header[:])
		p.Say(theirs, binary.LittleEndian.Uint64(header[8:]))
	}()
	_, err = p.worker.call(ctx, c)
	p.worker.links.mu.Lock()
	idle := p.worker.links.idle
	p.worker.links.idle = nil
	p.worker.links.mu.Unlock()
	for _, l := range idle {
		l.close()
	}
	<-said
	return err
}

func (p *Parent) Settle()                      {}
func (p *Parent) EndSession(string)            {}
func (p *Parent) Started() sandbox.Start       { return sandbox.Start{} }
func (p *Parent) Lane() (sandbox.Lane, string) { return sandbox.LaneReset, "" }
func (p *Parent) Close() error                 { return p.worker.control.Close() }
