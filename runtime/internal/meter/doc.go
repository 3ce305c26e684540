// Package meter rewrites a module so that it pays for every loop, call and bulk copy, and counts its depth.
//
// It owns the metered form of a module and the names in it. [Rewrite] returns a module that does the same as an
// admitted one. In addition it asks the host, through the function [ImportTick], whether it may continue, and the host
// can save and restore its state. The engine compiles [Module.Binary]. This package runs nothing and knows no engine.
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
// The module calls tick only when fuel is below zero. If the call is cancelled, or over its deadline or its total, tick
// panics; that ends the call, and the instance is as usable as after a trap. Otherwise tick adds a slice to the fuel
// and returns. It never sets the fuel, since a negative value is fuel used. If the fuel is still below zero, the next
// charge ticks again.
//
// A call has used all fuel armed and added minus the fuel left. That depends only on the module, its input and the
// replies of the host, never on time.
//
// A call that uses up its stack ends with the trap of unreachable, and depth is below zero; no call ends otherwise with
// a depth below zero. After any trap or panic the depth is too low by the discarded frames: the host arms the instance
// again. A host function that calls back into the guest saves the depth, and restores it if that call fails.
//
// # Fuel
//
// One unit is one instruction of the original module; bulk operations and growing cost more, by their length. A charge
// is
//
//	fuel -= c; if fuel < 0 { tick() }
//
// and leaves the operand stack as it is, so that it may stand before any instruction. An accounting places the charges
// so that an activation never executes more than it has charged; between two ticks a guest executes at most the fuel
// that the host granted. A call may be charged for more than it executes: less than 128 units for each early exit from
// a function or a round of a loop.
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
