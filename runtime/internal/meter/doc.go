// Package meter rewrites a module so that it pays for every loop, call and bulk copy, and counts its depth.
//
// It owns the metered form of a module and the names in it. [Rewrite] takes an admitted module and gives one that does
// the same, except that it asks the host, through the function [ImportTick], whether it may go on, and that its state
// can be saved and restored. Nothing is run here and no engine is known; what the engine compiles is [Module.Binary].
// The runtime imports it.
//
// # What the host does
//
// It loads data and start: it writes [Module.Data] in order, checked against the memory, then calls [ExportStart] if
// there is one, before anything else is called.
//
// Before a call it arms the instance: [ExportFuel] to the units that may be used until the first tick, [ExportDepth] to
// the bytes of stack that may be used. An instance that is not armed has no stack to call with. [ExportDirty] is 0 in an
// instance that was just made.
//
// Tick is called when fuel is below zero, and at no other time. It either panics, because the call is over its deadline,
// cancelled or over its total, which ends the call and leaves the instance as usable as a trap does; or it adds a slice
// to the fuel and returns. It adds and never sets: what is below zero has been used. If one slice leaves it below zero
// the next charge ticks again.
//
// What a call has used is everything armed and added minus what is left. It depends on the module, its input and the
// replies of the host alone, never on time.
//
// A call that uses up its stack ends with the trap of unreachable, and depth is below zero; no call ends otherwise with
// a depth below zero. After any trap or panic the depth is too low by the frames that were thrown away: arm again. A
// host function that calls back into the guest keeps the depth it found, and puts it back if that call fails.
//
// # Fuel
//
// One unit is one instruction of the original module; bulk operations and growing cost more, by their length. A charge
// is
//
//	fuel -= c; if fuel < 0 { tick() }
//
// and leaves the operand stack alone, so that it may stand before any instruction. Charges are placed by an accounting so
// that an activation has never executed more than it has charged, whatever the shape of the code; between two ticks a
// guest executes at most what it was armed with or given. What is charged may be more than what is executed, by less
// than 128 for each time a function or a round of a loop is left early.
//
// # References
//
// A ref.func in the code becomes a table.get: the engine makes one reference of each function that the code refers to
// when it makes an instance, and none while the guest runs. An active element segment that does not fit its table is
// refused.
//
// # Depth
//
// A function that can call another subtracts its frame from the depth at entry, and restores the depth wherever it
// ends: its body stands in a block with its results, whose end every exit reaches; return becomes a branch there. Other
// functions run on the reserve every engine keeps.
package meter
