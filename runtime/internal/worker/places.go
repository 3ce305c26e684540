package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// places are those of one worker: in the groups of its module while it lives, and among the starts of its runner.
type places struct {
	groups []*live.Place
	starts func() // leaves the place among the starts; nil for none
}

// enter waits until a worker may start. It takes the place among the starts last: a start that waits for another worker
// to end keeps none from starting.
func (g *guests) enter(ctx context.Context) (_ *places, err error) {
	p := &places{}
	defer func() {
		if err != nil {
			p.leave(live.Closed)
		}
	}()
	var owner any // the members of a group are those of the groups before it, as providers of tenants are
	for _, group := range g.groups {
		if group == g.runner.cfg.Live && g.owner != "" {
			owner = g.owner
		}
		place, err := group.Enter(ctx, g, owner)
		if err != nil {
			return nil, err
		}
		p.groups, owner = append(p.groups, place), group
	}
	g.isNext.Store(true)
	defer g.isNext.Store(false)
	p.starts, err = g.runner.starts.Enter(ctx, g.owner)
	return p, err
}

func (p *places) started(took time.Duration, cold bool) {
	for _, place := range p.groups {
		place.Started(took, cold)
	}
}

func (p *places) leave(why live.End) {
	for _, place := range p.groups {
		place.Leave(why)
	}
}

func (p *places) peak(bytes int64) {
	for _, place := range p.groups {
		place.Peak(bytes)
	}
}

// refusal returns the error of a call whose time ends before a worker may start.
func (g *guests) refusal() error {
	for _, group := range g.groups {
		if err := group.Refusal(g); err != nil {
			return err
		}
	}
	if g.isNext.Load() {
		e := abi.Errorf(abi.CodeUnavailable, "the provider cannot be started now: others start first")
		e.RetryAfter = time.Second
		return e
	}
	return g.host.BusyError("the provider is being compiled")
}

// released lets starts that wait have the places of a worker that no call uses.
func (g *guests) released() {
	for _, group := range g.groups {
		group.Released()
	}
}

// Unused implements [live.Member].
func (g *guests) Unused() (idle time.Duration, ok bool) {
	if !g.opened.Load() {
		return 0, false
	}
	idle, ok = g.workers.Unused()
	return idle, ok && idle >= g.lasting()
}

// Stop implements [live.Member].
func (g *guests) Stop() bool { return g.opened.Load() && g.workers.Stop(g.lasting()) }

// Memory implements [live.Member].
func (g *guests) Memory() int64 {
	if !g.opened.Load() {
		return expectedMemory
	}
	w, ok := g.workers.Current()
	if !ok {
		return g.memory.last(0)
	}
	return g.memory.last(w.process.ID())
}

const (
	// expectedMemory is what a worker is expected to use before one of its module was looked at.
	expectedMemory = 16 << 20
	// kernelMemory is what the system has for a worker, as its page tables and the stacks of its threads: 0.95 MiB, measured.
	kernelMemory = 1 << 20
	// memoryAge is how old the figure of a worker may be.
	memoryAge = time.Second
)

// errNoWorker says that no worker runs whose processor time could be read.
var errNoWorker = errors.New("no worker runs")

// usedCPU returns the processor time that the present worker has used.
func (g *guests) usedCPU() (time.Duration, error) {
	if !g.opened.Load() {
		return 0, errNoWorker
	}
	w, ok := g.workers.Current()
	if !ok {
		return 0, errNoWorker
	}
	return w.process.CPU()
}

// A memory knows how much memory the workers of a module use. It is safe for concurrent use. The zero value is usable.
type memory struct {
	mu    sync.Mutex // guards the fields below
	bytes int64      // that are the worker's own
	files int64      // of the same worker, resident memory of files, which it shares with others
	at    time.Time
	image int64 // bytes of the worker's image, if that is a file in memory, which no other process maps
}

// setImage notes the image of a worker that starts, in a file of [protocol.NewImageFile]. file is nil if it has none in memory.
func (m *memory) setImage(file *os.File) {
	size := int64(0)
	if file != nil {
		size = protocol.Allocated(file)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.image = size
}

// ownOf returns how much of the most resident memory that a worker had was its own, if the worker was looked at; zero if that is
// unknown. The system tells no less than what the process that has started the worker had: a figure that may be that one's is
// unknown.
func (m *memory) ownOf(resident int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if own, err := peakResident(os.Getpid()); err != nil || resident <= own || m.files == 0 {
		return 0
	}
	return resident - m.files
}

// last returns the memory that a process takes of the machine, or what was known of the last one if pid is 0.
func (m *memory) last(pid int) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if pid != 0 && time.Since(m.at) >= memoryAge {
		if bytes, files, err := ownMemory(pid); err == nil {
			m.bytes, m.files, m.at = bytes, files, time.Now()
		}
	}
	if m.bytes == 0 {
		return expectedMemory
	}
	return m.takenLocked(m.bytes)
}

// taken returns the memory that a worker takes of the machine, by its own memory; zero if that is zero, which is unknown.
func (m *memory) taken(own int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.takenLocked(own)
}

func (m *memory) takenLocked(own int64) int64 {
	if own == 0 {
		return 0
	}
	return own + m.image + kernelMemory
}

// ownMemory returns the resident memory of a process that belongs to no file, and that of files, in bytes.
func ownMemory(pid int) (own, files int64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 256))
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(text)
	if len(fields) < 3 {
		return 0, 0, fmt.Errorf("%s: %.64q has no three numbers", f.Name(), text)
	}
	resident, err1 := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, err2 := strconv.ParseInt(string(fields[2]), 10, 64)
	page := int64(os.Getpagesize())
	return (resident - shared) * page, shared * page, errors.Join(err1, err2)
}

// ownPeak returns the most memory of its own that a running process had, in bytes: the most resident memory, without what it has of
// files now.
func ownPeak(pid int) (int64, error) {
	peak, err := peakResident(pid)
	if err != nil {
		return 0, err
	}
	_, files, err := ownMemory(pid)
	return max(peak-files, 0), err
}

// peakResident returns the most resident memory that a running process had, in bytes.
func peakResident(pid int) (int64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 16<<10))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("\nVmHWM:"))
	fields := bytes.Fields(rest[:min(len(rest), 64)])
	if len(fields) == 0 {
		return 0, fmt.Errorf("%s has no VmHWM", f.Name())
	}
	kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return kilobytes << 10, err
}
