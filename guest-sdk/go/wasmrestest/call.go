package wasmrestest

import (
	"io"
	"time"
	"unicode/utf8"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// A call is the host of one running operation.
type call struct {
	p        *Provider
	request  []byte
	response []byte    // of the last service call
	bytes    []byte    // likewise
	cursors  [][][]any // rows of SQL that are yet to be asked for, by number less one
	reply    reply
	left     int64 // bytes contents may still have
	ends     time.Time
	bodies   []io.Reader // of HTTP, by the number of their stream less one
	ended    []func()    // what is to be done when the operation is over
	broken   error       // what the guest did wrong; it decides the outcome
}

func newCall(p *Provider, request []byte) *call {
	c := &call{p: p, request: request, left: p.MaxBody, ends: time.Now().Add(p.Deadline)}
	if p.MaxBody == 0 {
		c.left = 64 << 20
	}
	if p.Deadline == 0 {
		c.ends = time.Now().Add(time.Minute)
	}
	return c
}

// end gives the outcome of the call.
func (c *call) end(code uint32) (*reply, error) {
	switch {
	case c.broken != nil:
		return nil, c.broken
	case code != codeOK:
		err := c.reply.err
		err.Code = wasmres.Code(code)
		return nil, &err
	}
	for _, content := range c.reply.contents {
		if content.Text && !utf8.Valid(content.Data) {
			return nil, hostError(codeInvalidText, "a text content of "+content.URI+" is not UTF-8")
		}
	}
	return &c.reply, nil
}

func hostError(code uint32, message string) error {
	return &wasmres.Error{Code: wasmres.Code(code), Message: message}
}

// Take implements host.Host.
func (c *call) Take(channel uint32, dst []byte, off uint32) uint32 {
	src := map[uint32][]byte{channelRequest: c.request, channelResponse: c.response, channelBody: c.bytes}[channel]
	return uint32(copy(dst, src[min(int(off), len(src)):]))
}

// Emit implements host.Host.
func (c *call) Emit(frame []byte) int32 {
	if len(frame) > maxFrame || !c.reply.merge(string(frame)) {
		c.broken = hostError(codeProtocol, "malformed frame")
		return signalBadFrame
	}
	inline := 0
	for _, content := range c.reply.contents {
		inline += content.inline
	}
	return c.spend(int64(inline) - c.reply.counted)
}

// Body implements host.Host.
func (c *call) Body(p []byte) int32 {
	if len(c.reply.contents) == 0 {
		c.broken = hostError(codeProtocol, "body without content")
		return signalBadFrame
	}
	last := &c.reply.contents[len(c.reply.contents)-1]
	last.Data = append(last.Data, p...)
	return c.spend(int64(len(p)))
}

// spend takes n bytes from what contents may have.
func (c *call) spend(n int64) int32 {
	if c.left -= n; c.left < 0 {
		c.broken = wasmres.ErrTooLarge
		return signalTooLarge
	}
	return signalMore
}

// Log implements host.Host.
func (c *call) Log(level uint32, message string) {
	name, ok := map[uint32]string{logDebug: "debug", logInfo: "info", logWarn: "warn", logError: "error"}[level]
	if !ok {
		name = "debug"
	}
	c.p.Logs = append(c.p.Logs, Log{name, message})
	c.p.t.Logf("provider: %s: %s", name, message)
}

// Info implements host.Host.
func (c *call) Info(id uint32) int64 {
	switch id {
	case infoWallTime:
		return c.p.now().UnixNano()
	case infoMonotonic:
		return time.Now().UnixNano()
	case infoDeadline:
		return max(int64(time.Until(c.ends)), 0)
	case infoMaxBody:
		return c.left
	case infoServices:
		return c.p.KV.granted() | 1<<serviceConfig | 1<<serviceNotifyUpdated | 1<<serviceNotifyList |
			1<<serviceHTTP | 1<<serviceStream | 1<<serviceSQL | 1<<serviceSQLRows |
			1<<serviceFileStat | 1<<serviceFileRead | 1<<serviceFileList | 1<<serviceFileWrite | 1<<serviceFileRemove
	}
	return 0
}
