package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	goruntime "runtime"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/confine"
	"github.com/wasmres/wasmres/internal/process"
	"github.com/wasmres/wasmres/runtime/engine/wazero"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// probeModule is a provider of one resource, probeURI, whose text is probeText.
//
//go:embed probe.wasm
var probeModule []byte

const (
	probeURI  = "probe:it"
	probeText = "fine"
)

// A Diagnosis is what this machine gives to those who run untrusted providers.
type Diagnosis struct {
	System     string         `json:"system"`
	Engine     string         `json:"engine"`
	Isolation  string         `json:"isolation"`
	Layers     confine.Layers `json:"layers"`     // in the worker that was tried; what the machine gives, if none was
	Namespaces []Namespace    `json:"namespaces"` // likewise
	Reset      string         `json:"reset"`      // how instances are put back
	Slower     []string       `json:"slower"`     // why not in a quicker way
	Cache      string         `json:"cache"`      // the folder of compiled modules
	Ready      float64        `json:"readyMs"`    // from nothing to a provider that answers
	Read       float64        `json:"readMicros"` // one small resource, the quickest of some
	Err        string         `json:"error,omitempty"`
}

// A Namespace is one kind of namespace a worker has to itself, or why it has not.
type Namespace struct {
	Kind string `json:"kind"`
	On   bool   `json:"on"`
	Why  string `json:"why,omitempty"`
}

// Diagnose looks at the machine, and runs a provider of its own as cfg says, File aside. It is in order when Err is
// empty.
func Diagnose(ctx context.Context, cfg Config) *Diagnosis {
	best, reasons := snapshot.Probe()
	d := &Diagnosis{
		System: goruntime.GOOS + "/" + goruntime.GOARCH, Engine: "wazero " + wazero.Version,
		Layers: confine.Probe(), Namespaces: spaces(process.Namespaces()), Reset: best.String(), Slower: []string{}, Cache: cfg.CacheDir,
	}
	for _, reason := range reasons {
		d.Slower = append(d.Slower, reason.Error())
	}
	if err := d.try(ctx, cfg); err != nil {
		d.Err = err.Error()
	}
	return d
}

// spaces says of each kind of namespace whether it is a worker's own.
func spaces(list []process.Namespace) []Namespace {
	all := []Namespace{}
	for _, n := range list {
		found := Namespace{Kind: n.Kind, On: n.Err == nil}
		if n.Err != nil {
			found.Why = n.Err.Error()
		}
		all = append(all, found)
	}
	return all
}

// try runs the provider.
func (d *Diagnosis) try(ctx context.Context, cfg Config) (err error) {
	cfg.File = "probe"
	a, err := newApp(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	d.Isolation = a.cfg.Isolation
	start := time.Now()
	if err := a.openModule(ctx, probeModule); err != nil {
		return err
	}
	if err := a.readProbe(ctx); err != nil {
		return err
	}
	d.Ready = float64(time.Since(start).Microseconds()) / 1e3
	if on := a.Walls(); on != nil {
		d.Layers, d.Namespaces = on.Layers, spaces(on.Namespaces)
	}
	return d.measure(ctx, a)
}

// measure reads some times.
func (d *Diagnosis) measure(ctx context.Context, a *App) error {
	const reads = 200
	best := time.Hour
	for range reads {
		start := time.Now()
		if err := a.readProbe(ctx); err != nil {
			return err
		}
		best = min(best, time.Since(start))
	}
	d.Read = float64(best.Nanoseconds()) / 1e3
	return nil
}

// readProbe reads the resource and holds it to what it is.
func (a *App) readProbe(ctx context.Context) error {
	var got probeSink
	if _, err := a.provider.Read(ctx, &abi.Request{URI: probeURI}, &got); err != nil {
		return err
	}
	a.provider.AfterResponse()
	if string(got) != probeText {
		return fmt.Errorf("the probe says %.64q, not %q", got, probeText)
	}
	return nil
}

// A probeSink keeps what is read.
type probeSink []byte

// Content implements [abi.Sink].
func (s *probeSink) Content(*abi.Content) error { return nil }

// Body implements [abi.Sink].
func (s *probeSink) Body(p []byte) error {
	*s = append(*s, p...)
	return nil
}

// Progress implements [abi.Sink].
func (s *probeSink) Progress(abi.Progress) {}
