// Package snapshot puts the linear memory of an instance back to what it was before the guest ran.
//
// It owns images, which are sealed copies of an initialised memory; the memories that begin as copy-on-write views of
// one; and the ways, called methods, to find and undo what a guest wrote. An engine's package hands a [Memory] to its
// engine as the backing of linear memory, and the packages above it decide when to [New], [Memory.Reset] and
// [Memory.Release]; both may import it.
//
// Never done here: knowing an engine, a module or a global; unmapping memory that other code may still read; giving a
// memory out, or back to a guest, of which one byte is uncertain. Doubt is an error, and the instance is discarded.
package snapshot
