package resource

// A Waiter does without a processor while an answer waits for its client. Both methods belong to the goroutine of the answer.
type Waiter interface {
	BeginWait()
	EndWait() // may block until a processor is free
}

// A WaitingSink is an [abi.Sink] that tells when it is about to wait for the client, and when it no longer waits.
type WaitingSink interface {
	// OnWait sets what is told. It is called at most once, before contents come.
	OnWait(Waiter)
}
