package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/wire"
)

const (
	maxID     = 1 << 10 // bytes of a request id
	maxMethod = 100     // bytes of a method in errors and the log
)

// A Message is one JSON-RPC message from a client.
type Message struct {
	ID     json.RawMessage // as it came: a string or a number; nil when there is none
	Method string          // empty for a response
	Params json.RawMessage // nil when absent

	// Revision is that of the session m belongs to, set by fronts for revisions that have sessions. Empty for others:
	// then m says it in its _meta.
	Revision Revision

	// Session names the connection the message came by, where there is one that lasts: fronts set it. Clients have no
	// say in it.
	Session string

	// Client is who sent the message, as [ClientOf] names it: fronts that have many set it for subscriptions/listen.
	Client string

	// Links says that what can be downloaded is to say where: fronts that serve downloads set it.
	Links bool

	params params
	binary bool // see Binary
}

// ParseMessage reads one JSON-RPC message. The Message keeps parts of text. When there is an error, the Message still
// has the ID if it is legible, for the answer.
//
// A message is UTF-8 and nested at most 64 deep. Ids other than strings and numbers are refused, null among them, and so
// are batches, and objects that name twice what we read: somebody in between may have read the other one.
func ParseMessage(text []byte) (*Message, *Error) {
	m := new(Message)
	return m, m.Parse(text)
}

// Parse is [ParseMessage] into a Message that may have held another.
func (m *Message) Parse(text []byte) *Error {
	*m = Message{}
	text = bytes.Trim(text, " \t\r\n")
	if !utf8.Valid(text) {
		return notJSON()
	}
	if !isObject(text) {
		return notAnObject(text)
	}
	var e envelope
	end, once := pickFields(text, e.set)
	switch {
	case end != len(text):
		return notJSON()
	case !once:
		return invalidRequest("it names something twice")
	}
	return e.open(m)
}

func notJSON() *Error {
	return &Error{Code: CodeParseError, Message: "Parse error: not JSON, or nested too deep"}
}

func notAnObject(text []byte) *Error {
	switch {
	case skip(text, 0, maxDepth) != len(text):
		return notJSON()
	case text[0] == '[':
		return invalidRequest("batches are not supported")
	}
	return invalidRequest("not an object")
}

// An envelope is a message, not decoded yet.
type envelope struct{ version, id, method, params, result, failure []byte }

func (e *envelope) set(name, value []byte) (once bool) {
	switch string(name) {
	case "jsonrpc":
		return put(&e.version, value)
	case "id":
		return put(&e.id, value)
	case "method":
		return put(&e.method, value)
	case "params":
		return put(&e.params, value)
	case "result":
		return put(&e.result, value)
	case "error":
		return put(&e.failure, value)
	}
	return true
}

// open checks the envelope and fills m from it.
func (e *envelope) open(m *Message) *Error {
	switch {
	case e.id == nil:
	case len(e.id) > maxID:
		return invalidRequest("the id is too long")
	case e.id[0] != '"' && e.id[0] != '-' && (e.id[0] < '0' || e.id[0] > '9'):
		return invalidRequest("the id is neither a string nor a number")
	default:
		m.ID = e.id
	}
	if version, _ := unquote(e.version); string(e.version) != `"2.0"` && version != "2.0" {
		return invalidRequest(`jsonrpc is not "2.0"`)
	}
	if e.method == nil {
		if (e.result == nil) == (e.failure == nil) {
			return invalidRequest("neither a request nor a response")
		}
		return nil
	}
	var ok bool
	if m.Method, ok = unquoteKnown(e.method); !ok || m.Method == "" {
		return invalidRequest("the method is not a name")
	}
	m.Params = e.params
	m.params.parse(e.params)
	return nil
}

func invalidRequest(why string) *Error {
	return &Error{Code: CodeInvalidRequest, Message: "Invalid request: " + why}
}

// IsRequest reports whether m wants an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether m wants none.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// Usual reports whether m is a request for a resource, a list, a tool, a completion or what the server is, with the parameters
// these have and no others. What is unusual may be for somebody else to refuse, in the words of its revision.
func (m *Message) Usual() bool {
	p := &m.params
	if !m.IsRequest() || p.malformed != "" || p.others || p.meta != nil && !isObject(p.meta) {
		return false
	}
	switch m.Method {
	case "resources/read":
		return isString(p.uri) && p.cursor == nil
	case "resources/list", "resources/templates/list":
		return (p.cursor == nil || isString(p.cursor)) && p.uri == nil
	case "tools/call":
		return isString(p.name) && (p.arguments == nil || isObject(p.arguments)) && p.uri == nil && p.cursor == nil
	case "server/discover", "completion/complete":
		return m.Modern()
	}
	return false
}

// Plain reports whether m is usual and wants to hear nothing but the answer.
func (m *Message) Plain() bool { return m.params.token == nil && m.Usual() }

// Binary reports whether what was answered of m by now has bytes in base64 in it.
func (m *Message) Binary() bool { return m.binary }

// Modern reports whether m says in its _meta which revision it is of, as messages since 2026-07-28 do.
func (m *Message) Modern() bool { return m.params.version != nil }

// Version gives the revision m says it is of. ok is false when it says nothing, or no string.
func (m *Message) Version() (version string, ok bool) { return unquoteKnown(m.params.version) }

// Target gives what m is about: the URI of resources/read, the name of tools/call and prompts/get. wanted is false for
// other methods, and ok when the parameter is not there.
func (m *Message) Target() (target string, ok, wanted bool) {
	switch m.Method {
	case "resources/read":
		target, ok = unquote(m.params.uri)
		return target, ok, true
	case "tools/call", "prompts/get":
		target, ok = unquote(m.params.name)
		return target, ok, true
	}
	return "", false, false
}

// IsAbout reports whether name is what Target gives, spelt as in m; one that is spelt with escapes is none. wanted is as
// there.
func (m *Message) IsAbout(name []byte) (is, wanted bool) {
	if m.Method != "resources/read" {
		_, _, wanted = m.Target()
		return false, wanted
	}
	uri := m.params.uri
	is = len(uri) == len(name)+2 && uri[0] == '"' && bytes.IndexByte(uri, '\\') < 0 && string(uri[1:len(uri)-1]) == string(name)
	return is, true
}

// Cancels gives the id of the request that m, a notification, cancels; nil when it cancels none.
func (m *Message) Cancels() json.RawMessage {
	if m.Method != "notifications/cancelled" || !m.IsNotification() {
		return nil
	}
	return m.params.requestID
}

// AppendError appends an error response. Without an id there is none in the response, as the specification has it.
func AppendError(b []byte, id json.RawMessage, e *Error) []byte {
	b = append(b, `{"jsonrpc":"2.0",`...)
	if id != nil {
		b = append(b, `"id":`...)
		b = append(b, id...)
		b = append(b, ',')
	}
	b = append(b, `"error":{"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	b = append(b, `,"message":`...)
	b = wire.AppendString(b, e.Message)
	if len(e.Data) > 0 {
		b = append(b, `,"data":`...)
		b = append(b, e.Data...)
	}
	return append(b, '}', '}')
}

// AppendNotification appends a notification.
func AppendNotification(b []byte, method string, params json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":`...)
	b = wire.AppendString(b, method)
	if len(params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, '}')
}

// appendResultHead appends a response up to its result; a closing brace must follow that.
func appendResultHead(b []byte, id json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	return append(b, `,"result":`...)
}
