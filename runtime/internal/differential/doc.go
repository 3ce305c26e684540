// Package differential runs the metered form of a module on all engines of this program, and says in what they differ: results,
// traps, fuel, ticks, memory and globals after each call. It generates modules, too.
//
// Engines that were written by others share no code. So a mistake in one of them shows, whichever it is.
package differential
