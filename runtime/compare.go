package runtime

import (
	"cmp"
	"fmt"

	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// Compare has calls of a provider run again on another engine. Both runs must have the same contents, reply, fuel and calls of the
// host, and end with the same error, in the same functions. The capabilities answer the second run from the record of the first:
// nothing that a call does is done twice. A call is compared unless it ended for another reason than its guest, as at its deadline,
// or has no exact record: see Options.Record, which Compare does to calls, too.
type Compare struct {
	// Engine is the other one: "wazero" or "wasmtime". Empty means that which Options.Engine does not name, if there are two.
	Engine string
	// OneOf is how many calls there are for each that is compared, on average: calls are drawn at random. Zero means 1, which compares
	// all.
	OneOf int
	// Wait has each call wait for its comparison, as in a test. Otherwise a comparison runs after the answer, and is left out while
	// another one of the provider runs, or Slots is full.
	Wait bool
	// Slots bounds how many comparisons run at once, of all providers that have the same one: by its capacity. Nil is one of the
	// provider's own, for one comparison.
	Slots chan struct{}
	// Live bounds the worker processes of second runs. HostConfig.Live bounds them as well. Nil bounds none.
	Live *Live
	// OnCompared receives the result of each comparison. Many goroutines call it at once. It must not block. Nil discards.
	OnCompared func(c *Compared)
}

// A Compared is a call that ran on two engines, and in what the runs differ.
type Compared = provider.Compared

// An Ending is how one run of a compared call ended.
type Ending = provider.Ending

// comparisonOf returns the comparison of a provider that runs on an engine; nil for none.
func (h *Host) comparisonOf(o *Options) (*provider.Comparison, error) {
	c := o.Compare
	if c == nil {
		return nil, nil
	}
	if c.OneOf < 0 {
		return nil, fmt.Errorf("Compare.OneOf %d must not be negative", c.OneOf)
	}
	name := c.Engine
	if name == "" {
		name = string(h.otherThan(o.Engine))
	}
	other, err := h.engineOf(name)
	if err != nil {
		return nil, fmt.Errorf("compare engines: %w", err)
	}
	slots := c.Slots
	if slots == nil {
		slots = make(chan struct{}, 1)
	}
	return &provider.Comparison{
		Runner: other.runner, OneOf: cmp.Or(c.OneOf, 1), Slots: slots, Wait: c.Wait, Live: groupOf(c.Live), OnCompared: c.OnCompared,
	}, nil
}

// otherThan returns the engine that is not the one with a name, or that of the Host for none. The program may not have it.
func (h *Host) otherThan(name string) engines.Kind {
	if cmp.Or(name, string(h.kind)) == string(engines.Wasmtime) {
		return engines.Wazero
	}
	return engines.Wasmtime
}
