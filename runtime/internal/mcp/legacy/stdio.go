package legacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// maxBatch is how many messages a batch may have.
const maxBatch = 1000

// A Session is one client on stdio.
type Session struct {
	conn    *conn
	session *session
	release func() bool // stops waiting for the end of Connect's context
}

// Connect opens a session for a client on stdio. The session calls send with each message for the client, without a line
// end, from any goroutine. When ctx ends, the session ends and its requests are cancelled. The caller calls Close.
func (f *Front) Connect(ctx context.Context, send func(line []byte) error) (*Session, error) {
	c := &conn{
		front:    f,
		send:     send,
		incoming: make(chan jsonrpc.Message),
		closed:   make(chan struct{}),
		drained:  make(chan struct{}),
		running:  make(map[string]*request),
	}
	ss, err := f.server.Connect(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	s, err := f.open(ss, nil)
	if err != nil {
		_ = ss.Close()
		return nil, err
	}
	release := context.AfterFunc(ctx, func() { s.close(context.Cause(ctx)) })
	return &Session{conn: c, session: s, release: release}, nil
}

// Ready returns the revision of the session. ok is false until the handshake has ended.
func (s *Session) Ready() (r mcp.Revision, ok bool) {
	if revision := s.session.agreed.Load(); revision != nil {
		return *revision, true
	}
	return "", false
}

// Receive handles a line from the client, which is valid until it returns. An error means that the session has ended.
func (s *Session) Receive(line []byte) error {
	if isBatch(line) {
		return s.conn.receiveBatch(line)
	}
	return s.conn.receive(line, nil)
}

// Close answers what was received, ends the session, and waits for that. To end the session at once, cancel the context of
// Connect.
func (s *Session) Close() error {
	s.conn.drain()
	s.release()
	s.session.close(errEnded)
	return nil
}

// A conn passes the messages of one stdio session to the SDK and back. It is a Transport and a Connection of the SDK.
//
// The SDK gets the text of each id instead of the id: it would decode numbers with 53 bits, and answer a client whose ids
// are nanoseconds with another id.
type conn struct {
	// fixed at creation
	front    *Front
	send     func(line []byte) error
	incoming chan jsonrpc.Message
	closed   chan struct{} // closed by Close
	drained  chan struct{} // closed after drain, when no request is left

	mu       sync.Mutex // guards the fields below and those of requests and batches
	ended    bool
	draining bool
	revision mcp.Revision        // as the answer to initialize names it; empty before
	running  map[string]*request // by id, as it came
	sending  int                 // answers that are being sent
}

// A request is one that was not answered yet.
type request struct {
	cancelled bool   // by the client, which must get no answer
	batch     *batch // of which it is a part; nil for none
	lease     *lease // of the answer, or of the batch
}

// A batch collects the answers to the requests of a batch, which are sent as one message.
type batch struct {
	open    int // answers that are missing
	answers [][]byte
	lease   *lease
}

// receive passes a message to the SDK, or answers it with an error. b is its batch; nil for none.
func (c *conn) receive(text []byte, b *batch) error {
	m, failure := mcp.ParseMessage(text)
	switch {
	case failure != nil:
		return c.answer(b, mcp.AppendError(nil, m.ID, failure))
	case m.IsRequest():
		if refusal := c.begin(m, b); refusal != nil {
			return c.answer(b, mcp.AppendError(nil, m.ID, refusal))
		}
		id, err := jsonrpc.MakeID(string(m.ID))
		if err != nil {
			return err
		}
		return c.pass(id, m.Method, m.Params, c.leaseOf(string(m.ID)))
	case m.IsNotification():
		params := m.Params
		if id := m.Cancels(); id != nil {
			c.cancel(string(id))
			params = appendJSON([]byte(`{"requestId":`), string(id))
			params = append(params, '}')
		}
		return c.pass(jsonrpc.ID{}, m.Method, params, "")
	}
	return nil // a response, but the server sends no requests
}

// begin registers a request, or gives the error that refuses it.
func (c *conn) begin(m *mcp.Message, b *batch) *mcp.Error {
	if refusal := c.front.validate(m); refusal != nil {
		return refusal
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id := string(m.ID)
	switch {
	case c.running[id] != nil:
		return invalid("a request with this id is running")
	case m.Method == "initialize" && b != nil:
		return invalid("initialize must not be part of a batch")
	case m.Method == "initialize" && c.revision == "":
		var params struct{ ProtocolVersion string }
		_ = json.Unmarshal(m.Params, &params) // validate has done the same
		c.revision = negotiate(params.ProtocolVersion)
	}
	c.running[id] = &request{batch: b, lease: c.newLease(b)}
	return nil
}

func (c *conn) newLease(b *batch) *lease {
	if b != nil {
		return b.lease
	}
	return c.front.lease(nil)
}

// leaseOf returns the name of a request's lease; empty for none.
func (c *conn) leaseOf(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.running[id]; r != nil {
		return r.lease.name
	}
	return ""
}

// pass passes a copy of a message to the SDK.
func (c *conn) pass(id jsonrpc.ID, method string, params json.RawMessage, lease string) error {
	req := &jsonrpc.Request{ID: id, Method: method, Params: bytes.Clone(params)}
	header := http.Header{}
	if len(params) > 0 {
		header[paramsKey] = []string{string(params)}
	}
	if lease != "" {
		header[leaseKey] = []string{lease}
	}
	req.Extra = &sdk.RequestExtra{Header: header}
	select {
	case c.incoming <- req:
		return nil
	case <-c.closed:
		return errEnded
	}
}

// cancel has the answer to a request discarded: the SDK answers a cancelled request with an error.
func (c *conn) cancel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.running[id]; r != nil {
		r.cancelled = true
	}
}

// receiveBatch handles a JSON array of messages, which revisions before 2025-06-18 allow.
func (c *conn) receiveBatch(line []byte) error {
	c.mu.Lock()
	revision := c.revision
	c.mu.Unlock()
	var parts []json.RawMessage
	switch {
	case json.Unmarshal(line, &parts) != nil:
		return c.send(mcp.AppendError(nil, nil, &mcp.Error{Code: mcp.CodeParseError, Message: "Parse error: not JSON"}))
	case revision == "" || revision >= "2025-06-18":
		return c.send(mcp.AppendError(nil, nil, invalid("batches are not part of this revision")))
	case len(parts) == 0 || len(parts) > maxBatch:
		return c.send(mcp.AppendError(nil, nil, invalid("the batch is empty or too large")))
	}
	b := &batch{lease: c.front.lease(nil)}
	for _, part := range parts {
		if m, failure := mcp.ParseMessage(part); failure != nil || m.IsRequest() {
			b.open++
		}
	}
	if b.open == 0 {
		b.lease.end()
	}
	for _, part := range parts {
		if err := c.receive(part, b); err != nil {
			b.lease.end()
			return err
		}
	}
	return nil
}

// answer sends an answer; nil for none. In a batch, the last answer sends all.
func (c *conn) answer(b *batch, line []byte) error {
	if b != nil {
		var last bool
		if line, last = c.collect(b, line); last {
			defer b.lease.end()
		}
	}
	if line == nil {
		return nil
	}
	return c.send(line)
}

// collect adds an answer to those of its batch; nil for none. With the last, it gives all; nil if there are none.
func (c *conn) collect(b *batch, line []byte) (all []byte, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.open--
	if line != nil {
		b.answers = append(b.answers, line)
	}
	if b.open > 0 || len(b.answers) == 0 {
		return nil, b.open == 0
	}
	return append(append([]byte("["), bytes.Join(b.answers, []byte(","))...), ']'), true
}

// drain waits until every request was answered, or the session has ended.
func (c *conn) drain() {
	c.mu.Lock()
	if !c.draining {
		c.draining = true
		c.checkDrainedLocked()
	}
	c.mu.Unlock()
	select {
	case <-c.drained:
	case <-c.closed:
	}
}

func (c *conn) checkDrainedLocked() {
	if !c.draining || len(c.running) > 0 || c.sending > 0 {
		return
	}
	select {
	case <-c.drained:
	default:
		close(c.drained)
	}
}

// end removes a request before its answer is sent: after that the client may use the id again.
func (c *conn) end(id string) *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.running[id]
	delete(c.running, id)
	c.sending++
	return r
}

