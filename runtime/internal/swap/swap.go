package swap

import (
	"context"
	"log/slog"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Generation is what a [Source] serves until it is replaced. Close is called once, when no other method runs or will
// be called again. ListVersion waits for nobody.
type Generation interface {
	resource.Source
	resource.SessionEnder
	resource.AfterResponder
	resource.Versioned
	Close() error
}

// Config says how a Source is.
type Config struct {
	Empty  string       // what clients are told while there is no generation
	Logger *slog.Logger // nil discards
}

// A Source serves the generation it was given last; at first there is none. It is safe for concurrent use. Close
// releases it.
type Source struct {
	// fixed at creation
	cfg   Config
	turns chan struct{} // one for each watch that moves
	work  sync.WaitGroup

	mu       sync.Mutex // guards the fields below, and those of watchers
	closed   bool
	current  *generation // nil while there is none
	past     uint64      // what past generations add to the version of the list
	watchers map[*watcher]struct{}
}

var _ Generation = (*Source)(nil)

// maxMoving is how many watches move to the next generation at once.
const maxMoving = 8

// New makes a Source without a generation.
func New(cfg Config) *Source {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Source{cfg: cfg, turns: make(chan struct{}, maxMoving), watchers: map[*watcher]struct{}{}}
}

// A generation counts the calls that are under way on it.
type generation struct {
	Generation
	calls    sync.WaitGroup  // begun while it is the current one
	ctx      context.Context // of its watches
	endWatch context.CancelFunc
}

// Replace has next serve what begins from now on, and closes it in time. After Close it is refused, and the caller's
// to close.
func (s *Source) Replace(next Generation) error {
	g := &generation{Generation: next}
	g.ctx, g.endWatch = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		g.endWatch()
		return closing()
	}
	if old := s.succeedLocked(g); old != nil {
		s.work.Go(func() {
			if err := old.retire(); err != nil {
				s.cfg.Logger.Warn("a provider that was replaced did not close", "err", err)
			}
		})
	}
	for w := range s.watchers {
		s.followLocked(w)
	}
	return nil
}

// succeedLocked puts g, or nothing, in the place of what it returns.
func (s *Source) succeedLocked(g *generation) (old *generation) {
	old = s.current
	s.past = s.versionLocked() + 1
	s.current = g
	return old
}

// retire closes g when the last of its calls has ended.
func (g *generation) retire() error {
	g.endWatch()
	g.calls.Wait()
	return g.Close()
}

// Close ends all watches, waits for all calls, and closes every generation. What begins later is unavailable. It is
// idempotent.
func (s *Source) Close() error {
	last := s.end()
	var err error
	if last != nil {
		err = last.retire()
	}
	s.work.Wait()
	return err
}

// end lets nothing begin any more, and gives the last generation to the first who asks.
func (s *Source) end() (last *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for w := range s.watchers {
		w.leave()
	}
	clear(s.watchers)
	return s.succeedLocked(nil)
}

// enter begins a call on the current generation, whose calls.Done ends it; nil when there is none.
func (s *Source) enter() *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		s.current.calls.Add(1)
	}
	return s.current
}

// absent says why there is no generation.
func (s *Source) absent() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return closing()
	}
	return abi.Errorf(abi.CodeUnavailable, "%s", s.cfg.Empty)
}

func closing() error { return abi.Errorf(abi.CodeUnavailable, "the server is closing") }

// ask has the current generation answer.
func (s *Source) ask(call func(*generation) (*abi.Reply, error)) (*abi.Reply, error) {
	g := s.enter()
	if g == nil {
		return nil, s.absent()
	}
	defer g.calls.Done()
	return call(g)
}

// List implements [resource.Source].
func (s *Source) List(ctx context.Context, req *abi.Request) (*abi.Reply, error) {
	return s.ask(func(g *generation) (*abi.Reply, error) { return g.List(ctx, req) })
}

// Templates implements [resource.Source].
func (s *Source) Templates(ctx context.Context, req *abi.Request) (*abi.Reply, error) {
	return s.ask(func(g *generation) (*abi.Reply, error) { return g.Templates(ctx, req) })
}

// Read implements [resource.Source].
func (s *Source) Read(ctx context.Context, req *abi.Request, sink abi.Sink) (*abi.Reply, error) {
	return s.ask(func(g *generation) (*abi.Reply, error) { return g.Read(ctx, req, sink) })
}

// Complete implements [resource.Source].
func (s *Source) Complete(ctx context.Context, req *abi.Request) (*abi.Reply, error) {
	return s.ask(func(g *generation) (*abi.Reply, error) { return g.Complete(ctx, req) })
}

// ListVersion implements [resource.Versioned]: it is another with each generation.
func (s *Source) ListVersion() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.versionLocked()
}

func (s *Source) versionLocked() uint64 {
	if s.current == nil {
		return s.past
	}
	return s.past + s.current.ListVersion()
}

// AfterResponse implements [resource.AfterResponder], for the current generation: the others are closed soon.
func (s *Source) AfterResponse() {
	if g := s.enter(); g != nil {
		defer g.calls.Done()
		g.AfterResponse()
	}
}

// EndSession implements [resource.SessionEnder], for the current generation: the others are closed soon.
func (s *Source) EndSession(session string) {
	if g := s.enter(); g != nil {
		defer g.calls.Done()
		g.EndSession(session)
	}
}
