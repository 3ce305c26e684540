package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
	"github.com/wasmres/wasmres/runtime/limits"
)

// A Comparison has calls run again elsewhere, as on another engine, where they must end in the same way. The services of the second
// run answer from the record of the first: nothing that a call does is done twice. Runner, OneOf and Slots are required.
type Comparison struct {
	Runner guest.Runner // of the second run
	// OneOf is how many calls there are for each that is compared, on average: calls are drawn at random. 1 compares all.
	OneOf int
	// Slots has a value for each comparison that runs, of all providers with the same one.
	Slots chan struct{}
	// Wait has a call wait for its comparison. Otherwise the comparison runs when the call has ended, and is left out while Slots
	// is full or another comparison of this provider runs.
	Wait bool
	Live *live.Group // bounds the workers of second runs; nil for none
	// OnCompared receives each comparison that has ended. It must not block. Nil discards.
	OnCompared func(c *Compared)
}

// A Compared is one call that ran twice.
type Compared struct {
	Fault         // the first run, with its record; it may have succeeded
	First, Second Ending
	// Differences say in what the runs differ, one a line; empty if in nothing.
	Differences []string
	// Failed is why there was no second run, or none to its end; nil if there was one. A second run whose process ended is a
	// difference: what ended it may be the engine.
	Failed error
}

// An Ending is how one run of a call ended.
type Ending struct {
	Used    limits.Usage
	Err     error  // nil for a run that succeeded
	Reply   []byte // as JSON; nil with an error
	Content []byte // the heads and bodies of its contents, at most 64 KiB of them
	digest  uint64 // of the contents; equal contents have equal ones in one process
}

// A comparer runs calls again.
type comparer struct {
	// fixed at creation
	cfg *Comparison
	of  *Provider

	running sync.WaitGroup  // comparisons without Wait
	life    context.Context // with the values of the context in which the provider was opened
	end     context.CancelFunc

	mu    sync.Mutex // held while a comparison runs; guards the fields below
	twin  *Provider  // the provider of second runs; nil before the first one
	start []guest.Exchange

	tape atomic.Pointer[playback] // of the run, or the start, under way
}

// newComparer makes a comparer; nil if no call is compared. The provider of second runs is opened with the values of ctx, such as the
// owner of the module, and also after ctx has ended.
func newComparer(ctx context.Context, p *Provider) *comparer {
	if p.cfg.Compare == nil {
		return nil
	}
	c := &comparer{cfg: p.cfg.Compare, of: p}
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	return c
}

// close waits for comparisons, whose runs it ends. No call may run any more.
func (c *comparer) close() error {
	if c == nil {
		return nil
	}
	c.end()
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.twin == nil {
		return nil
	}
	return c.twin.Close()
}

// begin returns the witness of a call that is to be compared; nil for another one. Calls are drawn at random, so that no client and no
// guest can tell which is next.
func (c *comparer) begin(sink abi.Sink) *witness {
	if c == nil || rand.IntN(c.cfg.OneOf) != 0 {
		return nil
	}
	return newWitness(sink)
}

// ended has a call that has ended run again. w is its witness; nil for a call that is not compared.
func (c *comparer) ended(ctx context.Context, w *witness, call *guest.Call, used limits.Usage, err error) {
	if w == nil || ctx.Err() != nil || isOfTheHost(used.Code) {
		return
	}
	compared := &Compared{Fault: *c.of.faultOf(call, err, used)}
	if compared.Record.Inexact != "" {
		return
	}
	request := *call.Request
	request.Vars = slices.Clone(request.Vars)
	compared.Request, compared.First = &request, w.ending(call.Reply(), used, err)
	if c.cfg.Wait {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.compareLocked(ctx, compared)
		return
	}
	select {
	case c.cfg.Slots <- struct{}{}:
	default:
		return
	}
	c.running.Go(func() {
		defer func() { <-c.cfg.Slots }()
		if c.mu.TryLock() {
			defer c.mu.Unlock()
			c.compareLocked(c.life, compared)
		}
	})
}

// isOfTheHost reports whether a call ended as it did because of its client, the machine or the clock.
func isOfTheHost(code abi.Code) bool {
	return code == abi.CodeDeadline || code == abi.CodeCancelled || code == abi.CodeBusy
}

// compareLocked runs a call again, and reports how that compares.
func (c *comparer) compareLocked(ctx context.Context, compared *Compared) {
	if err := c.openTwinLocked(ctx, compared.Record.Start); err != nil {
		compared.Failed = fmt.Errorf("open the provider for a second run: %w", err)
	} else {
		c.runAgainLocked(ctx, compared)
	}
	if c.cfg.OnCompared != nil {
		c.cfg.OnCompared(compared)
	}
}

