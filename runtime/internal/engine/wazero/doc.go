// Package wazero is the default engine: wazero's compiler behind the interfaces of package engine.
//
// It owns every wazero setting and is the only package that imports wazero. Only internal/app and tests construct it.
//
// A module has a wazero runtime of its own, because a module compiled by one wazero runtime must never meet another
// and because function types stay in a runtime until it is closed. What runtimes share is the compilation cache.
package wazero
