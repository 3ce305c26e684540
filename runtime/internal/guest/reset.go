package guest

import "github.com/wasmres/wasmres/runtime/limits"

// Info says how the instances of one module start and are reset.
type Info struct {
	Reset ResetMode    `json:"reset"`
	Why   string       `json:"why"`   // not in a quicker mode; empty for ResetInPlace
	Start limits.Start `json:"start"` // what the first instance used
	// Copied says why a worker has a copy of the native code; empty if it is mapped from a file, or the engine maps none.
	Copied string `json:"copied,omitempty"`
	// Unsaved says why the guests do not start from the saved image that they were given; empty if they do, or got none.
	Unsaved string `json:"unsaved,omitempty"`
	// State belongs to an image in the file that the guests were given for it; nil if there is none.
	State *ImageState `json:"state,omitempty"`
}

// An ImageState is what an image has beside the memory.
type ImageState struct {
	Globals []uint64 `json:"globals"`
	// Monotonic is the reading of the guest's monotonic clock when the image was made.
	Monotonic uint64 `json:"monotonic"`
	// Start and Manifest are for guests that start from the image and are not asked. Manifest is encoded; empty if the module
	// contains it.
	Start    limits.Start `json:"start"`
	Manifest []byte       `json:"manifest,omitempty"`
}

// A ResetMode is the way in which each call gets an instance equal to the image.
type ResetMode string

// The reset modes, the quickest first.
const (
	ResetInPlace   ResetMode = "reset"   // instances are reset to the image
	ResetOrReplace ResetMode = "replace" // likewise; an instance is replaced if a reset cannot restore it
	StartFresh     ResetMode = "boot"    // there is no image: each call starts an instance
)
