package process

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// Config says what a child is.
type Config struct {
	// Executable is the program; empty means the running one, even when its file has been replaced since.
	Executable string
	// Name is the zeroth argument, by which the child's main knows what it is. There are no other arguments.
	Name string
	// Env is the environment. Nil means an empty one: nothing is inherited.
	Env []string
	// Dir is the working folder; empty means the root.
	Dir string
	// Files are descriptors 3, 4 and so on of the child, which inherits no others. They remain the caller's to close.
	Files []*os.File
	// Stdin is read until its end or the child's, and must not block after that; nil means the null device.
	Stdin io.Reader
	// Stdout gets what the child prints, until Write fails; nil means the null device. It is not written to any more
	// when the child is done, and must not block then.
	Stdout io.Writer
	// MaxStderr is how many bytes are kept of what the child prints to standard error: of more the first half and the
	// last. Zero means the null device. A child that prints more than 1 MiB is not listened to any more, which is the
	// end of a Go program.
	MaxStderr int
	// Namespaces gives the child the namespaces of its own that [Namespaces] lists.
	Namespaces bool
	// Logger hears, once in the life of this process, of namespaces that the machine refuses, and of a fork server that
	// has failed. Nil discards.
	Logger *slog.Logger
}

// A Process is a child. It is safe for concurrent use. It needs no closing: nothing of it is left once it is done.
type Process struct {
	// Fixed at creation.
	process    *os.Process
	streams    *streams
	stderr     *headTailBuffer
	namespaces []Namespace
	done       chan struct{} // closed when end is set

	mu     sync.Mutex // guards the fields below, and the child's number while it has not ended
	ended  bool
	killed bool

	end End
}

// Start starts a child. It returns when the program runs, or with the reason why it does not.
func Start(cfg Config) (*Process, error) {
	path, err := executable(cfg.Executable)
	if err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	if !cfg.Namespaces {
		return start(path, cfg, 0, nil)
	}
	if p := startOptimistic(path, cfg); p != nil {
		return p, nil
	}
	m := machine()
	m.logRefused(cfg.Logger)
	return start(path, cfg, m.permitted, m.report())
}

// start starts a child with namespaces of its own.
func start(path string, cfg Config, own kinds, namespaces []Namespace) (*Process, error) {
	p := newProcess(cfg, namespaces)
	var err error
	onForkThread(func() { err = p.start(path, cfg, own) })
	if err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	return p, nil
}

func newProcess(cfg Config, namespaces []Namespace) *Process {
	return &Process{stderr: &headTailBuffer{max: cfg.MaxStderr}, done: make(chan struct{}), namespaces: namespaces}
}

// start brings the child to life; only on the starter's thread.
func (p *Process) start(path string, cfg Config, own kinds) (err error) {
	if p.streams, err = openStreams(cfg, p.stderr); err != nil {
		return err
	}
	attr := &os.ProcAttr{
		Dir:   cmp.Or(cfg.Dir, "/"),
		Env:   append([]string{}, cfg.Env...), // nil would mean ours
		Files: append(p.streams.theirs[:], cfg.Files...),
	}
	if p.process, err = begin(path, cfg.Name, attr, own, cfg.Logger); err != nil {
		p.streams.abandon()
		return err
	}
	p.streams.run()
	go p.waitForExit(watchEnd(p.process))
	return nil
}

// executable returns the path to start: absolute, since children run elsewhere.
func executable(path string) (string, error) {
	if path == "" {
		return self()
	}
	return filepath.Abs(path)
}

// waitForExit waits for the end of the child, which watch reports.
func (p *Process) waitForExit(watch *os.File) {
	state := p.reap(watch)
	p.streams.finish()
	p.end = endOf(state, p.stderr.String())
	p.end.Killed = p.killed
	close(p.done)
}

// Kill ends the child and what it has started, at once, even when it is stopped; it does not wait for the end. It may
// be called any number of times, also after the end.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.killed = true
	p.kill()
}

// SetBackground keeps the child, with all its threads, off one in four of this process's processors, and off one at least,
// which other processes then have for themselves. false lets it use all of them. With one processor, and without Linux, it
// does nothing.
func (p *Process) SetBackground(background bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		setAffinity(p.process, background)
	}
}

// Done is closed when the child has ended, what it has started is killed, and its output has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// End tells how the child ended. It waits until it is done.
func (p *Process) End() End {
	<-p.done
	return p.end
}

// ID is the number by which this machine knows the child, for logs. After the end it may be another's.
func (p *Process) ID() int { return p.process.Pid }

// Namespaces tells which namespaces of its own the child has got; nil when it was to have none.
func (p *Process) Namespaces() []Namespace { return p.namespaces }
