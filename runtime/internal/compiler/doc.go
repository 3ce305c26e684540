// Package compiler compiles untrusted modules, each in its own process that can be killed.
//
// It owns that process from its start to its end, its limits, and the record of which modules are compiled and which
// were refused. The child sends one short line, which the parent does not trust, and writes one file to the compilation
// cache, where the engine finds it. The package also stores prepared modules for the runtime, as its
// [runtime.ModuleCache].
//
// The child is the running program itself: main, and TestMain of tests that compile, must call [Main] first. Only
// internal/app and tests use the rest. The caller's process neither decodes nor compiles a module.
package compiler
