package guest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// A Tape has what the services answered to the guest in one call, or while it started, in the order of the calls. It
// belongs to the goroutine of the call.
type Tape struct {
	Exchanges []Exchange
	Cut       bool // the answers beyond the bound are missing

	left int // bytes that fit
}

// An Exchange is one call of a service and its answer. Notices are none.
type Exchange struct {
	Service  abi.Service
	Request  []byte   // a message of the ABI
	Code     abi.Code // abi.CodeOK, or why there is no Response
	Response []byte   // a message of the ABI
	Body     []byte   // beside the response
	Again    int      // how often the same call had the same answer, one after the other, after this one
}

// isSame reports whether a call and its answer are those of x.
func (x *Exchange) isSame(id abi.Service, request []byte, resp capability.Response, code abi.Code) bool {
	return x.Service == id && x.Code == code && bytes.Equal(x.Request, request) && bytes.Equal(x.Response, resp.Message) && bytes.Equal(x.Body, resp.Body)
}

// exchangeCost is what an Exchange takes beside its bytes, about.
const exchangeCost = 128

// maxTape bounds what a Tape holds, in bytes.
const maxTape = 2 << 20

// newTape makes a Tape; nil unless the calls of h have one.
func (h *Host) newTape() *Tape {
	if !h.Records && !h.Tapes {
		return nil
	}
	return &Tape{left: maxTape}
}

// add adds an answer, if it fits.
func (t *Tape) add(id abi.Service, request []byte, resp capability.Response, code abi.Code) {
	if id == abi.ServiceNotifyUpdated || id == abi.ServiceNotifyList || t.Cut {
		return
	}
	if n := len(t.Exchanges); n > 0 && t.Exchanges[n-1].isSame(id, request, resp, code) {
		t.Exchanges[n-1].Again++
		return
	}
	size := exchangeCost + len(request) + len(resp.Message) + len(resp.Body)
	if size > t.left {
		t.Cut = true
		return
	}
	t.left -= size
	t.Exchanges = append(t.Exchanges, Exchange{
		Service: id, Request: slices.Clone(request), Code: code, Response: slices.Clone(resp.Message), Body: slices.Clone(resp.Body),
	})
}

// BeginTape has the call begin now, with random numbers of its own, if the calls of the host are recorded: the guest sees the same
// whether its call is kept or not. With keep the call has a [Tape] of what the services answer, unless the calls of the host have none.
// It is called before the call begins.
func (c *Call) BeginTape(keep bool) {
	if keep {
		c.tape = c.host.newTape()
	}
	if c.host.Records {
		c.origin = Origin{Time: time.Now(), Seed: rand.Uint64()}
	}
}

// RewindTape forgets what the services answered, for a call that begins again in another process.
func (c *Call) RewindTape() {
	if c.tape != nil {
		c.tape = c.host.newTape()
	}
}

// SetStart sets what the services answered while the guest started in which the call runs; nil if it is not known.
func (c *Call) SetStart(t *Tape) { c.start = t }

// Tapes returns what the services answered in the call, and while the guest started. Both are nil unless the call is
// recorded.
func (c *Call) Tapes() (call, start *Tape) { return c.tape, c.start }

// Interrupt notes that the runner has stopped the guest because of what the host had found, wherever the guest was by then.
func (c *Call) Interrupt() { c.interrupted = true }

// IsInterrupted reports whether Interrupt was called.
func (c *Call) IsInterrupted() bool { return c.interrupted }
