package runtime

import (
	"fmt"
	"iter"
	"os"
	"strings"
)

const maxFile = 64 << 20 // bytes of a provider file

// readModule reads a provider file without trusting its size.
func readModule(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", file)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes, a provider has at most %d", file, info.Size(), maxFile)
	}
	return os.ReadFile(file)
}

// DebugFile returns the name of the file in which Open looks for the names of a provider's functions.
func DebugFile(file string) string { return strings.TrimSuffix(file, ".wasm") + ".debug.wasm" }

// debugModules yields the modules beside a provider that may have the names of its functions. It reads each file when
// it is requested.
func debugModules(file string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, candidate := range []string{DebugFile(file), file} {
			if module, err := readModule(candidate); err == nil && !yield(module) {
				return
			}
		}
	}
}
