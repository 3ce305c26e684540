package guest

import "github.com/wasmres/wasmres/runtime/limits"

// Info says how the instances of one module start and are reset.
type Info struct {
	Reset ResetMode    `json:"reset"`
	Why   string       `json:"why"`   // not in a quicker mode; empty for ResetInPlace
	Start limits.Start `json:"start"` // what the first instance used
	// Copied says why a worker has a copy of the native code; empty if it is mapped from a file, or the engine maps none.
	Copied string `json:"copied,omitempty"`
}

// A ResetMode is the way in which each call gets an instance equal to the image.
type ResetMode string

// The reset modes, the quickest first.
const (
	ResetInPlace   ResetMode = "reset"   // instances are reset to the image
	ResetOrReplace ResetMode = "replace" // likewise; an instance is replaced if a reset cannot restore it
	StartFresh     ResetMode = "boot"    // there is no image: each call starts an instance
)
