// Package compiler compiles modules nobody vouches for, each in a process of its own that can be killed.
//
// It owns that process from its start to its burial, the limits it runs under, and the memory of which modules are
// compiled and which are not worth another try. What crosses from the child is one short line, which is believed no
// more than the module, and one file in the compilation cache, where the engine finds it. Beside that it keeps prepared
// modules for the runtime, as its [runtime.Shelf].
//
// The child is the running program itself: main, and TestMain of tests that compile, must call [Main] first. Only
// internal/app and tests use the rest. No module is decoded or compiled in the caller's own process.
package compiler
