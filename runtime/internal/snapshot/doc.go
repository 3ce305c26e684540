// Package snapshot resets the linear memory of an instance to the state before the guest ran.
//
// It owns images, which are sealed copies of an initialised memory; memories, which begin as copy-on-write views of an
// image; and methods, which find and undo the writes of a guest. An engine uses a [Memory] as the linear memory of an
// instance. Its callers decide when to make an image by [New], and when to call [Memory.Reset] and [Memory.Release].
//
// It knows no engine, module or global, and never unmaps memory that other code may still read. When it cannot be sure of
// all bytes of a memory it returns an error, and the caller discards the instance.
package snapshot