// runAgainLocked runs a call again in the twin, which is open.
func (c *comparer) runAgainLocked(ctx context.Context, compared *Compared) {
	tape := c.play(compared.Record.Call)
	origin := compared.Record.Origin
	origin.Patient = true
	w, began := newWitness(discard{}), time.Now()
	reply, used, err := c.twin.run(ctx, compared.Used.Op, compared.Request, w, &origin)
	c.of.limiter.Charge(began, used.CPU)
	c.twin.AfterResponse()
	compared.Second = w.ending(reply, used, err)
	switch code := used.Code; {
	case err == nil || code == compared.First.Used.Code:
	case errors.Is(err, guest.ErrProcessLost):
		compared.Differences = []string{fmt.Sprintf("the process has ended during the second run, and the code was %s", compared.First.Used.Code)}
		return
	case code == abi.CodeUnavailable, code == abi.CodeInternal, isOfTheHost(code):
		compared.Failed = fmt.Errorf("second run: %w", err)
		return
	}
	compared.Differences = differences(&compared.First, &compared.Second)
	if strayed := tape.difference(); strayed != "" {
		compared.Differences = append(compared.Differences, strayed)
	}
}

// openTwinLocked opens the provider of second runs, if it is not open with the same answers to its start.
func (c *comparer) openTwinLocked(ctx context.Context, start []guest.Exchange) error {
	if c.twin != nil {
		if reflect.DeepEqual(c.start, start) {
			return nil
		}
		if err := c.twin.Close(); err != nil {
			return err
		}
		c.twin = nil
	}
	whole, err := c.of.host.Module.Load()
	if err != nil {
		return err
	}
	own := &c.of.cfg
	cfg := Config{
		Name: own.Name, Runner: c.cfg.Runner, Limits: own.Limits, Services: capability.Services{}, Lifecycle: own.Lifecycle, Values: own.Values,
		Clock: own.Clock, Live: c.cfg.Live, ExposeErrors: own.ExposeErrors, Logger: slog.New(slog.DiscardHandler),
	}
	cfg.Limits.Calls, cfg.Limits.MilliCPU = 1, 0
	if !c.cfg.Wait { // a call that waits has its processor still
		cfg.Share = own.Share
	}
	for id := range own.Services {
		cfg.Services[id] = playedService{c, id}
	}
	ctx, cancel := c.opening(ctx)
	defer cancel()
	c.start = start
	tape := c.play(start)
	c.twin, err = OpenModule(ctx, cfg, whole)
	if err != nil {
		c.twin = nil
		return err
	}
	if strayed := tape.difference(); strayed != "" {
		err = errors.Join(errors.New("its start is another one: "+strayed), c.twin.Close())
		c.twin = nil
	}
	return err
}

// opening returns a context with the values of c.life that ends with ctx.
func (c *comparer) opening(ctx context.Context) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancel(c.life)
	stop := context.AfterFunc(ctx, cancel)
	return own, func() { stop(); cancel() }
}

// play makes a playback for the run, or the start, that comes next.
func (c *comparer) play(all []guest.Exchange) *playback {
	t := &playback{left: c.granted(all)}
	c.tape.Store(t)
	return t
}

// granted returns the exchanges with services that are granted: the host itself answers the others.
func (c *comparer) granted(all []guest.Exchange) []guest.Exchange {
	return slices.DeleteFunc(slices.Clone(all), func(x guest.Exchange) bool { return c.of.cfg.Services[x.Service] == nil })
}

// differences say in what two runs differ.
func differences(a, b *Ending) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if a.Used.Code != b.Used.Code {
		add("the code is %s, and was %s", b.Used.Code, a.Used.Code)
	}
	if a.Used.Fuel != b.Used.Fuel {
		add("the fuel is %d, and was %d", b.Used.Fuel, a.Used.Fuel)
	}
	if a.Used.HostCalls != b.Used.HostCalls {
		add("the calls of the host are %d, and were %d", b.Used.HostCalls, a.Used.HostCalls)
	}
	if a.Used.Bytes != b.Used.Bytes || a.digest != b.digest {
		add("the contents differ: %d bytes, and were %d", b.Used.Bytes, a.Used.Bytes)
	}
	if string(a.Reply) != string(b.Reply) {
		add("the reply differs")
	}
	if a.Used.Code == b.Used.Code && publicError(a.Err) != publicError(b.Err) {
		add("the error has another message")
	}
	if was, is := functionsOf(a.Err), functionsOf(b.Err); was != nil && is != nil && !slices.Equal(was, is) {
		add("the functions that were running are %v, and were %v", is, was)
	}
	return list
}

// publicError returns what a client may be told of an error; empty for none.
func publicError(err error) string {
	var public *abi.Error
	if !errors.As(err, &public) {
		return ""
	}
	return fmt.Sprintf("%q, data %q, retry after %v", public.Message, public.Data, public.RetryAfter)
}

// functionsOf returns the indices of the functions that were running; nil if they are not known.
func functionsOf(err error) (indices []uint32) {
	crash := abi.CrashOf(err)
	if crash == nil {
		return nil
	}
	for _, f := range crash.Stack {
		indices = append(indices, f.Function)
	}
	return indices
}