// sent is called when the answer was sent.
func (c *conn) sent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sending--
	c.checkDrainedLocked()
}

// Connect implements [sdk.Transport].
func (c *conn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID implements [sdk.Connection]. A session on stdio has no id.
func (c *conn) SessionID() string { return "" }

// Read implements [sdk.Connection]: it gives the next message from the client.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-c.incoming:
		return msg, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [sdk.Connection]: it sends a message to the client.
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		line, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return err
		}
		return c.send(line)
	}
	id, _ := resp.ID.Raw().(string)
	r := c.end(id)
	defer c.sent()
	switch {
	case r == nil: // answered already: begin refuses ids in use
		return nil
	case r.batch == nil:
		defer r.lease.end()
	}
	if r.cancelled {
		return c.answer(r.batch, nil)
	}
	return c.answer(r.batch, appendResponse(id, resp))
}

// Close implements [sdk.Connection].
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended = true
		close(c.closed)
		for _, r := range c.running {
			r.lease.end()
		}
	}
	return nil
}

// appendResponse encodes a response. The SDK's encoder would parse and copy the encoded result twice, and send errors of
// its own with code 0.
func appendResponse(id string, resp *jsonrpc.Response) []byte {
	if resp.Error != nil {
		return mcp.AppendError(nil, json.RawMessage(id), publicError(resp.Error))
	}
	b := make([]byte, 0, len(resp.Result)+len(id)+64)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = append(b, resp.Result...)
	return append(b, '}')
}

// publicError returns the error that the client gets. Of errors of the SDK, which name Go types, it gives only the code
// and its message.
func publicError(err error) *mcp.Error {
	if e, ok := err.(*jsonrpc.Error); ok {
		return &mcp.Error{Code: int(e.Code), Message: e.Message, Data: e.Data}
	}
	var kind *jsonrpc.Error
	if errors.As(err, &kind) {
		return &mcp.Error{Code: int(kind.Code), Message: kind.Message}
	}
	return invalid("has the session been initialized?")
}

// appendJSON appends s as a JSON string.
func appendJSON(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // cannot fail for a string
	return append(b, text...)
}
