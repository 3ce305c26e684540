// Package admit decides, before anything is compiled, whether a module is valid and within its limits.
//
// It owns the one strict pass over a guest's bytes that comes before any engine: complete validation by the core
// specification 2.0, the limits of what a module may have, and what may cross its boundary. Engines trust the counts a
// module declares, and die of fifteen bytes; [Check] must pass before a module is loaded. Custom sections are skipped:
// what they hold is as hostile as before, so they are taken out before an engine sees the module.
//
// The loader of modules imports it. It knows no engine, changes no byte, and keeps nothing of the module.
package admit
