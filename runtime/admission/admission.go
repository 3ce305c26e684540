// Package admission is how a server asks whether a client may do more: a [Gate] has an [Account] for each client, which counts
// requests, streams, sessions and bytes, and refuses those beyond its limits with a [Refusal].
//
// What is refused reaches no provider. The methods of this package's interfaces are safe for concurrent use and do not block.
package admission

import (
	"fmt"
	"time"
)

// By says by what a client is known.
type By int

// The ways in which a client is known.
const (
	Address         By = iota // the server has no authentication, or the client needs none
	Principal                 // the name of its identity
	Unauthenticated           // its address: it has shown a credential that is not good, or none where one is needed
)

// A Gate bounds what clients use.
type Gate interface {
	// Account returns the account of the client that is known as key. A server asks once for a connection, and keeps it for the
	// requests of that client there.
	Account(key string, by By) Account
}

// An Account bounds what one client uses, and what its tenant uses of which it is one.
type Account interface {
	// Enter counts as many requests as a client sends in one message; more than one are a batch. If ok, the caller calls Leave
	// when they were answered; otherwise nothing was counted.
	Enter(requests int) (refused Refusal, ok bool)
	Leave()
	// Open counts a stream or a session. If ok, the caller calls Close when it has ended.
	Open(Kind) (refused Refusal, ok bool)
	Close(Kind)
	// Write counts the bytes of an answer before they are sent, and says how long the caller must wait before it sends them. A
	// caller that does not send them after all takes them back by a negative number.
	Write(bytes int) (wait time.Duration)
}

// A Kind is what lasts longer than a request.
type Kind int

// The kinds.
const (
	Stream  Kind = iota // of changes
	Session             // of revisions before 2026-07-28
)

// Names of limits, for Refusal.Limit.
const (
	Requests      = "requests"      // the rate of requests
	Concurrency   = "concurrency"   // requests at once
	Subscriptions = "subscriptions" // streams of changes at once
	Sessions      = "sessions"      // sessions at once
	Bytes         = "bytes"         // the rate of bytes of answers
	BytesDay      = "bytes_day"     // bytes of answers of a day
	CPUDay        = "cpu_day"       // processor time of providers of a day
	Audit         = "audit"         // the record of calls, which cannot be written
	Live          = "live"          // processes of providers, of which too few could be started yet
	Queue         = "queue"         // calls that wait for a processor
)

// A Refusal says which limit was hit. Clients get all of it.
type Refusal struct {
	Limit      string        // as Requests
	Of         string        // whose it is: "tenant", "principal", "client", "provider" or "server"
	RetryAfter time.Duration // positive
	Exhausted  bool          // it is a budget that lasts until RetryAfter
}

// An Error is a Refusal as the private cause of an error of a provider.
type Error struct{ Refusal }

// Error says which limit was hit.
func (e *Error) Error() string {
	return fmt.Sprintf("the limit of %s of the %s was hit, retry after %v", e.Limit, e.Of, e.RetryAfter)
}

// MaxWait is how long writes of one answer may be delayed in all. Then the server cuts the answer off.
const MaxWait = time.Minute
