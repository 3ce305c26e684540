//go:build !linux

package confine

import (
	"errors"
	"fmt"
)

// Prepare does nothing.
func Prepare() {}

// Enter fails: only Linux is supported.
func Enter(Profile) (Layers, error) { return nil, fmt.Errorf("confine: %w", errors.ErrUnsupported) }

// Seal fails: only Linux is supported.
func Seal(Layers) (Layers, error) { return nil, fmt.Errorf("seal: %w", errors.ErrUnsupported) }

// Probe returns no layers.
func Probe() Layers {
	const only = "only Linux has it"
	return Layers{{Rlimits, false, only}, {NoNewPrivs, false, only}, {Landlock, false, only}, {Seccomp, false, only}}
}
