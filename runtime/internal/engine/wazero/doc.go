// Package wazero is the default engine: wazero's compiler behind the interfaces of package engine.
//
// It owns every wazero setting and is the only package that imports wazero.
//
// Each module has its own wazero runtime: a module that one wazero runtime has compiled must not be used with another, and
// function types stay in a runtime until it is closed. Runtimes share the compilation cache.
package wazero
