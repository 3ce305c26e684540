package guest

import (
	"errors"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

// Emit takes one frame from the guest and returns whether the guest may continue. It does not retain the frame.
func (c *Call) Emit(frame []byte) abi.Signal {
	if sig := c.signal(); sig != abi.SignalMore {
		return sig
	}
	before, bodies := len(c.reply.Resources), c.bytes
	if err := c.merger.Merge(frame); err != nil {
		return c.Fail(err)
	}
	if c.reports.seen > c.host.Limits.HostCalls {
		return c.Fail(c.host.HostCallsError())
	}
	c.PassProgress()
	if c.frameBytes += uint64(len(frame)) - (c.bytes - bodies); c.frameBytes > c.maxFrames {
		return c.Fail(tooLarge(c.maxFrames))
	}
	for i := before; i < len(c.reply.Resources); i++ {
		r := &c.reply.Resources[i]
		if err := errors.Join(r.Check(), c.checkPrefix(r.URI)); err != nil {
			return c.Fail(err)
		}
		c.weight += r.Weight()
	}
	if err := c.reserve(); err != nil {
		return c.Fail(err)
	}
	if limit := c.Request.Limit; limit > 0 && len(c.reply.Resources) >= int(limit) {
		return abi.SignalEnough
	}
	return abi.SignalMore
}

// stride is how many bytes of a reply are reserved at once.
const stride = 64 << 10

// reserve reserves the memory of the reply, if the memory of the answer is counted.
func (c *Call) reserve() error {
	if c.weight <= max(c.reserved, inflight.Free) {
		return nil
	}
	more := max(c.weight-c.reserved, stride)
	if !inflight.Of(c.ctx).Take(more) {
		return inflight.Busy(c.host.Limits.Timeout)
	}
	c.reserved += more
	return nil
}

// An emission is the side of a call that takes contents out of a frame.
type emission struct{ call *Call }

// Content implements [abi.Emission].
func (e emission) Content(content *abi.Content) error {
	c := e.call
	if c.sink == nil {
		return abi.Errorf(abi.CodeProtocol, "%s has no contents", c.Op)
	}
	if c.contents >= c.host.Limits.Items {
		return abi.Errorf(abi.CodeTooMany, "more than %d contents", c.host.Limits.Items)
	}
	if err := errors.Join(content.Check(), c.checkPrefix(content.URI)); err != nil {
		return err
	}
	content.Size = max(content.Size, uint64(len(content.Inline)))
	if content.Size > c.host.Limits.Output {
		return tooLarge(c.host.Limits.Output)
	}
	c.contents++
	c.kind = content.Kind
	if err := c.sink.Content(content); err != nil {
		return err
	}
	if len(content.Inline) == 0 {
		return nil
	}
	return c.push(content.Inline)
}

// Body takes bytes of the content last begun and returns whether the guest may continue. It does not retain p.
func (c *Call) Body(p []byte) abi.Signal {
	if sig := c.signal(); sig != abi.SignalMore {
		return sig
	}
	if c.kind == abi.KindNone {
		return c.Fail(abi.Errorf(abi.CodeProtocol, "body without a content to belong to"))
	}
	if err := c.push(p); err != nil {
		return c.Fail(err)
	}
	return abi.SignalMore
}

func (c *Call) push(p []byte) error {
	c.bytes += uint64(len(p))
	if c.bytes > c.host.Limits.Output {
		return tooLarge(c.host.Limits.Output)
	}
	err := c.sink.Body(p)
	c.extend()
	if err != nil || c.clientTime() < slow {
		return err
	}
	return c.checkSlow()
}

func tooLarge(most uint64) error {
	return abi.Errorf(abi.CodeTooLarge, "the result has more than %d bytes", most)
}

// signal returns whether the guest may continue.
func (c *Call) signal() abi.Signal {
	switch {
	case c.failure != nil:
		return signalOf(c.failure)
	case !c.serving:
		return c.Fail(abi.Errorf(abi.CodeProtocol, "nothing can be emitted while the module initialises"))
	}
	return abi.SignalMore
}

// Fail sets the error of the call, unless there is one already.
func (c *Call) Fail(err error) abi.Signal {
	if c.failure == nil {
		c.failure = err
	}
	return signalOf(c.failure)
}

func signalOf(err error) abi.Signal {
	switch abi.CodeOf(err) {
	case abi.CodeTooLarge, abi.CodeTooMany:
		return abi.SignalTooLarge
	case abi.CodeCancelled:
		return abi.SignalCancelled
	case abi.CodeDeadline:
		return abi.SignalDeadline
	}
	return abi.SignalBadFrame
}

func (c *Call) checkPrefix(uri string) error { return checkPrefix(c.host.manifest, uri) }

// checkPrefix refuses URIs outside of the prefixes of the manifest.
func checkPrefix(manifest *abi.Manifest, uri string) error {
	prefixes := manifest.URIPrefixes
	for _, p := range prefixes {
		if strings.HasPrefix(uri, p) {
			return nil
		}
	}
	if len(prefixes) == 0 {
		return nil
	}
	return abi.Errorf(abi.CodeInvalidURI, "the URI is outside what the provider's manifest claims")
}
