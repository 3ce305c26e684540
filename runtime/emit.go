package runtime

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// channel gives what the guest may take.
func (c *call) channel(id uint32) []byte {
	switch id {
	case abi.ChannelRequest:
		return c.request
	case abi.ChannelResponse:
		return c.response.Message
	case abi.ChannelBody:
		return c.response.Body
	}
	return nil
}

// emit takes one frame of the guest's.
func (c *call) emit(frame []byte) abi.Signal {
	if sig := c.signal(); sig != abi.SignalMore {
		return sig
	}
	before, bodies := len(c.reply.Resources), c.bytes
	if err := c.merger.Merge(frame); err != nil {
		return c.fail(err)
	}
	if c.framed += uint64(len(frame)) - (c.bytes - bodies); c.framed > c.module.cfg.Limits.Output {
		return c.fail(c.tooLarge())
	}
	for i := before; i < len(c.reply.Resources); i++ {
		r := &c.reply.Resources[i]
		if err := errors.Join(r.Check(), c.checkPrefix(r.URI)); err != nil {
			return c.fail(err)
		}
	}
	if c.limit > 0 && len(c.reply.Resources) >= int(c.limit) {
		return abi.SignalEnough
	}
	return abi.SignalMore
}

// An emission is the side of a call that takes contents out of a frame.
type emission struct{ call *call }

// Content implements [abi.Emission].
func (e emission) Content(content *abi.Content) error {
	c := e.call
	if c.sink == nil {
		return abi.Errorf(abi.CodeProtocol, "%s has no contents", c.op)
	}
	if c.contents >= c.module.cfg.Limits.Items {
		return abi.Errorf(abi.CodeTooMany, "more than %d contents", c.module.cfg.Limits.Items)
	}
	if err := errors.Join(content.Check(), c.checkPrefix(content.URI)); err != nil {
		return err
	}
	if content.Size > c.module.cfg.Limits.Output {
		return c.tooLarge()
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

// Progress implements [abi.Emission].
func (e emission) Progress(p abi.Progress) {
	if e.call.sink != nil {
		e.call.sink.Progress(p)
	}
}

// body takes bytes of the content last begun.
func (c *call) body(p []byte) abi.Signal {
	if sig := c.signal(); sig != abi.SignalMore {
		return sig
	}
	if c.kind == abi.KindNone {
		return c.fail(abi.Errorf(abi.CodeProtocol, "body without a content to belong to"))
	}
	if err := c.push(p); err != nil {
		return c.fail(err)
	}
	return abi.SignalMore
}

func (c *call) push(p []byte) error {
	c.bytes += uint64(len(p))
	if c.bytes > c.module.cfg.Limits.Output {
		return c.tooLarge()
	}
	return c.sink.Body(p)
}

func (c *call) tooLarge() error {
	return abi.Errorf(abi.CodeTooLarge, "the result has more than %d bytes", c.module.cfg.Limits.Output)
}

// signal says whether the guest may go on.
func (c *call) signal() abi.Signal {
	switch {
	case c.failure != nil:
		return signalOf(c.failure)
	case !c.serving:
		return c.fail(abi.Errorf(abi.CodeProtocol, "nothing can be emitted while the module initialises"))
	}
	return abi.SignalMore
}

// fail notes the first failure, which is the outcome of the call whatever the guest does next.
func (c *call) fail(err error) abi.Signal {
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

func (c *call) checkPrefix(uri string) error { return checkPrefix(c.module.manifest, uri) }

// checkPrefix holds a guest to the URIs its manifest claims.
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

// service answers a service call and keeps the response to be taken.
func (c *call) service(ctx context.Context, id abi.Service, request []byte) abi.Code {
	c.response = capability.Response{}
	if !c.serving || c.op == abi.OpDescribe || len(request) > abi.MaxService {
		return abi.CodeDenied
	}
	c.waited = true
	resp, err := c.serve(ctx, id, request)
	if err != nil {
		c.logRefusal(ctx, id, err)
		return min(abi.CodeOf(err), abi.CodeInternal)
	}
	c.response = resp
	return abi.CodeOK
}

// logRefusal takes its line from the guest's budget, since guests can ask again and again.
func (c *call) logRefusal(ctx context.Context, id abi.Service, err error) {
	log := c.module.cfg.Logger
	if !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	if cause := clip(err); c.spend(len(cause.Error()), 1) {
		log.DebugContext(ctx, "service refused", "service", uint32(id), "code", abi.CodeOf(err).String(), "err", cause)
	}
}

func (c *call) serve(ctx context.Context, id abi.Service, request []byte) (capability.Response, error) {
	switch id {
	case abi.ServiceNotifyUpdated:
		return capability.Response{}, c.notifyUpdated(request)
	case abi.ServiceNotifyList:
		c.module.notify("")
		return capability.Response{}, nil
	}
	granted, ok := c.module.cfg.Services[id]
	if !ok {
		return capability.Response{}, abi.Errorf(abi.CodeDenied, "service %d is not granted", id)
	}
	return granted.Call(ctx, request)
}

func (c *call) notifyUpdated(request []byte) error {
	var req abi.NotifyRequest
	if err := req.Decode(request); err != nil {
		return err
	}
	if err := abi.CheckURI(req.URI); err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "%v", err)
	}
	if err := c.checkPrefix(req.URI); err != nil {
		return err
	}
	c.module.notify(req.URI)
	return nil
}

func (m *Module) notify(uri string) {
	if m.cfg.Notify != nil {
		m.cfg.Notify(uri)
	}
}

// services is the bitmap of services a guest may call.
func (m *Module) services() uint64 {
	bits := uint64(1)<<abi.ServiceNotifyUpdated | uint64(1)<<abi.ServiceNotifyList
	for id := range m.cfg.Services {
		bits |= 1 << id
	}
	return bits
}
