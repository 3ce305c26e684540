package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Config says what to check. Source and Manifest are required.
type Config struct {
	Source   resource.Source
	Manifest *abi.Manifest // of the provider behind Source
	// Samples is how many resources are read of those that the provider lists beside the manifest's, which are all read,
	// and of each template. 0 is for all that are listed, and for all values that a completion gives.
	Samples int
	// URIs are read too.
	URIs []string
	// MaxTime is after how long the check ends, with what was found till then. 0 is for never.
	MaxTime time.Duration
}

// Run checks a provider. It fails only when ctx ends or cfg makes no sense: everything else is a finding.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if cfg.Source == nil || cfg.Manifest == nil {
		return nil, errors.New("check: Source and Manifest are required")
	}
	if cfg.Samples < 0 || cfg.MaxTime < 0 {
		return nil, fmt.Errorf("check: Samples is %d and MaxTime %v, expected 0 or more", cfg.Samples, cfg.MaxTime)
	}
	r := newRun(cfg)
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	r.noteUnsampled()
	r.report.sort()
	return r.report, nil
}

// all checks everything there is time for.
func (r *run) all(ctx context.Context) error {
	timed := ctx
	if most := r.cfg.MaxTime; most > 0 {
		var cancel context.CancelFunc
		timed, cancel = context.WithTimeout(ctx, most)
		defer cancel()
	}
	for _, step := range []func(context.Context){
		r.checkManifest, r.checkList, r.readListed, r.readTemplates, r.readNamed, r.checkNotFound,
	} {
		step(timed)
		if err := ctx.Err(); err != nil {
			return err
		}
		if timed.Err() != nil {
			r.report.add(ruleUnfinished, "check", "it was stopped after %v", r.cfg.MaxTime)
			return nil
		}
	}
	return nil
}

// A run is one check under way. It is used by one goroutine.
type run struct {
	cfg    Config
	report *Report

	static  map[string]bool // resources of the manifest, by normal form
	routes  []*route        // most specific first, without those that cannot be parsed
	entries []entry         // of the list
	cursor  string          // one that the provider has given; empty for none
	seen    map[string]bool // what was read, by normal form
}

func newRun(cfg Config) *run {
	r := &run{
		cfg:    cfg,
		report: &Report{Findings: []Finding{}, Omitted: map[string]int{}, Unsampled: []Unsampled{}},
		static: map[string]bool{},
		seen:   map[string]bool{},
	}
	for i := range cfg.Manifest.Resources {
		r.static[abi.NormalURI(cfg.Manifest.Resources[i].URI)] = true
	}
	return r
}

// publicText is what a failure says to clients; empty for nothing.
func publicText(err error) string {
	var e *abi.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return ""
}
