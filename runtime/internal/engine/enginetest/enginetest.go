// Package enginetest says on which engine tests run guests.
package enginetest

import (
	"os"

	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
)

// Kind returns the engine on which tests run guests: wazero, or the one that WASMRES_ENGINE names.
func Kind() engines.Kind {
	kind, err := engines.Parse(os.Getenv("WASMRES_ENGINE"))
	if err != nil {
		panic(err) // the tests would otherwise show nothing of that engine
	}
	return kind
}
