// Package protocol has the messages between a parent process and its worker, and their transport: a socket for messages
// and a window of shared memory for contents.
//
// It owns the framing, every message with its bounds, the files that go along, and the ring in the window. The two
// processes have one control connection, one connection for reports, and any number of links. A link is a connection and
// a window. The worker runs the calls of a link in the order in which they come: the parent writes [Call] and reads until
// [Done]; the worker reads Call, writes what the guest emits, may write [Ask] and read [Answer], and writes Done. So
// answers need no ids: only [Cancel], which comes by the control connection, names its link and call. The parent may
// write the next Calls, of [MaxQueuedBytes] in all, while one is under way; the worker queues those it reads while it
// waits for another message. The ring of the window goes on from call to call.
//
// With an honest worker no process waits for ever. The parent always reads, except while it writes what the worker waits
// for: a Call, an Answer or a [Credit]. Of these the worker has at most [maxCredits] unread. Together with the queued
// Calls they are fewer bytes than any socket holds, so that writing them does not block. The worker waits for credit only
// when all it announced has been flushed. Then the parent owes it at most a quarter of the window, and a chunk fits into
// the rest. A dishonest worker can make the parent wait; the parent kills it, which ends every wait.
//
// Messages of a link that fit go through a pipe instead of the socket. The file of the window has one for each direction. A
// process writes to it without a system call while the other one is awake. What does not fit takes the socket, as does the
// byte that wakes a reader. So a pipe never makes a process wait.
//
// The package never starts or kills processes, never looks at the clock for the parent, does not know what a frame or a
// request means, never reads shared memory twice, and never takes a length for granted.
package protocol
