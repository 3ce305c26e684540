package wasmrestest

import (
	"strings"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// listMax is how many entries one answer holds.
const listMax = 256

// A serviceRequest is what any of the services may be asked.
type serviceRequest struct {
	name           string // key, URI or path
	number         uint64 // of a stream
	offset, length uint64
	after          string
	data           string
	appends        bool
}

func decodeService(s string) (q serviceRequest, ok bool) {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return q, false
		}
		switch f.Num {
		case 1:
			q.name, q.number = f.Text, f.Bits
		case 2:
			q.offset = f.Bits
		case 3:
			q.length = f.Bits
		case 4:
			q.after = f.Text
		case 5:
			q.data = f.Text
		case 6:
			q.appends = f.Bits != 0
		}
		s = rest
	}
	return q, true
}

// Call implements host.Host.
func (c *call) Call(service uint32, request []byte) (code, size uint32) {
	c.response, c.bytes = nil, nil
	switch service {
	case serviceKVGet, serviceKVPut, serviceKVDelete, serviceKVList:
		return c.answer(c.kv(service, string(request)))
	case serviceSQL, serviceSQLRows:
		return c.answer(c.sql(service, string(request)))
	case serviceHTTP:
		return c.answer(c.fetch(string(request)))
	}
	q, ok := decodeService(string(request))
	if !ok {
		return codeInvalidParams, 0
	}
	switch service {
	case serviceConfig:
		value, ok := c.p.Config[q.name]
		if name, isEnv := strings.CutPrefix(q.name, "env:"); isEnv {
			value, ok = c.p.Env[name]
		}
		if !ok {
			return codeNotFound, 0
		}
		c.response = wire.AppendString(nil, 1, value)
	case serviceNotifyUpdated:
		c.p.Notices = append(c.p.Notices, q.name)
	case serviceNotifyList:
		c.p.Notices = append(c.p.Notices, "")
	case serviceFileStat, serviceFileRead, serviceFileList:
		return c.answer(fileCode(c.file(service, q)))
	case serviceFileWrite, serviceFileRemove:
		return c.answer(c.change(service, q))
	case serviceStream:
		return c.answer(c.stream(q.number))
	default:
		return codeUnsupported, 0
	}
	return c.answer(codeOK)
}

// answer gives what the provider gets with a code: nothing, unless that is ok.
func (c *call) answer(code uint32) (_, size uint32) {
	if code != codeOK {
		c.response, c.bytes = nil, nil
	}
	return code, uint32(len(c.response))
}
