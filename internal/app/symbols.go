package app

import "strings"

// DebugFile is where the module of a provider is looked for that has the names of its functions.
func DebugFile(file string) string { return strings.TrimSuffix(file, ".wasm") + ".debug.wasm" }

// symbols gives the modules that may have the names of functions, as they are now.
func (a *App) symbols(yield func(module []byte) bool) {
	for _, file := range []string{DebugFile(a.cfg.File), a.cfg.File} {
		if module, err := readModule(file); err == nil && !yield(module) {
			return
		}
	}
}
