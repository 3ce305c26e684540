// Package wire is what a parent process and its worker say to each other, and how it gets across: a socket for messages
// and a window of shared memory for contents.
//
// It owns the framing, every message with its bounds, the descriptors that go along, and the window's ring. Between the
// two processes there is one control connection and any number of links, which are a connection and a window each. On a
// link calls are done in the order in which they come: the parent writes [Call] and reads until [Done]; the worker reads
// Call, writes what the guest emits, may write [Ask] and read [Answer], and writes Done. So answers need no ids: only
// [Cancel], which comes by the control connection, names its link and call. The parent may write the next Calls, of
// [MaxAhead] bytes in all, while one is under way; the worker keeps those it meets while it waits for something else.
// The ring of the window goes on from call to call.
//
// Nobody waits for each other for ever, as long as the worker is honest. The parent always reads, unless it writes what
// the worker is waiting for, a Call or an Answer, or a [Credit]. Of these the worker has at most [maxCredits] unread,
// which together with the Calls ahead are fewer bytes than any socket holds, so writing them does not block. The worker
// in turn waits for credit only when all it announced has been flushed, and then the parent owes it at most a quarter of
// the window and a piece fits into the rest. A worker that is not honest can make the parent wait, and is killed: that
// ends every wait.
//
// Only internal/worker and its tests import it. Never done here: starting or killing processes, watching clocks,
// knowing what a frame or a request means; reading shared memory twice; taking a length for granted.
package wire
