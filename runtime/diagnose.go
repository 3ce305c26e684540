package runtime

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// probeModule is a provider of one resource, probeURI, whose text is probeText.
//
//go:embed probe.wasm
var probeModule []byte

const (
	probeURI  = "probe:it"
	probeText = "fine"
)

// A Diagnosis describes the isolation and the speed of untrusted providers on this machine.
type Diagnosis struct {
	System     string      `json:"system"`
	Engine     string      `json:"engine"`
	Isolation  string      `json:"isolation"`
	Layers     []Layer     `json:"layers"`            // of the worker that was tried; of the machine, if none was
	Namespaces []Namespace `json:"namespaces"`        // likewise
	Reset      string      `json:"reset"`             // how instances are reset
	Slower     []string    `json:"slower"`            // why not in a quicker way
	Copied     string      `json:"copied,omitempty"`  // why each worker has a copy of the native code; empty if it is mapped, or there is no worker
	Unsaved    string      `json:"unsaved,omitempty"` // why each worker starts its guest; empty if it has a saved image, or there is no worker
	Cache      string      `json:"cache"`             // the folder of compiled modules
	Ready      float64     `json:"readyMs"`           // from nothing to a provider that answers
	Read       float64     `json:"readMicros"`        // one small resource, the quickest of some
	Err        string      `json:"error,omitempty"`
}

// Engines names the engines of this program, the default first. Each is a value for [HostConfig.Engine].
func Engines() (names []string) {
	for _, kind := range engines.All() {
		names = append(names, string(kind))
	}
	return names
}

// Examine names the engines, and the layers of isolation that this machine supports. It runs nothing.
func Examine() (engine string, layers []Layer) {
	var names []string
	for _, kind := range engines.All() {
		names = append(names, kind.String())
	}
	return strings.Join(names, ", "), layersOf(confine.Probe())
}

// engineName returns the name and version of an engine; only the name if this program does not have it.
func engineName(name string) string {
	kind, err := engines.Parse(name)
	if err != nil {
		return name
	}
	return kind.String()
}

// Diagnose examines the machine, and runs a test provider on a Host with cfg. Everything works if Err is empty.
func Diagnose(ctx context.Context, cfg HostConfig) *Diagnosis {
	best, reasons := snapshot.Probe()
	_, layers := Examine()
	d := &Diagnosis{
		System: goruntime.GOOS + "/" + goruntime.GOARCH, Engine: engineName(cfg.Engine), Isolation: cfg.Isolation.String(),
		Layers: layers, Namespaces: namespacesOf(process.Namespaces()), Reset: best.String(), Slower: []string{}, Cache: cfg.CacheDir,
	}
	for _, reason := range reasons {
		d.Slower = append(d.Slower, reason.Error())
	}
	if err := d.try(ctx, cfg); err != nil {
		d.Err = err.Error()
	}
	return d
}

// try runs the test provider, and measures.
func (d *Diagnosis) try(ctx context.Context, cfg HostConfig) (err error) {
	h, err := NewHost(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	start := time.Now()
	p, err := h.Load(ctx, probeModule, &Options{Name: "probe", Logger: cfg.Logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := readProbe(ctx, p); err != nil {
		return err
	}
	d.Ready = float64(time.Since(start).Microseconds()) / 1e3
	if info := p.Info(); info.Isolation == IsolateProcess {
		d.Layers, d.Namespaces = info.Layers, info.Namespaces
		d.Copied = h.workers.Isolation().Copied
		if err := d.tryImage(ctx, h, &cfg); err != nil {
			return err
		}
	}
	return d.measure(ctx, p)
}

// tryImage runs the test provider again: a worker that was closed has left an image, from which the next one starts.
func (d *Diagnosis) tryImage(ctx context.Context, h *Host, cfg *HostConfig) error {
	for range 2 {
		p, err := h.Load(ctx, probeModule, &Options{Name: "probe", Logger: cfg.Logger})
		if err != nil {
			return err
		}
		if err := errors.Join(readProbe(ctx, p), p.Close()); err != nil {
			return err
		}
		if d.Unsaved = h.workers.Isolation().Unsaved; d.Unsaved == "" {
			break
		}
	}
	return nil
}

// measure reads several times.
func (d *Diagnosis) measure(ctx context.Context, p *Provider) error {
	const reads = 200
	best := time.Hour
	for range reads {
		start := time.Now()
		if err := readProbe(ctx, p); err != nil {
			return err
		}
		best = min(best, time.Since(start))
	}
	d.Read = float64(best.Nanoseconds()) / 1e3
	return nil
}

// readProbe reads the resource and checks its text.
func readProbe(ctx context.Context, p *Provider) error {
	got, err := p.Read(ctx, probeURI)
	if err != nil {
		return err
	}
	if text := got[0].Text(); text != probeText {
		return fmt.Errorf("the probe says %.64q, not %q", text, probeText)
	}
	return nil
}

// layersOf converts the layers of a process.
func layersOf(list confine.Layers) []Layer {
	all := []Layer{}
	for _, l := range list {
		all = append(all, Layer(l))
	}
	return all
}

// namespacesOf converts the namespaces of a process.
func namespacesOf(list []process.Namespace) []Namespace {
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
