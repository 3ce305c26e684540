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

//go:embed javascript/web/*.js
var javaScriptWeb embed.FS

// An Engine runs providers in a language that is not compiled: a module of WebAssembly that compiles their scripts when
// they are built.
type Engine struct {
	Version string            // of what runs the scripts, as in "QuickJS-NG 0.16.2"
	Module  []byte            // without a script; not to be changed
	Entry   string            // the exported function that takes the pack: see javascript/engine/prepare.c
	Modules map[string]string // the part of the SDK that is itself script, by the names of modules
}

// JavaScriptEngine gives the engine for providers in JavaScript.
func JavaScriptEngine() Engine {
	e := Engine{
		Version: "QuickJS-NG 0.16.2",
		Module:  javaScriptEngine,
		Entry:   "wasmres_javascript_prepare",
		Modules: map[string]string{},
	}
	addModules(e.Modules, "wasmres:/", javaScriptModules, "javascript/lib/*.js")
	return e
}

// JavaScriptWeb gives the modules that define what browsers and Node.js have beside the language, by the names of modules:
// those that a provider uses are packed, too, and wasmres:/globals.js imports them.
func JavaScriptWeb() map[string]string {
	modules := map[string]string{}
	addModules(modules, "wasmres:/web/", javaScriptWeb, "javascript/web/*.js")
	return modules
}

// addModules adds embedded files, under their own names after prefix.
func addModules(modules map[string]string, prefix string, from embed.FS, pattern string) {
	files, err := fs.Glob(from, pattern)
	if err != nil {
		panic(err) // the pattern is malformed
	}
	for _, file := range files {
		text, err := from.ReadFile(file)
		if err != nil {
			panic(err) // Glob has seen it
		}
		modules[prefix+path.Base(file)] = string(text)
	}
}
