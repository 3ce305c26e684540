// Package fair shares the processors among the calls of several owners by weight: by start-time fair queuing, paid in processor
// time.
//
// A [Queue] has slots. A call holds one while it keeps a processor busy, by its [Turn]. While slots are free, a turn takes one with
// an atomic operation, and the queue counts nothing: every call gets what it asks for. When no slot is free, calls wait in a line
// of their [Share]. The tag of a share is the processor time that its calls have used, divided by its weight. A free slot goes to
// the share with the lowest tag, so shares that always have waiting calls get processor time in proportion to their weights. A
// share that was idle begins with the tag of the share that was served last: it gains no credit.
//
// A call that gets a slot after a wait counts with an estimate, the mean of earlier calls of its share, until the queue knows what
// it has used: as it goes with a [Meter], which is the kernel's clock of a process, or else at its end by the caller's measure. So
// a call whose estimate is far off delays later calls of its own share only.
//
// A call that runs on while a share with a lower tag waits is paused after a while, if it can be: see [Task]. It waits at the head
// of its share's line, and goes on when its share has its turn again. So a call that computes for seconds does not keep short calls
// of others waiting for its end.
//
// A turn must not be held while its call waits for anything but a processor: [Turn.Yield] gives the slot back, and [Turn.Resume]
// waits for the next one.
package fair
