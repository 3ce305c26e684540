package app

import (
	"fmt"
	"slices"

	"github.com/wasmres/wasmres/runtime"
)

// A Difference is a call that ended in another way on another engine. It has no secret of the provider.
type Difference struct {
	Fault                // the first run, which may have succeeded
	In            string // in what the runs differ
	First, Second string // how they ended: the code, with its message or the contents from where they differ, at most 200 bytes
}

// onCompared receives a comparison of the runtime.
func (a *App) onCompared(c *runtime.Compared) {
	if a.cfg.UsedAgain != nil && c.Second.Used.CPU > 0 {
		a.cfg.UsedAgain(c.Second.Used)
	}
	if c.Failed != nil {
		a.cfg.Compared(nil, c.Failed)
		return
	}
	if len(c.Differences) == 0 {
		a.cfg.Compared(nil, nil)
		return
	}
	scrub := a.scrub()
	d := &Difference{Fault: *a.faultOf(&c.Fault)}
	for _, one := range c.Differences {
		if d.In != "" {
			d.In += "; "
		}
		d.In += scrub(one)
	}
	at := firstDifference(c.First.Content, c.Second.Content)
	d.First, d.Second = scrub(endingText(&c.First, at)), scrub(endingText(&c.Second, at))
	a.cfg.Compared(d, nil)
}

// firstDifference returns where two texts differ first.
func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// endingText says how a run ended, with its contents from a few bytes before a place.
func endingText(e *runtime.Ending, at int) string {
	const before, most = 20, 200
	if e.Err != nil {
		return fmt.Sprintf("%s: %.200s", e.Used.Code, e.Err)
	}
	from := min(max(0, at-before), len(e.Content))
	return fmt.Sprintf("%s: %q", e.Used.Code, e.Content[from:min(len(e.Content), from+most)])
}

// faultOf returns a fault of the runtime without secrets.
func (a *App) faultOf(f *runtime.Fault) *Fault {
	scrub := a.scrub()
	told := &Fault{Digest: f.Digest, Op: f.Used.Op, URI: scrub(f.Request.URI), Code: f.Used.Code, Fuel: f.Used.Fuel, Memory: f.Used.Memory}
	if c := f.Crash; c != nil {
		told.Reason, told.Stack = scrub(c.Reason), slices.Clone(c.Stack)
		for _, line := range c.LastLines {
			told.LastLines = append(told.LastLines, scrub(line))
		}
	}
	if f.Record != nil {
		kept, request := *f, *f.Request
		request.Vars = slices.Clone(request.Vars)
		kept.Request, kept.Err = &request, nil
		told.Session = func(comment string) ([]byte, string) { return sessionText(&kept, comment, a.cfg.Grants.Config, scrub) }
	}
	return told
}

// compare returns what compares the calls of the provider; nil for nothing.
func (a *App) compare() *runtime.Compare {
	if a.cfg.Compare == nil {
		return nil
	}
	c := *a.cfg.Compare
	if a.cfg.Compared != nil {
		c.OnCompared = a.onCompared
	}
	return &c
}
