package guestsdk

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed python/engine/engine.wasm
var pythonEngine []byte

//go:embed all:python/lib
var pythonModules embed.FS

// PythonEngine gives the engine for providers in Python. Its Modules are files by their paths, as in
// "wasmres/__init__.py": the package wasmres, and modules of the standard library.
func PythonEngine() Engine {
	e := Engine{
		Version: "MicroPython 1.29.0-preview",
		Module:  pythonEngine,
		Entry:   "wasmres_python_pack",
		Modules: map[string]string{},
	}
	err := fs.WalkDir(pythonModules, "python/lib", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := pythonModules.ReadFile(file)
		e.Modules[strings.TrimPrefix(file, "python/lib/")] = string(text)
		return err
	})
	if err != nil {
		panic(err) // the files are embedded
	}
	return e
}
