package abitest

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
)

// A Content is one content of a read with all its bytes.
type Content struct {
	abi.Content // without Inline
	Body        []byte
}

// An Exchange is the host's side of one operation: what the imports of the ABI do, for bytes instead of pointers. It is
// a plain host without mercy: the first thing a guest does wrong is kept. It belongs to one goroutine.
type Exchange struct {
	// Fixed before the operation starts.
	Request []byte
	Limit   uint32            // SignalEnough once as many entries are emitted; 0 for never
	MaxBody uint64            // bytes of all bodies; 0 for no bound
	Memory  uint64            // bytes of linear memory that do for the guest; 0 for no bound
	Config  map[string]string // what service 1 answers; nil denies it

	// Services answers other services; those without an entry are denied.
	Services map[abi.Service]Service

	reply    abi.Reply
	contents []Content
	progress []abi.Progress
	response []byte // to the last service call
	body     []byte // beside response
	boast    int    // how many bytes more than response has are told of it
	tooLarge bool
	failure  error // the first violation of the ABI
}

// A Service answers a request, at most [abi.MaxService] bytes, with a message and the bytes beside it. Of an error the
// guest gets the code: see [abi.CodeOf].
type Service func(request []byte) (message, body []byte, err error)

// Take answers the import take: it copies bytes of a channel, from off on, to dst and says how many.
func (x *Exchange) Take(channel uint32, dst []byte, off uint32) uint32 {
	var src []byte
	switch channel {
	case abi.ChannelRequest:
		src = x.Request
	case abi.ChannelResponse:
		src = x.response
	case abi.ChannelBody:
		src = x.body
	default:
		x.fail(fmt.Errorf("take of the unknown channel %d", channel))
	}
	return uint32(copy(dst, src[min(uint64(off), uint64(len(src))):]))
}

// Emit answers the import emit.
func (x *Exchange) Emit(frame []byte) abi.Signal {
	if sig := x.signal(); sig != abi.SignalMore {
		return sig
	}
	const maxItems = 1000
	before := len(x.reply.Resources)
	if err := x.reply.Merge(frame, maxItems, emission{x}); err != nil {
		return x.fail(err)
	}
	for i := range x.reply.Resources[before:] {
		if err := x.reply.Resources[before+i].Check(); err != nil {
			return x.fail(err)
		}
	}
	if x.Limit > 0 && len(x.reply.Resources) >= int(x.Limit) && x.signal() == abi.SignalMore {
		return abi.SignalEnough
	}
	return x.signal()
}

// emission keeps the methods of abi.Emission off Exchange.
type emission struct{ x *Exchange }

func (e emission) Content(c *abi.Content) error {
	if err := c.Check(); err != nil {
		return err
	}
	e.x.contents = append(e.x.contents, Content{Content: *c})
	e.x.contents[len(e.x.contents)-1].Inline = nil
	e.x.push(c.Inline)
	return nil
}

func (e emission) Progress(p abi.Progress) { e.x.progress = append(e.x.progress, p) }

func (e emission) Continue() error { return nil }

// Body answers the import body.
func (x *Exchange) Body(p []byte) abi.Signal {
	switch {
	case x.signal() != abi.SignalMore:
	case len(x.contents) == 0 || x.contents[len(x.contents)-1].Kind == abi.KindNone:
		x.fail(errors.New("body without a content to belong to"))
	default:
		x.push(p)
	}
	return x.signal()
}

func (x *Exchange) push(p []byte) {
	var total uint64
	for _, c := range x.contents {
		total += uint64(len(c.Body))
	}
	if x.MaxBody > 0 && total+uint64(len(p)) > x.MaxBody {
		x.tooLarge = true
		return
	}
	last := &x.contents[len(x.contents)-1]
	last.Body = append(last.Body, p...)
}

// Call answers the import call.
func (x *Exchange) Call(service uint32, request []byte) uint64 {
	x.response, x.body = nil, nil
	message, body, err := x.serve(abi.Service(service), request)
	if err != nil {
		return uint64(abi.CodeOf(err)) << 32
	}
	x.response, x.body = message, body
	return uint64(len(message) + x.boast)
}

