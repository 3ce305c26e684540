package child

import (
	"context"
	"log/slog"
	"os"

	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A Child is a worker in this process, which is not locked down.
type Child struct{ child }

// OpenChild starts the guests of a module as a worker does.
func OpenChild(ctx context.Context, e engine.Engine, limits limits.Limits, binary []byte) (*Child, error) {
	limits, err := limits.WithDefaults()
	if err != nil {
		return nil, err
	}
	m, err := provider.Instrument(provider.Config{Limits: limits}, binary)
	if err != nil {
		return nil, err
	}
	c := &Child{child{
		request: protocol.StartRequest{Limits: limits, Lifecycle: abi.LifecycleShared, Services: []abi.Service{abi.ServiceConfig}},
		links:   map[uint32]*connection{},
	}}
	return c, c.startGuests(ctx, pool.InProcess{Engine: e}, m, slog.New(slog.DiscardHandler))
}

// Serve serves a link until it ends, and gives the error that ended it.
func (c *Child) Serve(socket, window *os.File) error {
	conn, err := protocol.Open(socket, 0)
	if err != nil {
		return err
	}
	defer conn.Close()
	mapping, err := protocol.OpenWindow(window)
	if err != nil {
		return err
	}
	defer mapping.Close()
	l := &connection{out: protocol.NewSender(conn, mapping)}
	for {
		if err := l.serveCall(c.host, c.guests); err != nil {
			return err
		}
		c.guests.ResetUsed()
	}
}

// Control handles the messages of a control connection until it ends, and gives the error that ended it.
func (c *Child) Control(socket *os.File) (err error) {
	if c.control, err = protocol.Open(socket, protocol.MaxFiles); err != nil {
		return err
	}
	defer c.control.Close()
	return c.handleMessages()
}

// IdleAfter is how long after the last call memory is released, at least.
const IdleAfter = idleAfter

// NewIdleTimer makes the timer of a worker, and returns what notes the end of a call.
func NewIdleTimer(release func()) (note func()) { return (&idleTimer{release: release}).note }
