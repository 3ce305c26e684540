package guestsdk

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed javascript/engine/engine.wasm
var javaScriptEngine []byte

//go:embed javascript/lib/*.js
var javaScriptModules embed.FS

// An Engine runs providers in a language that is not compiled: a module of WebAssembly that their scripts are packed
// into.
type Engine struct {
	Version string            // of what runs the scripts, as in "QuickJS-NG 0.16.2"
	Module  []byte            // without a script; not to be changed
	Entry   string            // the exported function whose body copies the pack: see javascript/engine/pack.c
	Modules map[string]string // the part of the SDK that is itself script, to be packed too, by the names of modules
}

// JavaScriptEngine gives the engine for providers in JavaScript.
func JavaScriptEngine() Engine {
	e := Engine{
		Version: "QuickJS-NG 0.16.2",
		Module:  javaScriptEngine,
		Entry:   "wasmres_javascript_pack",
		Modules: map[string]string{},
	}
	files, err := fs.Glob(javaScriptModules, "javascript/lib/*.js")
	if err != nil {
		panic(err) // the pattern is malformed
	}
	for _, file := range files {
		text, err := javaScriptModules.ReadFile(file)
		if err != nil {
			panic(err) // Glob has seen it
		}
		e.Modules["wasmres:/"+path.Base(file)] = string(text)
	}
	return e
}
