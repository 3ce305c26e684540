package reload

import (
	"context"
	"log/slog"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Generation is what a [Source] serves until it is replaced. The Source calls Close once, when no other method runs
// and none will be called again. It calls ListVersion with a lock held.
type Generation interface {
	resource.Source
	resource.SessionEnder
	resource.AfterResponder
	resource.Versioned
	Close() error
}

// A Marked is a Generation that says what answers, so that subscribers are told of what another generation changes alone.
type Marked interface {
	// Mark returns what answers the client of ctx for uri, or what makes the list if uri is zero, as a value that can be
	// compared. Of generations with equal marks, the later one answers as the earlier one did. Nil is unknown.
	Mark(ctx context.Context, uri abi.URI) any
}

// Config configures a Source.
type Config struct {
	Empty  string       // public message of the error while there is no generation
	Logger *slog.Logger // nil discards
}

// A Source serves the generation of the last Replace; at first there is none. It is safe for concurrent use. The caller
// closes it.
type Source struct {
	// fixed at creation
	cfg       Config
	moveSlots chan struct{} // holds a token for each subscription that moves
	work      sync.WaitGroup

	mu            sync.Mutex // guards the fields below, and those of subscriptions
	closed        bool
	current       *generation // nil while there is none
	versionBase   uint64      // what earlier generations add to the version of the list
	subscriptions map[*subscription]struct{}
}

var _ Generation = (*Source)(nil)

// maxMoves is how many subscriptions move to the next generation at once.
const maxMoves = 8

// New makes a Source without a generation.
func New(cfg Config) *Source {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Source{cfg: cfg, moveSlots: make(chan struct{}, maxMoves), subscriptions: map[*subscription]struct{}{}}
}

// A generation is a Generation and the calls that run on it.
type generation struct {
	Generation
	calls         sync.WaitGroup  // begun while it was the current one
	subscriptions sync.WaitGroup  // that report from it, or will soon; begun while it was the current one
	ctx           context.Context // ends when it is replaced
	replaced      context.CancelFunc
}

// Replace makes next the current generation, which the Source will close. It does not wait for calls on the earlier
// one. After Close it fails with [abi.CodeUnavailable], and the caller closes next.
func (s *Source) Replace(next Generation) error {
	g := &generation{Generation: next}
	g.ctx, g.replaced = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		g.replaced()
		return errClosing()
	}
	if old := s.setLocked(g); old != nil {
		s.work.Go(func() {
			if err := old.closeWhenIdle(); err != nil {
				s.cfg.Logger.Warn("closing the replaced provider failed", "err", err)
			}
		})
	}
	for sub := range s.subscriptions {
		s.moveLocked(sub)
	}
	return nil
}

// Subscriptions returns how many subscriptions there are, whichever generation reports to them.
func (s *Source) Subscriptions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subscriptions)
}

// setLocked makes g, which may be nil, the current generation, and returns the earlier one.
func (s *Source) setLocked(g *generation) (old *generation) {
	old = s.current
	s.versionBase = s.versionLocked() + 1
	s.current = g
	return old
}

// closeWhenIdle waits until the subscriptions of g have moved and its calls have ended, and closes it.
func (g *generation) closeWhenIdle() error {
	g.replaced()
	g.subscriptions.Wait()
	g.calls.Wait()
	return g.Close()
}

// Close ends all subscriptions, waits for all calls, and closes every generation. Calls that begin later fail with
// [abi.CodeUnavailable]. It is idempotent.
func (s *Source) Close() error {
	last := s.end()
	var err error
	if last != nil {
		err = last.closeWhenIdle()
	}
	s.work.Wait()
	return err
}

// end refuses later calls. It returns the last generation to its first caller, who closes it.
func (s *Source) end() (last *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for sub := range s.subscriptions {
		sub.ignoreEnd()
		sub.leaveLocked()
	}
	clear(s.subscriptions)
	return s.setLocked(nil)
}

// enter begins a call on the current generation; the caller ends it with calls.Done. It returns nil when there is none.
func (s *Source) enter() *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		s.current.calls.Add(1)
	}
	return s.current
}

// unavailable returns the error of a call while there is no generation.
func (s *Source) unavailable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosing()
	}
	return abi.Errorf(abi.CodeUnavailable, "%s", s.cfg.Empty)
}

func errClosing() error { return abi.Errorf(abi.CodeUnavailable, "the server is closing") }

// call answers by the current generation.
func (s *Source) call(do func(*generation) (*abi.Reply, error)) (*abi.Reply, error) {
	g := s.enter()
	if g == nil {
		return nil, s.unavailable()
	}
	defer g.calls.Done()
	return do(g)
}

// List implements [resource.Source].
func (s *Source) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.call(func(g *generation) (*abi.Reply, error) { return g.List(ctx, req) })
}

// Templates implements [resource.Source].
func (s *Source) Templates(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.call(func(g *generation) (*abi.Reply, error) { return g.Templates(ctx, req) })
}

// Read implements [resource.Source].
func (s *Source) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	return s.call(func(g *generation) (*abi.Reply, error) { return g.Read(ctx, req, sink) })
}

// Complete implements [resource.Source].
func (s *Source) Complete(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.call(func(g *generation) (*abi.Reply, error) { return g.Complete(ctx, req) })
}

// HasDirectories implements [resource.Directories], for the current generation.
func (s *Source) HasDirectories() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current != nil && resource.HasDirectories(s.current.Generation)
}

// ReadDirectory implements [resource.Directories].
func (s *Source) ReadDirectory(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.call(func(g *generation) (*abi.Reply, error) { return resource.ReadDirectory(ctx, g.Generation, req) })
}

// ListVersion implements [resource.Versioned]. No two generations have a version in common.
func (s *Source) ListVersion() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.versionLocked()
}

func (s *Source) versionLocked() uint64 {
	if s.current == nil {
		return s.versionBase
	}
	return s.versionBase + s.current.ListVersion()
}

// Provenance implements [resource.Traceable], for the current generation.
func (s *Source) Provenance(uri abi.URI) []*resource.Provenance {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil
	}
	return resource.ProvenanceOf(s.current.Generation, uri)
}

// Owner implements [resource.Owned], for the current generation.
func (s *Source) Owner(uri abi.URI) (provider string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return "", false
	}
	return resource.OwnerOf(s.current.Generation, uri)
}

// TemplateOwner implements [resource.Owned], for the current generation.
func (s *Source) TemplateOwner(template string) (provider string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return "", false
	}
	return resource.TemplateOwnerOf(s.current.Generation, template)
}

// AfterResponse implements [resource.AfterResponder], for the current generation; earlier ones are closed soon.
func (s *Source) AfterResponse() {
	if g := s.enter(); g != nil {
		defer g.calls.Done()
		g.AfterResponse()
	}
}

// EndSession implements [resource.SessionEnder], for the current generation; earlier ones are closed soon.
func (s *Source) EndSession(session string) {
	if g := s.enter(); g != nil {
		defer g.calls.Done()
		g.EndSession(session)
	}
}
