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

// maxBatch is how many messages one batch may hold.
const maxBatch = 1000

// A Session is one client on stdio.
type Session struct {
	conn    *conn
	session *session
	release func() bool // lets go of the context given to Connect
}

// Connect opens a session for a client on stdio. What the client is to get goes to send, one message without its line
// end at a time; send is called from many goroutines. When ctx ends, so does the session, and what it runs is
// cancelled.
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
	s, err := f.open(ss)
	if err != nil {
		_ = ss.Close()
		return nil, err
	}
	release := context.AfterFunc(ctx, func() { s.abort(context.Cause(ctx)) })
	return &Session{conn: c, session: s, release: release}, nil
}

// Ready gives the revision of the session once the handshake is over.
func (s *Session) Ready() (mcp.Revision, bool) {
	if revision := s.session.agreed.Load(); revision != nil {
		return *revision, true
	}
	return "", false
}

// Receive takes one line from the client, which it does not keep. An error means that the session has ended.
func (s *Session) Receive(line []byte) error {
	if isBatch(line) {
		return s.conn.receiveBatch(line)
	}
	return s.conn.receive(line, nil)
}

// Close answers what has been received, ends the session, and waits for all of it. To end it at once, cancel the
// context given to Connect.
func (s *Session) Close() error {
	s.conn.drain()
	s.release()
	s.session.abort(errEnded)
	return nil
}

// A conn carries the messages of one stdio session to the SDK and back. It is the SDK's Transport and Connection in
// one.
//
// The SDK knows each request by the text of its id: the numbers it makes of ids have 53 bits, so that a client that
// counts nanoseconds would wait for its answers in vain.
type conn struct {
	// fixed at creation
	front    *Front
	send     func(line []byte) error
	incoming chan jsonrpc.Message
	closed   chan struct{} // closed by Close
	drained  chan struct{} // closed when nothing runs any more after drain

	mu       sync.Mutex // guards the fields below and those of requests and batches
	ended    bool
	draining bool
	revision mcp.Revision        // as the initialize request will be answered; empty before
	running  map[string]*request // by id, as it came
	sending  int                 // answers on their way
}

// A request is a call that has not been answered.
type request struct {
	cancelled bool   // by the client, who must get no answer
	batch     *batch // it came in; nil for none
	lease     *lease // of the answer; that of the batch, if there is one
}

// A batch collects the answers to a batch, which are one message.
type batch struct {
	open    int // answers to come
	answers [][]byte
	lease   *lease
}

// receive hands one message to the SDK, unless it can be answered here.
func (c *conn) receive(text []byte, b *batch) error {
	m, failure := mcp.ParseMessage(text)
	switch {
	case failure != nil:
		return c.answer(b, mcp.AppendError(nil, m.ID, failure))
	case m.IsRequest():
		if refusal := c.admit(m, b); refusal != nil {
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
	return nil // a response: we ask nothing
}

// admit notes a call as running.
func (c *conn) admit(m *mcp.Message, b *batch) *mcp.Error {
	if refusal := c.front.refuse(m); refusal != nil {
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
		_ = json.Unmarshal(m.Params, &params) // refuse has done so before
		c.revision = negotiate(params.ProtocolVersion)
	}
	c.running[id] = &request{batch: b, lease: c.newLease(b)}
	return nil
}

func (c *conn) newLease(b *batch) *lease {
	if b != nil {
		return b.lease
	}
	return c.front.lease()
}

// leaseOf names the lease of a call that is running.
func (c *conn) leaseOf(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.running[id]; r != nil {
		return r.lease.name
	}
	return ""
}

// pass gives the SDK a message, and keeps none of it.
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

// cancel notes that the client wants no answer any more. The SDK, which is told as well, would send one.
func (c *conn) cancel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.running[id]; r != nil {
		r.cancelled = true
	}
}

// receiveBatch takes a JSON array of messages, as revisions before 2025-06-18 allow.
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
	b := &batch{lease: c.front.lease()}
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

// answer sends one answer, or adds it to those of its batch and sends them when it is the last. A nil line answers
// nothing.
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

// collect adds an answer to those of its batch, and gives all of them when it is the last; nil when there are none.
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

// drain waits until every call has been answered, or the session has ended.
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

// settle ends a request. Its id is free before the client has the answer, and can use it again.
func (c *conn) settle(id string) *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.running[id]
	delete(c.running, id)
	c.sending++
	return r
}

// sent notes that what settle began is done.
func (c *conn) sent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sending--
	c.checkDrainedLocked()
}

// Connect is for the SDK.
func (c *conn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID is for the SDK: a session on stdio has none.
func (c *conn) SessionID() string { return "" }

// Read is for the SDK: the next message from the client.
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

// Write is for the SDK: a message to the client.
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
	r := c.settle(id)
	defer c.sent()
	switch {
	case r == nil: // answered already: the ids of what runs are kept unique by admit
		return nil
	case r.batch == nil:
		defer r.lease.end()
	}
	if r.cancelled {
		return c.answer(r.batch, nil)
	}
	return c.answer(r.batch, appendResponse(id, resp))
}

// Close is for the SDK.
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

// appendResponse encodes a response. The SDK's encoder would read and copy the result, which is JSON already, twice
// more, and send errors of its own with code 0.
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

// publicError is an error as it may go out. Those we made pass as they are; of the SDK's, which tell of Go types, only
// the kind is told.
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

// appendJSON appends a string.
func appendJSON(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string always can be
	return append(b, text...)
}
