// Package link is the parent's end of the connections to one worker, and of the calls on them.
//
// It sends calls, queues them when there are few processors, and passes the worker's messages to a [guest.Call], which
// checks them. It kills the worker when a call is overdue, or when the worker violates the protocol. It uses the worker
// process only through the interface [Process]: it neither starts nor replaces it.
package link
