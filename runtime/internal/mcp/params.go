package mcp

import (
	"bytes"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/trace"
)

// Keys of _meta.
const (
	reservedMeta     = "io.modelcontextprotocol/"
	metaVersion      = reservedMeta + "protocolVersion"
	metaCapabilities = reservedMeta + "clientCapabilities"
	metaLogLevel     = reservedMeta + "logLevel"
	metaServer       = reservedMeta + "serverInfo"
	metaSubscription = reservedMeta + "subscriptionId"
	metaProgress     = "progressToken"
	metaTraceParent  = "traceparent"
	metaTraceState   = "tracestate"
)

// params are the parameters of any method, not decoded; nil when absent.
type params struct {
	uri, cursor                  []byte // lists, reads
	ref, argument, context       []byte // completion/complete
	name, arguments              []byte // tools/call
	notifications                []byte // subscriptions/listen
	requestID                    []byte // notifications/cancelled
	protocolVersion              []byte // initialize
	meta                         []byte
	window                       []byte // of meta
	version, capabilities, token []byte // of meta
	logLevel                     []byte // of meta
	traceparent, tracestate      []byte // of meta
	malformed                    string // what is wrong with the parameters as a whole; empty if nothing is
	others                       bool   // there are further parameters
}

// parse splits the params of a message.
func (p *params) parse(raw []byte) {
	switch {
	case isNull(raw):
	case !parseObject(raw, p.set):
		p.malformed = "params is not an object, or names something twice"
	case !isNull(p.meta) && !parseObject(p.meta, p.setMeta):
		p.malformed = "params._meta is not an object, or names something twice"
	}
}

func (p *params) set(name, value []byte) (once bool) {
	switch string(name) {
	case "_meta":
		return setOnce(&p.meta, value)
	case "uri":
		return setOnce(&p.uri, value)
	case "cursor":
		return setOnce(&p.cursor, value)
	case "ref":
		return setOnce(&p.ref, value)
	case "argument":
		return setOnce(&p.argument, value)
	case "context":
		return setOnce(&p.context, value)
	case "name":
		return setOnce(&p.name, value)
	case "arguments":
		return setOnce(&p.arguments, value)
	case "notifications":
		return setOnce(&p.notifications, value)
	case "requestId":
		return setOnce(&p.requestID, value)
	case "protocolVersion":
		return setOnce(&p.protocolVersion, value)
	}
	p.others = true
	return true
}

func (p *params) setMeta(name, value []byte) (once bool) {
	switch string(name) {
	case metaVersion:
		return setOnce(&p.version, value)
	case metaCapabilities:
		return setOnce(&p.capabilities, value)
	case metaLogLevel:
		return setOnce(&p.logLevel, value)
	case metaWindow:
		return setOnce(&p.window, value)
	case metaProgress:
		return setOnce(&p.token, value)
	case metaTraceParent:
		return setOnce(&p.traceparent, value)
	case metaTraceState:
		return setOnce(&p.tracestate, value)
	}
	return true
}

// traceParent returns the span of the client that _meta names; empty texts for none.
func (p *params) traceParent() (parent trace.Parent) {
	parent.TraceParent, _ = unquote(p.traceparent)
	parent.TraceState, _ = unquote(p.tracestate)
	return parent
}

// guestMeta returns the members of _meta for guests, as a JSON object without the keys of the protocol. It is empty if
// there are none, or if they are larger than a guest accepts.
func (p *params) guestMeta() string {
	if isNull(p.meta) {
		return ""
	}
	var b []byte
	eachField(p.meta, 0, maxDepth, func(name, value []byte) {
		if key := fieldName(name); isForHost(key) {
			return
		}
		b = append(b, ',')
		b = append(b, name...)
		b = append(b, ':')
		b = append(b, value...)
	})
	if len(b) == 0 {
		return ""
	}
	b[0] = '{'
	rest := string(append(b, '}'))
	if abi.CheckJSONObject("_meta", rest) != nil {
		return ""
	}
	return rest
}

// isForHost reports whether guests must not see a key of a request's _meta.
func isForHost(key []byte) bool { return string(key) == metaProgress || abi.IsReservedMeta(key) }

// parseObject calls set for each field of raw; set reports whether the field was unset before. parseObject reports whether
// raw is an object that sets no field twice.
func parseObject(raw []byte, set func(name, value []byte) (once bool)) bool {
	if !isObject(raw) {
		return false
	}
	end, once := pickFields(raw, set)
	return once && end == len(raw)
}

// pickFields calls set for each field of raw, which begins like an object. It returns the end of the object, or -1, and
// whether every call of set reported true.
func pickFields(raw []byte, set func(name, value []byte) (once bool)) (end int, once bool) {
	once = true
	end = eachField(raw, 0, maxDepth, func(name, value []byte) {
		if !set(fieldName(name), value) {
			once = false
		}
	})
	return end, once
}

// setOnce sets a field, and reports whether it was not set before. A nil field takes nothing.
func setOnce(field *[]byte, value []byte) (once bool) {
	if field == nil {
		return true
	}
	once = *field == nil
	*field = value
	return once
}

// fieldName decodes the name of a field.
func fieldName(name []byte) []byte {
	if bytes.IndexByte(name, '\\') < 0 {
		return name[1 : len(name)-1]
	}
	decoded, _ := unquote(name)
	return []byte(decoded)
}

// required decodes a string parameter that must be there.
func required(what string, value []byte) (string, error) {
	if value == nil {
		return "", invalidParams("%s is missing", what)
	}
	s, ok := unquote(value)
	if !ok {
		return "", invalidParams("%s is not a string", what)
	}
	return s, nil
}

// optional decodes a string parameter that may be absent.
func optional(what string, value []byte) (string, error) {
	if isNull(value) {
		return "", nil
	}
	return required(what, value)
}

// invalidParams is the error for parameters that break the rules of their method.
func invalidParams(format string, args ...any) *Error {
	return &Error{
		Code: CodeInvalidParams, Message: "Invalid params: " + fmt.Sprintf(format, args...),
		Data: []byte(`{"code":"invalid_params"}`),
	}
}
