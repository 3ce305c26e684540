package runtime

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/limits"
)

// Info describes a provider and how it runs.
type Info struct {
	Digest     string        // SHA-256 of the module, as in "sha256:9f86…"
	Size       int           // of the module, in bytes
	Packed     bool          // the manifest was read from the module without running it
	Lifecycle  abi.Lifecycle // in force: what the manifest asks for, as far as Options granted it
	Limits     Limits        // in force
	Isolation  Isolation     // IsolateProcess or IsolateNone
	Layers     []Layer       // of the worker that started last on the Host, as it says; nil in process
	Namespaces []Namespace   // likewise
	Reset      ResetMode     // how each call gets a fresh instance
	ResetNote  string        // why not in a quicker way; empty for ResetInPlace
	Start      Start         // what starting the first instance used
}

// A Start is what starting the first instance of a module used.
type Start = limits.Start

// A ResetMode is the way in which each call gets an instance equal to the image.
type ResetMode string

// The reset modes, the quickest first.
const (
	ResetInPlace   ResetMode = "reset"   // instances are reset to the image
	ResetOrReplace ResetMode = "replace" // instances are reset, or replaced by a copy of the image
	StartFresh     ResetMode = "boot"    // an instance is started for each call
)

// A Layer is one of the kernel's means that restrict a worker.
type Layer struct {
	Name   string `json:"name"`
	On     bool   `json:"on"`
	Detail string `json:"detail,omitempty"` // how far it is on, or why it is off
}

// String returns a short description, for a log.
func (l Layer) String() string { return confine.Layer(l).String() }

// A Namespace is a kind of Linux namespace, and whether a worker has its own.
type Namespace struct {
	Kind string `json:"kind"`
	On   bool   `json:"on"`
	Why  string `json:"why,omitempty"`
}

// Info describes the provider and how it runs.
func (p *Provider) Info() Info {
	info := p.inner.Info()
	layers, namespaces := p.host.layers()
	return Info{
		Digest: info.Digest, Size: info.Size, Packed: info.Packed, Lifecycle: info.Lifecycle, Limits: info.Limits,
		Isolation: p.host.isolation, Layers: layers, Namespaces: namespaces,
		Reset: ResetMode(info.Reset), ResetNote: info.Why, Start: info.Start,
	}
}

// layers returns the isolation of the worker that started last; nil if guests run in this process.
func (h *Host) layers() ([]Layer, []Namespace) {
	if h.workers == nil {
		return nil, nil
	}
	var isolation *worker.Isolation
	if isolation = h.workers.Isolation(); isolation == nil {
		return nil, nil
	}
	return layersOf(isolation.Layers), namespacesOf(isolation.Namespaces)
}
