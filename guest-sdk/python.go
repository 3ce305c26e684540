package guestsdk

import (
	"embed"
	"io/fs"
	"slices"
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
		Entry:   "wasmres_python_prepare",
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

// replaceable are modules of the library, in the place of which CPython may have the packages of these names, and what they
// import of the library.
var replaceable = []string{
	"_encodings.py", "_web.py", "aiofiles.py", "aiohttp.py", "aiosqlite.py", "anyio.py", "dotenv.py", "httpx.py", "requests/",
}

// pythonPackage gives the files of the package wasmres itself, which native tests run, and in its directory library those
// that are replaceable.
func pythonPackage() map[string]string {
	found := map[string]string{}
	for name, text := range PythonEngine().Modules {
		if file, ok := strings.CutPrefix(name, "wasmres/"); ok {
			found[file] = text
		}
		if slices.ContainsFunc(replaceable, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			found["library/"+name] = text
		}
	}
	return found
}
