package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Config says what [Run] checks. Source and Manifest are required.
type Config struct {
	Source   resource.Source
	Manifest *abi.Manifest // of the provider behind Source
	// Samples is the number of resources to read of the list, beside those of the manifest, and of each template. 0 reads
	// all listed resources and all completed values. Resources of the manifest are always read.
	Samples int
	// URIs names more resources to read.
	URIs []string
	// MaxTime ends the check early, with the findings up to then. 0 means no limit.
	MaxTime time.Duration
}

// Run checks a provider. It fails only if ctx ends or cfg is invalid: everything else is a finding.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if cfg.Source == nil || cfg.Manifest == nil {
		return nil, errors.New("check provider: Config.Source and Manifest are required")
	}
	if cfg.Samples < 0 || cfg.MaxTime < 0 {
		return nil, fmt.Errorf("check provider: Config.Samples is %d and MaxTime %v: set them to 0 or more", cfg.Samples, cfg.MaxTime)
	}
	r := newRun(cfg)
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	r.reportUnsampled()
	r.report.sort()
	return r.report, nil
}

// all runs the checks, until MaxTime.
func (r *run) all(ctx context.Context) error {
	timed := ctx
	if limit := r.cfg.MaxTime; limit > 0 {
		var cancel context.CancelFunc
		timed, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	for _, step := range []func(context.Context){
		r.checkManifest, r.checkList, r.readListed, r.checkDirectories, r.checkSkills, r.readTemplates, r.readNamed, r.checkNotFound,
	} {
		step(timed)
		if err := ctx.Err(); err != nil {
			return err
		}
		if timed.Err() != nil {
			r.report.add(ruleUnfinished, "check", "the check ended early, after %v", r.cfg.MaxTime)
			return nil
		}
	}
	return nil
}

// A run is one check. It is not safe for concurrent use.
type run struct {
	cfg    Config
	report *Report

	static  map[string]bool // normal URIs of the manifest's resources
	routes  []*route        // most specific first, without those that cannot be parsed
	entries []entry         // of the list
	seen    map[string]bool // normal URIs of what has been read
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

// publicMessage returns the message of an error for clients; empty for none.
func publicMessage(err error) string {
	var e *abi.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return ""
}
