package protocol

import (
	"fmt"

	"github.com/wasmres/wasmres/abi"
)

// A Kind is the kind of a message. Zero is none.
type Kind uint8

// The messages of a link.
const (
	KindCall   Kind = 1 // to the worker: [Call]
	KindAnswer Kind = 2 // to the worker: [Answer]; its body follows as KindBody
	KindCredit Kind = 3 // to the worker: [Credit]
	KindBody   Kind = 4 // both ways: bytes of a content, or of the body of an answer

	KindFrame   Kind = 5  // to the parent: a frame as the guest emitted it
	KindChunk   Kind = 6  // to the parent: [Chunk]
	KindAsk     Kind = 7  // to the parent: [Ask]
	KindChanged Kind = 8  // to the parent: the URI of a changed resource; empty for the list of resources
	KindLog     Kind = 9  // to the parent, also as a report: [Log]
	KindDone    Kind = 10 // to the parent: [Done]

	// KindSwitch says, both ways, that the messages after it come by the pipe, or by the socket again. There is at least one
	// before the next switch. [Conn.Next] handles it.
	KindSwitch Kind = 24
)

// The messages of the control connection.
const (
	KindStart      Kind = 16 // to the worker: [StartMessage], with its files
	KindNewLink    Kind = 17 // to the worker: [NewLink], with a socket and a window
	KindCancel     Kind = 18 // to the worker: [Cancel]
	KindEndSession Kind = 19 // to the worker: the name of the session
	KindPause      Kind = 23 // to the worker: [Pause]

	KindReady  Kind = 20 // to the parent: [ReadyMessage]
	KindFailed Kind = 21 // to the parent: why the worker cannot start, encoded as a [Done]
	KindSealed Kind = 22 // to the parent: the worker is loaded and locked down, and the guest starts
)

// Limits of the protocol, in bytes unless said otherwise.
const (
	MaxPayload     = abi.MaxFrame + 4<<10 // of any message
	MaxSession     = 256                  // of a session's name
	MaxBody        = 256 << 10            // of one KindBody message
	MaxAnswerBody  = 16 << 20             // of the body of an answer in all
	MaxQueuedBytes = 32 << 10             // of the calls that are queued behind another one, in all: they fit a socket
)

// Limits of the calls of one worker.
const (
	MaxLinks       = 256 // each takes a thread in either process
	MaxQueuedCalls = 8   // calls on one link, with the one under way
)

// sizeBounds bound the payload of a kind, in bytes.
type sizeBounds struct {
	name     string // empty: there is no such kind
	min, max int
}

var bounds = [...]sizeBounds{
	KindCall:   {"call", callSize, callSize + originSize + MaxSession + abi.MaxRequest},
	KindAnswer: {"answer", answerSize, answerSize + maxAnswer},
	KindCredit: {"credit", 4, 4},
	KindBody:   {"body", 1, MaxBody},

	KindFrame:   {"frame", 0, abi.MaxFrame},
	KindChunk:   {"chunk", 8, 8},
	KindAsk:     {"ask", 4, 4 + abi.MaxService},
	KindChanged: {"changed", 0, abi.MaxURI},
	KindLog:     {"log", logSize, maxLog},
	KindDone:    {"done", doneSize, doneSize + maxMessage + maxData + maxCause + 4*maxStack},

	KindSwitch: {"switch", 0, 0},

	KindStart:      {"start", 0, MaxPayload},
	KindNewLink:    {"new_link", 4, 4},
	KindCancel:     {"cancel", 12, 12},
	KindPause:      {"pause", 13, 13},
	KindEndSession: {"end_session", 1, MaxSession},

	KindReady:  {"ready", 0, MaxPayload},
	KindFailed: {"failed", doneSize, doneSize + maxMessage + maxData + maxCause + 4*maxStack},
	KindSealed: {"sealed", 0, 0},
}

// String returns the name of the kind, as in "new_link".
func (k Kind) String() string {
	if int(k) < len(bounds) && bounds[k].name != "" {
		return bounds[k].name
	}
	return fmt.Sprintf("kind_%d", uint8(k))
}

// check returns an error if a message of this kind may not have a payload of so many bytes.
func (k Kind) check(size int) error {
	if int(k) >= len(bounds) || bounds[k].name == "" {
		return Errorf("unknown message kind %d", uint8(k))
	}
	b := &bounds[k]
	if size < b.min {
		return Errorf("%v message of %d bytes, at least %d are needed", k, size, b.min)
	}
	if size > b.max {
		return tooLong(k.String()+" message", size, b.max)
	}
	return nil
}

// A header precedes each payload: its length as a little-endian number of four bytes, its kind, three zero bytes, and the
// number of the call it belongs to in eight bytes, 0 for none.
const headerSize = 16
