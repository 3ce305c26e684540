// Package compiler compiles untrusted modules, each in a process of its own that can be killed.
//
// It owns that process from its start to its end, the limits it runs under, and the memory of which modules are compiled
// and which are not worth another try. The child sends one short line, which is trusted no more than the module, and
// writes one file to the compilation cache, where the engine finds it. The package also stores prepared modules for the
// runtime, as its [runtime.ModuleCache].
//
// The child is the running program itself: main, and TestMain of tests that compile, must call [Main] first. Only
// internal/app and tests use the rest. No module is decoded or compiled in the caller's own process.
package compiler
