// Package project makes the projects that providers are written in, in each of the languages there is a guest SDK for,
// and builds them: it finds the compiler, or says how to get it, and makes of what that leaves the module to ship.
// Scripts it packs into the engine that runs them.
//
// It runs no provider.
package project
