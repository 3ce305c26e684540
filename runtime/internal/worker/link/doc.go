// Package link is the parent's end of the connections to one worker, and of the calls on them.
//
// It sends calls, queues them where few processors are there, and passes what the worker sends to a [guest.Call], which
// checks it. It has the worker killed when a call has not ended in time, or when the worker violates the protocol. It
// knows the worker process by the interface [Process] only: it neither starts it nor has another one take its place.
package link