func (x *Exchange) serve(service abi.Service, request []byte) (message, body []byte, err error) {
	serve := x.Services[service]
	if service == abi.ServiceConfig && x.Config != nil {
		serve = x.config
	}
	switch {
	case serve == nil:
		return nil, nil, &abi.Error{Code: abi.CodeDenied}
	case len(request) > abi.MaxService:
		x.fail(fmt.Errorf("a request of %d bytes to service %d", len(request), service))
		return nil, nil, &abi.Error{Code: abi.CodeTooLarge}
	}
	return serve(request)
}

func (x *Exchange) config(request []byte) (message, body []byte, err error) {
	var req abi.ConfigRequest
	if err := req.Decode(request); err != nil {
		x.fail(fmt.Errorf("service %d: %w", abi.ServiceConfig, err))
		return nil, nil, &abi.Error{Code: abi.CodeInvalidParams}
	}
	value, ok := x.Config[req.Key]
	if !ok {
		return nil, nil, &abi.Error{Code: abi.CodeNotFound}
	}
	return (&abi.ConfigResponse{Value: value}).Append(nil), nil, nil
}

// Log answers the import log. It only checks the level.
func (x *Exchange) Log(level uint32, _ []byte) {
	if level > abi.LogError {
		x.fail(fmt.Errorf("log with the unknown level %d", level))
	}
}

// Info answers the import info.
func (x *Exchange) Info(id uint32) uint64 {
	switch id {
	case abi.InfoWallTime, abi.InfoMonotonic:
		return uint64(time.Now().UnixNano())
	case abi.InfoDeadline:
		return uint64(time.Minute)
	case abi.InfoMinor:
		return abi.Minor
	case abi.InfoMaxBody:
		if x.MaxBody == 0 {
			return math.MaxInt64
		}
		return x.MaxBody
	case abi.InfoServices:
		return x.granted()
	}
	return 0
}

// granted returns the bits of the services there are.
func (x *Exchange) granted() (bits uint64) {
	for service := range x.Services {
		bits |= 1 << service
	}
	if x.Config != nil {
		bits |= 1 << abi.ServiceConfig
	}
	return bits
}

func (x *Exchange) fail(err error) abi.Signal {
	if x.failure == nil {
		x.failure = err
	}
	return abi.SignalBadFrame
}

func (x *Exchange) signal() abi.Signal {
	switch {
	case x.failure != nil:
		return abi.SignalBadFrame
	case x.tooLarge:
		return abi.SignalTooLarge
	}
	return abi.SignalMore
}

// An Outcome is what an operation came to.
type Outcome struct {
	Code     abi.Code
	Reply    abi.Reply
	Contents []Content
	Progress []abi.Progress
}

// Outcome ends the operation with what the guest returned. The error is the first rule the guest broke.
func (x *Exchange) Outcome(status uint32) (Outcome, error) {
	o := Outcome{Code: abi.Code(status), Reply: x.reply, Contents: x.contents, Progress: x.progress}
	switch {
	case x.failure != nil:
		return o, x.failure
	case abi.FromGuest(status) != o.Code:
		return o, fmt.Errorf("status %d, which no guest may answer", status)
	case o.Code == abi.CodeOK && x.tooLarge:
		return o, errors.New("status 0 though the host signalled that the result is too large")
	case o.Code == abi.CodeOK && x.reply.Error != nil:
		return o, errors.New("status 0 and yet an error emitted")
	}
	if o.Code != abi.CodeOK {
		o.Reply, o.Contents = abi.Reply{Error: x.reply.Error}, nil
	}
	for _, c := range o.Contents {
		if c.Kind == abi.KindText && !utf8.Valid(c.Body) {
			return o, fmt.Errorf("the text of %s is not UTF-8", c.URI)
		}
		if c.Size != 0 && c.Size != uint64(len(c.Body)) {
			return o, fmt.Errorf("the content of %s says %d bytes and has %d", c.URI, c.Size, len(c.Body))
		}
	}
	return o, nil
}
