package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// An AttackResult says how one attack on this machine ended.
type AttackResult struct {
	Number int    `json:"number"` // from 1
	Of     int    `json:"of"`     // attacks in all
	Class  string `json:"class"`  // attacks of one class have one defence
	Name   string `json:"name"`
	Why    string `json:"why"` // what would happen without the defence

	Ends    []string `json:"ends"`           // the names of the codes that loads and calls ended with, sorted
	Broken  []string `json:"broken"`         // the promises that did not hold; empty if all did
	Took    float64  `json:"tookMs"`         // in all
	Slowest float64  `json:"slowestMs"`      // the longest load or call
	Reads   int      `json:"neighbourReads"` // reads of an honest provider meanwhile
	Longest float64  `json:"neighbourMs"`    // the longest of them
}

// Attack makes the attacks of a corpus of hostile modules on a Host with cfg, one after the other, while another provider
// of the Host answers honest reads. If classes are given it makes only the attacks of these. each gets the result of each
// attack. The error says why the attacks could not be made, or is that of ctx: a broken promise is in the result. CacheDir of cfg is ignored: hostile modules are compiled into a
// temporary folder, which Attack removes.
//
// With [IsolateNone] an attack that succeeds may end this process.
func Attack(ctx context.Context, cfg HostConfig, classes []string, each func(AttackResult)) (err error) {
	cases, err := attack.Cases(classes...)
	if err != nil {
		return err
	}
	cfg.CacheDir = ""
	h, err := NewHost(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	honest, err := h.Load(ctx, probeModule, &Options{Name: "probe", Logger: cfg.Logger})
	if err != nil {
		return fmt.Errorf("load the provider beside the attacks: %w", err)
	}
	defer func() { err = errors.Join(err, honest.Close()) }()
	engine, err := h.engineOf("")
	if err != nil {
		return err
	}
	number := 0
	return attack.Run(ctx, attack.Config{
		Provider:  provider.Config{Runner: engine.runner, ModuleCache: h.modules, Logger: h.log},
		Neighbour: func(ctx context.Context) error { return readProbe(ctx, honest) },
		Compile:   compileTime,
	}, cases, func(r attack.Result) {
		number++
		each(attackResult(r, number, len(cases)))
	})
}

// compileTime is for how long a Host lets a hostile module be compiled.
const compileTime = 2 * time.Minute

func attackResult(r attack.Result, number, of int) AttackResult {
	return AttackResult{
		Number: number, Of: of, Class: string(r.Case.Row), Name: r.Case.Name, Why: r.Case.Why,
		Ends: r.Ends, Broken: append([]string{}, r.Broken...), Took: milliseconds(r.Took), Slowest: milliseconds(r.Slowest),
		Reads: r.Reads, Longest: milliseconds(r.Longest),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
