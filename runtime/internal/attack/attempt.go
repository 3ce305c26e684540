// Package attack makes the attacks of the corpus of package hostile on a runner of guests, and says which promises of the
// runtime did not hold.
package attack

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Limits of every attack that are not those of its case.
const (
	stackLimit  = 1 << 20
	outputLimit = 1 << 20
	LogLimit    = 16 << 10 // bytes of a call
	callLimit   = 32
)

// LimitsOf returns those of a case.
func LimitsOf(c hostile.Case) limits.Limits {
	l := limits.Limits{
		Memory: c.Memory, Timeout: c.Timeout, Stack: stackLimit, Output: outputLimit, Log: LogLimit, Calls: callLimit,
	}
	if l.Memory == 0 {
		l.Memory = hostile.Memory
	}
	if l.Timeout == 0 {
		l.Timeout = hostile.Timeout
	}
	if !slices.Contains(c.Want, "deadline") {
		l.Timeout = max(l.Timeout, time.Second) // what ends by itself may take its time on a busy machine
	}
	return l
}

// An Outcome is what the loads and calls of a case came to.
type Outcome struct {
	Codes   map[string]int // how loads and calls ended, by name of the code
	After   map[string]int // how the honest reads afterwards ended
	Failure string         // the text of the last error, clipped

	Load, Call time.Duration // the longest
	Alloc      int64         // most bytes of garbage that the refusal of a module made, over the module's own
	Text       int           // bytes of the longest text of an error
	Unclean    string        // the public text of an error, quoted, if it had control characters
}

// An Attempt is a case under way. Its methods are safe for concurrent use; the Outcome is to be read after them.
type Attempt struct {
	Case   hostile.Case
	Config provider.Config // of each load

	mu sync.Mutex // guards Outcome
	Outcome
}

// New returns an Attempt of a case in which nothing has been done. cfg has the limits of the case, see [LimitsOf].
func New(c hostile.Case, cfg provider.Config) *Attempt {
	return &Attempt{Case: c, Config: cfg, Outcome: Outcome{Codes: map[string]int{}, After: map[string]int{}}}
}

// Try loads a module, as often as the case says, asks each load, and reads from it as an honest client would, again and
// again for a while if the deadline is too short for that. The error is that of closing a provider.
func (a *Attempt) Try(module []byte, while time.Duration) error {
	var loaded []*provider.Provider
	for range max(a.Case.Loads, 1) {
		if p := a.Load(module); p != nil {
			loaded = append(loaded, p)
		}
	}
	for _, p := range loaded {
		a.askAll(p, while)
	}
	var errs []error
	for _, p := range loaded {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

func (a *Attempt) askAll(p *provider.Provider, while time.Duration) {
	if a.Case.Op == abi.OpDescribe {
		a.note(a.Codes, nil)
		return
	}
	a.Ask(p)
	a.ReadAfter(p, while)
}

// Load returns nil when the module is refused.
func (a *Attempt) Load(module []byte) *provider.Provider {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	start := time.Now()
	p, err := provider.Open(context.Background(), a.Config, module)
	took := time.Since(start)
	if err != nil {
		goruntime.ReadMemStats(&after)
		a.note(a.Codes, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Outcome.Load = max(a.Outcome.Load, took)
	if err != nil {
		a.Alloc = max(a.Alloc, int64(after.TotalAlloc-before.TotalAlloc)-int64(3*len(module)))
	}
	return p
}

// Ask asks what the case says, as often and by as many callers as it says.
func (a *Attempt) Ask(p *provider.Provider) {
	var wg sync.WaitGroup
	for range max(a.Case.Parallel, 1) {
		wg.Go(func() {
			for range max(a.Case.Times, 1) {
				start := time.Now()
				_, err := Call(p, a.Case.Op, a.Case.URI)
				took := time.Since(start)
				a.note(a.Codes, err)
				a.mu.Lock()
				a.Outcome.Call = max(a.Outcome.Call, took)
				a.mu.Unlock()
				p.AfterResponse()
			}
		})
	}
	wg.Wait()
}

// ReadAfter reads what the case says must be readable after the attack, if it says so. On a busy machine the deadline of an
// attack may be too short for honest work, and for the start of a worker in the place of one that was killed: ReadAfter then
// tries again until while is over, and waits as long as an error asks its client to wait.
func (a *Attempt) ReadAfter(p *provider.Provider, while time.Duration) {
	if a.Case.After == "" {
		return
	}
	for end := time.Now().Add(while); ; {
		_, err := Call(p, abi.OpRead, a.Case.After)
		pause, again := retry(err)
		if !again || time.Until(end) < pause {
			a.note(a.After, err)
			return
		}
		time.Sleep(pause)
	}
}

// retry says whether an honest client asks again after err, and for how long it waits before that.
func retry(err error) (pause time.Duration, again bool) {
	var known *abi.Error
	if errors.As(err, &known) && known.Code == abi.CodeUnavailable {
		return known.RetryAfter, known.RetryAfter > 0
	}
	return 0, abi.CodeOf(err) == abi.CodeDeadline
}

// Call asks as the host does: only reads and polls have contents, and directories have children alone.
func Call(p *provider.Provider, op abi.Op, uri string) (*abi.Reply, error) {
	switch op {
	case abi.OpRead, abi.OpPoll:
		return p.Call(context.Background(), op, &abi.Request{URI: uri}, sink{})
	case abi.OpListDir:
		return p.ReadDirectory(context.Background(), &resource.Request{URI: abi.MustParseURI(uri)})
	}
	return p.Call(context.Background(), op, &abi.Request{URI: uri}, nil)
}

// Texts returns what an error tells clients, and what it tells the log.
func Texts(err error) (public, private string) {
	var known *abi.Error
	if errors.As(err, &known) && known.Cause != nil {
		private = known.Cause.Error()
	}
	return err.Error(), private
}

// note counts an outcome, and examines the texts of an error.
func (a *Attempt) note(codes map[string]int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	codes[abi.CodeOf(err).String()]++
	if err == nil {
		return
	}
	public, private := Texts(err)
	a.Text = max(a.Text, len(public), len(private))
	if strings.ContainsFunc(public, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
		a.Unclean = fmt.Sprintf("%.200q", public)
	}
	a.Failure = fmt.Sprintf("%.200s (%.200s)", public, private)
}

// A sink discards contents.
type sink struct{}

func (sink) Content(*abi.Content) error { return nil }
func (sink) Body([]byte) error          { return nil }
func (sink) Progress(abi.Progress)      {}
