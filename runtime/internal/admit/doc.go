// Package admit decides, before anything is compiled, whether a module is valid and within its limits.
//
// It owns the one strict pass over a guest's bytes before any engine: complete validation by the core specification
// 2.0, the limits of a module, and its imports and exports. [Check] must pass before a module is loaded, since engines
// trust the counts that a module declares, and fifteen bytes can crash them. It skips custom sections; its caller
// removes them, as their content is unchecked.
//
// The loader of modules imports it. It knows no engine, changes no byte, and keeps nothing of the module.
package admit
