package stdio

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// Defaults of a Config.
const (
	defaultMaxLine       = 4 << 20 // bytes
	defaultMaxConcurrent = 64
	defaultGrace         = 5 * time.Second
)

// A Legacy opens sessions of the revisions that begin with a handshake.
type Legacy interface {
	// Connect opens a session with one client. What the client is to get goes to send, a message at a time and without
	// its line end; send is called from many goroutines. When ctx ends so does the session, with what it is doing.
	Connect(ctx context.Context, send func(line []byte) error) (LegacySession, error)
}

// A LegacySession is one client of an older revision. Its methods are called one at a time.
type LegacySession interface {
	// Ready gives the revision of the session once the handshake is over, from when on requests of the usual kind may be
	// answered by the core.
	Ready() (mcp.Revision, bool)
	// Receive takes a line from the client, which it does not keep. An error means that the session has ended.
	Receive(line []byte) error
	// Close answers what was received, ends the session, and waits for all of it.
	Close() error
}

// Config is what Serve needs. Core, In and Out are required.
type Config struct {
	Core   *mcp.Core
	Legacy Legacy // nil serves modern revisions only
	In     io.Reader
	Out    io.Writer

	MaxLine       int           // bytes of a message; 0 means 4 MiB
	MaxConcurrent int           // requests that run at once; 0 means 64
	Grace         time.Duration // for requests under way when the input or ctx ends; 0 means 5 s

	Logger *slog.Logger // nil discards
}

func (c *Config) fill() error {
	if c.Core == nil || c.In == nil || c.Out == nil {
		return errors.New("stdio: Core, In and Out are required")
	}
	if c.MaxLine < 0 || c.MaxConcurrent < 0 || c.Grace < 0 {
		return errors.New("stdio: a limit is negative")
	}
	if c.MaxLine == 0 {
		c.MaxLine = defaultMaxLine
	}
	if c.MaxConcurrent == 0 {
		c.MaxConcurrent = defaultMaxConcurrent
	}
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Serve answers what comes from In until that ends, or ctx does. Subscriptions then end with their result, and requests
// under way are given Grace to be answered, before they are cancelled. It returns nil unless reading or writing went
// wrong.
//
// Reads of In and writes to Out cannot be interrupted: when ctx ends first, the goroutine that reads stays until In gives
// something, and so do those that write while nobody reads Out.
func Serve(ctx context.Context, cfg Config) error {
	if err := cfg.fill(); err != nil {
		return err
	}
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(mcp.ErrClosing)
	s := &server{
		cfg:     cfg,
		out:     newWriter(cfg.Out),
		flights: make(map[string]*flight),
	}
	s.crew = newCrew(cfg.MaxConcurrent, s.answer, s.out.kick)
	defer s.crew.end()
	input := newReader(cfg.In, cfg.MaxLine)
	go input.run()
	defer close(input.stop)
	ended := make(chan error, 1)
	go func() { ended <- s.loop(ctx, work, input.lines) }() // ends with ctx, unless it is stuck in a write
	select {
	case err := <-ended:
		return errors.Join(err, s.shutdown(cancel))
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return errors.Join(err, s.shutdown(cancel))
	case <-time.After(cfg.Grace):
		return errStuck
	}
}
