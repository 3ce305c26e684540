package mcp

import (
	"bytes"
	"fmt"

	"github.com/wasmres/wasmres/abi"
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
)

// params are the parameters of any method, each not decoded yet, and nil when absent.
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
	malformed                    string // what is wrong with all of them; empty for nothing
	others                       bool   // there are some that are none of these
}

// parse splits the params of a message.
func (p *params) parse(raw []byte) {
	switch {
	case isNull(raw):
	case !pick(raw, p.set):
		p.malformed = "params is not an object, or names something twice"
	case !isNull(p.meta) && !pick(p.meta, p.setMeta):
		p.malformed = "params._meta is not an object, or names something twice"
	}
}

func (p *params) set(name, value []byte) (once bool) {
	switch string(name) {
	case "_meta":
		return put(&p.meta, value)
	case "uri":
		return put(&p.uri, value)
	case "cursor":
		return put(&p.cursor, value)
	case "ref":
		return put(&p.ref, value)
	case "argument":
		return put(&p.argument, value)
	case "context":
		return put(&p.context, value)
	case "name":
		return put(&p.name, value)
	case "arguments":
		return put(&p.arguments, value)
	case "notifications":
		return put(&p.notifications, value)
	case "requestId":
		return put(&p.requestID, value)
	case "protocolVersion":
		return put(&p.protocolVersion, value)
	}
	p.others = true
	return true
}

func (p *params) setMeta(name, value []byte) (once bool) {
	switch string(name) {
	case metaVersion:
		return put(&p.version, value)
	case metaCapabilities:
		return put(&p.capabilities, value)
	case metaLogLevel:
		return put(&p.logLevel, value)
	case metaWindow:
		return put(&p.window, value)
	case metaProgress:
		return put(&p.token, value)
	}
	return true
}

// guestMeta gives what of _meta concerns guests, as a JSON object: all but the keys that belong to the protocol. It is
// empty when nothing is left, or more than a guest takes.
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

// isForHost reports whether a key of a request's _meta is kept from guests.
func isForHost(key []byte) bool { return string(key) == metaProgress || abi.IsReservedMeta(key) }

// pick hands the fields of the object raw to set, which tells whether it has not had that one before. It reports whether
// raw is an object without such.
func pick(raw []byte, set func(name, value []byte) (once bool)) bool {
	if !isObject(raw) {
		return false
	}
	end, once := pickFields(raw, set)
	return once && end == len(raw)
}

// pickFields is pick for what begins like an object. It gives the end of it, too, or -1.
func pickFields(raw []byte, set func(name, value []byte) (once bool)) (end int, once bool) {
	once = true
	end = eachField(raw, 0, maxDepth, func(name, value []byte) {
		if !set(fieldName(name), value) {
			once = false
		}
	})
	return end, once
}

// put sets a field that was not set before. A nil field is nobody's.
func put(field *[]byte, value []byte) (once bool) {
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
