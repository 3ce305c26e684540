package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/trace"
)

const (
	maxID     = 1 << 10 // bytes of a request id
	maxMethod = 100     // bytes of a method in errors and the log
)

// A Message is one JSON-RPC message from a client.
type Message struct {
	ID     json.RawMessage // as received: a string or a number; nil if absent
	Method string          // empty for a response
	Params json.RawMessage // nil when absent

	// Revision is the revision of the session that the message belongs to. Fronts set it for revisions with sessions. If
	// it is empty, the message has its revision in _meta.
	Revision Revision

	// Session names the lasting connection that the message came by. Fronts set it; clients cannot.
	Session string

	// Client is the sender of the message, as [ClientOf] names it. Fronts with many clients set it for
	// subscriptions/listen.
	Client string

	// Trace is the span of the client that headers of its request name. Fronts set it if [Core.Traces]. One in _meta precedes.
	Trace trace.Parent

	// DownloadLinks adds the place to download a resource to large ones. Fronts that serve downloads set it.
	DownloadLinks bool

	params params
	binary bool // see Binary
}

// ParseMessage reads one JSON-RPC message. The Message refers to parts of text. After an error the Message still has the
// ID for the answer, if the ID could be read.
//
// A message is UTF-8 and nested at most 64 deep. ParseMessage refuses ids other than strings and numbers, batches, and
// objects in which a name that the core reads stands twice: a proxy may have read the other one.
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

// BatchSize returns how many messages a batch has; 0 if text is no batch. It does not check them.
func BatchSize(text []byte) (n int) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) > 0 && text[0] == '[' {
		eachItem(text, 0, maxDepth, func([]byte) { n++ })
	}
	return n
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

// An envelope has the members of a message as raw JSON.
type envelope struct{ version, id, method, params, result, failure []byte }

func (e *envelope) set(name, value []byte) (once bool) {
	switch string(name) {
	case "jsonrpc":
		return setOnce(&e.version, value)
	case "id":
		return setOnce(&e.id, value)
	case "method":
		return setOnce(&e.method, value)
	case "params":
		return setOnce(&e.params, value)
	case "result":
		return setOnce(&e.result, value)
	case "error":
		return setOnce(&e.failure, value)
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
	if string(e.version) != `"2.0"` {
		if version, _ := unquote(e.version); version != "2.0" {
			return invalidRequest(`jsonrpc is not "2.0"`)
		}
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

// IsRequest reports whether m is a request, which has an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether m is a notification, which has no answer.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsCoreRequest reports whether the core can answer m in any revision: m is a request for a resource, a list, a tool, a
// completion or the server's description, with the parameters of its method and no others. A front passes every other
// message to the implementation of its revision.
func (m *Message) IsCoreRequest() bool {
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
	case "server/discover", "completion/complete", methodDirectory, methodSkills, methodSkill:
		return m.Modern()
	}
	return false
}

// IsSimple reports whether m is a core request that asks for no progress.
func (m *Message) IsSimple() bool { return m.params.token == nil && m.IsCoreRequest() }

// Binary reports whether the answer to m, as far as it is encoded, contains base64.
func (m *Message) Binary() bool { return m.binary }

// Modern reports whether m has its revision in _meta, as messages since 2026-07-28 have.
func (m *Message) Modern() bool { return m.params.version != nil }

// Version returns the revision in the _meta of m. ok is false if there is none, or if it is not a string.
func (m *Message) Version() (version string, ok bool) { return unquoteKnown(m.params.version) }

// Target returns the URI of resources/read, or the name of tools/call and prompts/get. wanted is false for other methods;
// ok is false if the parameter is absent.
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

// URI returns the URI of resources/read and resources/subscribe; ok is false for other methods, and if there is none.
func (m *Message) URI() (uri string, ok bool) {
	if m.Method != "resources/read" && m.Method != "resources/subscribe" {
		return "", false
	}
	return unquote(m.params.uri)
}

// TargetIs reports whether m is a resources/read whose URI is spelt as name, byte for byte and without escapes. wanted is
// as in Target.
func (m *Message) TargetIs(name []byte) (is, wanted bool) {
	if m.Method != "resources/read" {
		_, _, wanted = m.Target()
		return false, wanted
	}
	uri := m.params.uri
	is = len(uri) == len(name)+2 && uri[0] == '"' && bytes.IndexByte(uri, '\\') < 0 && string(uri[1:len(uri)-1]) == string(name)
	return is, true
}

// Cancels returns the id of the request that m, a notification, cancels; nil if it cancels none.
func (m *Message) Cancels() json.RawMessage {
	if m.Method != "notifications/cancelled" || !m.IsNotification() {
		return nil
	}
	return m.params.requestID
}

// AppendError appends an error response. If id is nil, the response has no id, as the specification requires.
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
	b = textenc.AppendString(b, e.Message)
	if len(e.Data) > 0 {
		b = append(b, `,"data":`...)
		b = append(b, e.Data...)
	}
	return append(b, '}', '}')
}

// AppendNotification appends a notification.
func AppendNotification(b []byte, method string, params json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":`...)
	b = textenc.AppendString(b, method)
	if len(params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, '}')
}

// appendResultHead appends a response up to its result. The caller appends the result and a closing brace.
func appendResultHead(b []byte, id json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	return append(b, `,"result":`...)
}
