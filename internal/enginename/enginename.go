// Package enginename has the names of the engines that compile and run guests, and says which of them this program has. It runs
// nothing, so that readers of configuration can refuse an engine early.
package enginename

import (
	"errors"
	"fmt"
)

// The names of engines. Each program has Wazero, the default.
const (
	Wazero   = "wazero"
	Wasmtime = "wasmtime"
)

// liar is set by the linker of a test, and by nothing else: see [Lies].
var liar string

// Lies reports whether this program was linked by the test of what finds engines that lie. In the place of wasmtime it then has an
// engine that answers as wazero does, and lies about the fuel.
func Lies() bool { return liar != "" }

var errNotBuilt = errors.New("this wasmres was built without wasmtime: build with CGO_ENABLED=1 -tags wasmtime, for linux/amd64")

// Check returns nil if this program has the engine of a name, or for the empty name, which is that of the default. Otherwise the
// error says what to do.
func Check(name string) error {
	switch {
	case name == "" || name == Wazero || name == Wasmtime && (isBuilt || Lies()):
		return nil
	case name == Wasmtime:
		return errNotBuilt
	}
	return fmt.Errorf("engine %.64q: there are %s and %s", name, Wazero, Wasmtime)
}

// CheckOther returns nil if this program has an engine beside the one of a name, to compare it with. Otherwise the error says what to
// do.
func CheckOther(name string) error {
	if name == Wasmtime {
		return nil // Check refuses it where it is the only one
	}
	return Check(Wasmtime)
}
