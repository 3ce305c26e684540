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
	// Connect opens a session with one client. The session calls send with each message for the client, without a line end,
	// from any goroutine. When ctx ends, the session ends with all its requests.
	Connect(ctx context.Context, send func(line []byte) error) (LegacySession, error)
}

// A LegacySession is one client of an older revision. Its methods are called one at a time.
type LegacySession interface {
	// Ready returns the revision of the session. ok is false until the handshake has ended: then the core may answer
	// core requests.
	Ready() (r mcp.Revision, ok bool)
	// Receive handles a line from the client, which is valid until it returns. An error means that the session has ended.
	Receive(line []byte) error
	// Close answers the received messages, ends the session, and waits for its end.
	Close() error
}

// Config configures Serve. Core, In and Out are required.
type Config struct {
	Core   *mcp.Core
	Legacy Legacy // nil serves modern revisions only
	In     io.Reader
	Out    io.Writer

	MaxLine       int           // bytes of the longest message; 0 means 4 MiB
	MaxConcurrent int           // requests that run at once, subscriptions aside; 0 means 64
	Grace         time.Duration // for requests under way when the input or ctx ends; 0 means 5 s

	Logger *slog.Logger // nil discards
}

func (c *Config) fill() error {
	if c.Core == nil || c.In == nil || c.Out == nil {
		return errors.New("stdio: Core, In and Out are required")
	}
	if c.MaxLine < 0 || c.MaxConcurrent < 0 || c.Grace < 0 {
		return errors.New("stdio: MaxLine, MaxConcurrent or Grace is negative")
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

// Serve answers the messages of In until In or ctx ends. Subscriptions then end with their result. Requests under way have
// Grace to be answered, and are cancelled after that. The error is one of reading or writing.
//
// Reads of In and writes to Out cannot be interrupted. So when ctx ends first, the goroutine that reads In stays until that
// read returns, and those that write to Out stay while the client does not read.
func Serve(ctx context.Context, cfg Config) error {
	if err := cfg.fill(); err != nil {
		return err
	}
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(mcp.ErrClosing)
	s := &server{
		cfg:      cfg,
		out:      newWriter(cfg.Out),
		requests: make(map[string]*pendingRequest),
	}
	s.workers = newWorkers(cfg.MaxConcurrent, s.answer, s.out.flush)
	defer s.workers.end()
	input := newReader(cfg.In, cfg.MaxLine)
	go input.run()
	defer close(input.stop)
	ended := make(chan error, 1)
	go func() { ended <- s.loop(ctx, work, input.lines) }() // ends with ctx, or later if a write blocks
	select {
	case err := <-ended:
		return errors.Join(err, s.shutdown(cancel))
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return errors.Join(err, s.shutdown(cancel))
	case <-time.After(cfg.Grace):
		return errClientNotReading
	}
}
