package capability

import (
	"context"

	"github.com/wasmres/wasmres/abi"
)

// A Service answers one kind of service call. It is safe for concurrent use, checks its grant itself, bounds its answers,
// and returns soon after ctx has ended.
type Service interface {
	// Call answers an encoded request, which is valid until Call returns. The caller owns the response. Of an error the
	// guest sees only the code, by [abi.CodeOf].
	Call(ctx context.Context, request []byte) (Response, error)
}

// An Immediate service answers from memory, or its caller bounds it: its Call never waits for a file, a server or another
// call. The runtime calls it on the goroutine of the guest, without a time limit. It calls all other services on a
// goroutine of their own, and stops waiting for that soon after the deadline of the guest's call.
type Immediate interface {
	Service
	// Immediate does nothing: it marks the type.
	Immediate()
}

// A Repeatable is a [Service] with requests that cannot change anything. The host repeats the call of a guest, as when its
// process has ended, only if all requests of that call may be answered again.
type Repeatable interface {
	Service
	// MayRepeat reports whether answering request cannot change anything, here or elsewhere. The host calls it before
	// Call. It must not keep request.
	MayRepeat(request []byte) bool
}

// A Response is what the guest receives: a message and, of some services, bytes besides.
type Response struct {
	Message []byte
	Body    []byte
}

// Services are what a provider may call. Calls of absent ones are denied. They are a [Capability] with nothing to close.
type Services map[abi.Service]Service

// Services implements [Capability].
func (s Services) Services() Services { return s }

// Close implements [Capability]. It does nothing.
func (Services) Close() error { return nil }

// Config is the capability to read configuration values by key.
type Config map[string]string

// Immediate implements [Immediate].
func (c Config) Immediate() {}

// MayRepeat implements [Repeatable].
func (Config) MayRepeat([]byte) bool { return true }

// Call implements [Service] for [abi.ServiceConfig].
func (c Config) Call(_ context.Context, request []byte) (Response, error) {
	var req abi.ConfigRequest
	if err := req.Decode(request); err != nil {
		return Response{}, err
	}
	value, ok := c[req.Key]
	if !ok {
		return Response{}, abi.Errorf(abi.CodeNotFound, "no configuration value %.64q", req.Key)
	}
	return Response{Message: (&abi.ConfigResponse{Value: value}).Append(nil)}, nil
}
