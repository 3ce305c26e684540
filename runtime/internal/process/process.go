package process

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Config configures a child.
type Config struct {
	// Executable is the program; empty means the running one, even if its file has been replaced since.
	Executable string
	// Name is the zeroth argument, by which main recognises a child. There are no other arguments.
	Name string
	// Env is the environment. Nil means an empty one: a child inherits nothing.
	Env []string
	// Dir is the working directory; empty means the root.
	Dir string
	// Files become descriptors 3, 4 and so on of the child, which inherits no others. The caller closes them.
	Files []*os.File
	// Stdin is read until its end or the child's, and must not block after that; nil means the null device.
	Stdin io.Reader
	// Stdout receives the child's standard output, until Write fails; nil means the null device. Write must not block
	// after the child's end, and is not called once the child is done.
	Stdout io.Writer
	// MaxStderr is how many bytes of standard error are stored: of more, the first and the last half. Zero means the
	// null device. After 1 MiB the pipe is closed, which ends a Go program that writes more.
	MaxStderr int
	// Namespaces starts the child with the namespaces that [Namespaces] lists.
	Namespaces bool
	// Logger receives a refusal of namespaces, once in the life of this process, and failures of the fork server. Nil
	// discards.
	Logger *slog.Logger
}

// A Process is a child. It is safe for concurrent use. It needs no closing: it holds no resources once it is done.
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

// Start starts a child. It returns when the program runs, or an error.
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

// start starts a child with namespaces.
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

// start starts the program. It must run on the starter's thread.
func (p *Process) start(path string, cfg Config, own kinds) (err error) {
	if p.streams, err = openStreams(cfg, p.stderr); err != nil {
		return err
	}
	attr := &os.ProcAttr{
		Dir:   cmp.Or(cfg.Dir, "/"),
		Env:   append([]string{}, cfg.Env...), // nil would mean that of this process
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

// executable returns the absolute path of the program: children run in another directory.
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

// Kill ends the child and the processes it has started, at once, even stopped ones; it does not wait for the end. It is
// idempotent, and does nothing after the end.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.killed = true
	p.kill()
}

// SetBackground restricts all threads of the child to three in four of this process's processors, and to all but one if
// they are few; other processes have the rest. false lets the child use all processors. With one processor, and without
// Linux, it does nothing.
func (p *Process) SetBackground(background bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		setAffinity(p.process, background)
	}
}

// Done is closed when the child has ended, the processes it has started are killed, and its output has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// End returns how the child ended. It waits until the child is done.
func (p *Process) End() End {
	<-p.done
	return p.end
}

// ID returns the child's process id, for logs. After the end another process may get it.
func (p *Process) ID() int { return p.process.Pid }

// CPU returns the processor time that the child has used, all threads together, without its own children. It fails after the end,
// and without Linux.
func (p *Process) CPU() (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return 0, os.ErrProcessDone
	}
	return cpuOf(p.process.Pid)
}

// Namespaces returns the child's own namespaces; nil if it was started without.
func (p *Process) Namespaces() []Namespace { return p.namespaces }
