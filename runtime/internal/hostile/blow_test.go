//go:build linux

package hostile_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/wasmres/wasmres/runtime/internal/module"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A blow is a running case against a worker alone.
type blow struct {
	hostile.Case
	cfg  provider.Config
	load time.Duration // bound

	mu      sync.Mutex // guards the fields below
	tally              // late is the best of some tries
	worst   time.Duration
	failure string // the last
	odd     string // one that makes no sense
}

func (w *processTest) newBlow(c hostile.Case) *blow {
	b := &blow{Case: c, load: processLoad, cfg: provider.Config{Runner: w.runner, Limits: attack.LimitsOf(c)}}
	b.tally = tally{codes: map[string]int{}, after: map[string]int{}, cases: 1}
	b.cfg.Limits.Timeout = processTimeout
	if c.Compile > 0 || c.Row == hostile.RowCompile {
		b.load = processCompile
	}
	return b
}

// strikeInTime strikes, and again if that was late. What a parent with nothing to do would have been late for does not count.
func (b *blow) strikeInTime(p *module.Module) (err error) {
	for range processTries {
		b.worst = 0
		idle := attack.WatchClock()
		err = b.strike(p)
		b.worst -= idle.Stop()
		if err != nil || b.worst <= processLate {
			break
		}
	}
	b.late = max(b.late, b.worst)
	return err
}

// strike opens a module and asks what the case says, or for a read where the case expects it to be refused.
func (b *blow) strike(p *module.Module) error {
	ctx, cancel := context.WithTimeout(context.Background(), b.load)
	defer cancel()
	start := time.Now()
	m, err := provider.OpenModule(ctx, b.cfg, p)
	if err != nil {
		b.note(b.codes, "load:", err, time.Since(start)-b.load)
		return nil
	}
	op, uri := b.Op, b.URI
	if op == abi.OpDescribe {
		op, uri = abi.OpRead, "x:a"
	}
	var wg sync.WaitGroup
	for range max(b.Parallel, 1) {
		wg.Go(func() {
			for range min(max(b.Times, 1), 2) {
				b.ask(m, b.codes, op, uri)
			}
		})
	}
	wg.Wait()
	if b.Case.After != "" {
		b.ask(m, b.after, abi.OpRead, b.Case.After)
	}
	return m.Close()
}

func (b *blow) ask(m *provider.Provider, codes map[string]int, op abi.Op, uri string) {
	start := time.Now()
	_, err := attack.Call(m, op, uri)
	b.note(codes, "", err, time.Since(start)-processTimeout)
	m.AfterResponse()
}

// note counts an outcome and looks at its error.
func (b *blow) note(codes map[string]int, what string, err error, late time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	code := abi.CodeOf(err).String()
	codes[what+code]++
	b.worst = max(b.worst, late)
	if err == nil {
		return
	}
	public, private := attack.Texts(err)
	b.failure = fmt.Sprintf("%.200q (%.200q)", public, private)
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' }
	if strings.HasPrefix(code, "code_") || max(len(public), len(private)) > errorText || strings.ContainsFunc(public, control) {
		b.odd = fmt.Sprintf("%s %.300q", code, public)
	}
}

// A tally says how cases ended.
type tally struct {
	cases, modules int
	codes          map[string]int // by name, those of loading with a prefix
	after          map[string]int // of the read afterwards
	late           time.Duration  // the most, over what was allowed; 0 for never
	latest         string         // the case that was
}

func (t *tally) add(name string, more *tally) {
	t.cases, t.modules = t.cases+more.cases, t.modules+more.modules
	for code, n := range more.codes {
		t.codes[code] += n
	}
	for code, n := range more.after {
		t.after[code] += n
	}
	if more.late > t.late {
		t.late, t.latest = more.late, name
	}
}

func (t *tally) String() string {
	late := t.late.Round(time.Millisecond).String()
	if t.latest != "" {
		late += " (" + t.latest + ")"
	}
	return fmt.Sprintf("%3d cases, %4d modules, at most %s late, %v after %v", t.cases, t.modules, late, t.codes, t.after)
}
