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
	version, capabilities, token []byte // of meta
	malformed                    string // what is wrong with all of them; empty for nothing
}

// parse splits the params of a message.
func (p *params) parse(raw []byte) {
	switch {
	case isNull(raw):
	case !pick(raw, p.field):
		p.malformed = "params is not an object, or names something twice"
	case !isNull(p.meta) && !pick(p.meta, p.metaField):
		p.malformed = "params._meta is not an object, or names something twice"
	}
}

func (p *params) field(name []byte) *[]byte {
	switch string(name) {
	case "_meta":
		return &p.meta
	case "uri":
		return &p.uri
	case "cursor":
		return &p.cursor
	case "ref":
		return &p.ref
	case "argument":
		return &p.argument
	case "context":
		return &p.context
	case "name":
		return &p.name
	case "arguments":
		return &p.arguments
	case "notifications":
		return &p.notifications
	case "requestId":
		return &p.requestID
	case "protocolVersion":
		return &p.protocolVersion
	}
	return nil
}

func (p *params) metaField(name []byte) *[]byte {
	switch string(name) {
	case metaVersion:
		return &p.version
	case metaCapabilities:
		return &p.capabilities
	case metaProgress:
		return &p.token
	}
	return nil
}

// guestMeta gives what of _meta concerns guests, as a JSON object: all but the keys that belong to the protocol. It is
// empty when nothing is left, or more than a guest takes.
func (p *params) guestMeta() string {
	if isNull(p.meta) {
		return ""
	}
	var b []byte
	eachField(p.meta, 0, maxDepth, func(name, value []byte) {
		if key := fieldName(name); bytes.HasPrefix(key, []byte(reservedMeta)) || string(key) == metaProgress {
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

// pick stores the values of the object raw where fieldOf says, nil meaning nowhere. It reports whether raw is an object
// that names each of those at most once.
func pick(raw []byte, fieldOf func(name []byte) *[]byte) bool {
	if !isObject(raw) {
		return false
	}
	once := true
	end := eachField(raw, 0, maxDepth, func(name, value []byte) {
		if field := fieldOf(fieldName(name)); field != nil {
			once = once && *field == nil
			*field = value
		}
	})
	return once && end == len(raw)
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
