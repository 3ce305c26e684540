// Package project creates and builds provider projects, in each language that has a guest SDK. A build finds the compiler,
// or says how to install it, and turns the compiled module into the one to ship. For JavaScript, TypeScript and Python
// it has the engine that runs the scripts compile them.
//
// The package runs no provider.
package project
