package legacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// codeNotFound says in these revisions that there is no such resource.
const codeNotFound = -32002

// A service says who answers a method.
type service int

const (
	unknown   service = iota // nobody: method not found
	bySDK                    // the handshake and ping
	byCore                   // whatever concerns resources
	bySession                // subscriptions
)

// serves says who answers a method, and whether it needs parameters.
func (f *Front) serves(method string) (who service, needsParams bool) {
	switch method {
	case "initialize":
		return bySDK, true
	case "ping":
		return bySDK, false
	case "resources/list", "resources/templates/list":
		return byCore, false
	case "resources/read", "completion/complete":
		return byCore, true
	case "resources/subscribe", "resources/unsubscribe":
		return bySession, true
	}
	if f.cfg.Tools {
		switch method {
		case "tools/list":
			return byCore, false
		case "tools/call":
			return byCore, true
		}
	}
	return unknown, false
}

// refuse finds what is wrong with a call before the SDK sees it. The SDK would answer the same things with code 0, with
// names of Go types, or over HTTP with plain text, which makes its own client give the session up.
func (f *Front) refuse(call *mcp.Message) *mcp.Error {
	who, needsParams := f.serves(call.Method)
	switch {
	case who == unknown:
		return methodNotFound(call.Method)
	case len(call.Params) == 0 || string(call.Params) == "null":
		if needsParams {
			return invalidParams("there are none")
		}
	case json.Unmarshal(call.Params, shape(call.Method)) != nil:
		return invalidParams("one is missing or of another type")
	}
	if call.Method == "initialize" {
		return refuseInitialize(call.Params)
	}
	return nil
}

// refuseInitialize finds what the parameters of initialize lack; the SDK would negotiate without.
func refuseInitialize(params json.RawMessage) *mcp.Error {
	var p sdk.InitializeParams
	switch err := json.Unmarshal(params, &p); {
	case err != nil || p.ProtocolVersion == "":
		return invalidParams("protocolVersion is missing")
	case p.ClientInfo == nil:
		return invalidParams("clientInfo is missing")
	}
	return nil
}

// shape gives a place for the parameters of a call, as the SDK will read them.
func shape(method string) any {
	switch method {
	case "initialize":
		return new(sdk.InitializeParams)
	case "resources/list", "resources/templates/list", "tools/list":
		return new(sdk.ListResourcesParams) // all lists are asked for alike
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return new(sdk.ReadResourceParams) // all of these name a URI
	case "completion/complete":
		return new(sdk.CompleteParams)
	case "tools/call":
		return new(sdk.CallToolParamsRaw)
	}
	return new(sdk.PingParams)
}

// receive is the middleware between the SDK's sessions and its own answers. Of those only handshake and ping are left.
func (f *Front) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch {
		case method == "initialize":
			return f.initialize(ctx, next, req)
		case method == "notifications/initialized":
			return f.initialized(ctx, next, req)
		case strings.HasPrefix(method, "notifications/"):
			return next(ctx, method, req)
		}
		who, _ := f.serves(method)
		switch s := f.session(req.GetSession().(*sdk.ServerSession)); {
		case who == unknown:
			return nil, wireError(methodNotFound(method))
		case who == bySDK:
			return next(ctx, method, req)
		case s == nil:
			return nil, wireError(invalid(errEnded.Error()))
		case who == bySession:
			return s.subscription(ctx, method, req)
		default:
			return s.call(ctx, method, req)
		}
	}
}

// initialize opens the session and lets the SDK answer.
func (f *Front) initialize(ctx context.Context, next sdk.MethodHandler, req sdk.Request) (sdk.Result, error) {
	// The SDK negotiates a version it knows, but remembers the one it was asked for, and takes a session that asked for
	// a later version than it serves here for one of a later kind.
	if params, ok := req.GetParams().(*sdk.InitializeParams); ok {
		params.ProtocolVersion = string(negotiate(params.ProtocolVersion))
	}
	if _, err := f.open(req.GetSession().(*sdk.ServerSession)); err != nil {
		return nil, wireError(&mcp.Error{Code: mcp.CodeInternalError, Message: err.Error()})
	}
	res, err := next(ctx, "initialize", req)
	if err != nil {
		return nil, wireError(invalid(err.Error()))
	}
	return res, nil
}

// negotiate gives the revision asked for, or else the newest there is.
func negotiate(asked string) mcp.Revision {
	if r := mcp.Revision(asked); r.Legacy() {
		return r
	}
	return mcp.Revision20251125
}

// initialized watches the list once the handshake is over: before, the client may be told nothing.
func (f *Front) initialized(ctx context.Context, next sdk.MethodHandler, req sdk.Request) (sdk.Result, error) {
	res, err := next(ctx, "notifications/initialized", req)
	if err != nil {
		return res, err
	}
	if s := f.session(req.GetSession().(*sdk.ServerSession)); s != nil {
		if e := s.subscribe(ctx, ""); e != nil {
			f.failed.Warn("list", "list changes not watched", "err", e)
		}
		revision := s.revision()
		s.agreed.Store(&revision)
	}
	return res, nil
}

// call has the core answer.
func (s *session) call(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
	params, err := paramsOf(req)
	if err != nil {
		return nil, wireError(invalidParams("%v", err))
	}
	ctx, finish := s.begin(s.front.withLease(ctx, req))
	defer finish()
	result, failure := s.front.cfg.Core.Call(ctx, &mcp.Call{
		Method:   method,
		Params:   params,
		Revision: s.revision(),
		Session:  s.name(),
		Notify:   func(method string, params json.RawMessage) error { return s.notify(ctx, method, params) },
	})
	if failure != nil {
		return nil, wireError(failure)
	}
	return &rawResult{raw: result}, nil
}

// revision is the one negotiated, which initialize has put in place of the one asked for.
func (s *session) revision() mcp.Revision {
	if p := s.sdk.InitializeParams(); p != nil {
		return mcp.Revision(p.ProtocolVersion)
	}
	return mcp.Revision20251125
}

// subscription answers resources/subscribe and resources/unsubscribe. The SDK's own bookkeeping is not used: it ends
// with the session unannounced.
func (s *session) subscription(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
	var uri string
	switch p := req.GetParams().(type) {
	case *sdk.SubscribeParams:
		uri = p.URI
	case *sdk.UnsubscribeParams:
		uri = p.URI
	}
	if err := abi.CheckURI(uri); err != nil {
		return nil, wireError(invalidParams("%v", err))
	}
	if method == "resources/unsubscribe" {
		s.unsubscribe(uri)
	} else if e := s.subscribe(ctx, uri); e != nil {
		return nil, wireError(e)
	}
	return &rawResult{raw: []byte("{}")}, nil
}

// rawResult is a result that is JSON already.
type rawResult struct {
	sdk.ResultBase
	raw json.RawMessage
}

func (r *rawResult) MarshalJSON() ([]byte, error) { return r.raw, nil }

// paramsKey is where a transport hands the parameters along as they came, for the SDK hands on only what it made of
// them: an empty cursor looks like none, a large progress token loses digits. It is no legal header name, so that no
// client can send it.
const paramsKey = "\x00params"

// paramsOf gives the parameters as they came, or, from within a batch over HTTP, as the SDK understood them.
func paramsOf(req sdk.Request) (json.RawMessage, error) {
	if extra := req.GetExtra(); extra != nil {
		if raw := extra.Header[paramsKey]; len(raw) == 1 {
			return json.RawMessage(raw[0]), nil
		}
	}
	raw, err := json.Marshal(req.GetParams())
	if err != nil || string(raw) == "null" {
		return nil, err
	}
	return raw, nil
}

func invalid(why string) *mcp.Error {
	return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "Invalid request: " + why}
}

func invalidParams(format string, args ...any) *mcp.Error {
	return &mcp.Error{Code: mcp.CodeInvalidParams, Message: "Invalid params: " + fmt.Sprintf(format, args...)}
}

func methodNotFound(method string) *mcp.Error {
	const longest = 100 // bytes
	return &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "Method not found: " + method[:min(len(method), longest)]}
}

func notFound(uri string) *mcp.Error {
	data, _ := json.Marshal(map[string]string{"uri": uri}) // a map of strings always can be
	return &mcp.Error{Code: codeNotFound, Message: "Resource not found", Data: data}
}

// tooMany is the error for a subscription more than a session may have.
func tooMany(most int) *mcp.Error {
	return &mcp.Error{
		Code:    http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("A session may be subscribed to %d resources: unsubscribe from some", most),
		Data:    json.RawMessage(`{"code":"too_many"}`),
	}
}

// wireError is e as the SDK takes it: any other error would go out with code 0 and its whole text.
func wireError(e *mcp.Error) *jsonrpc.Error {
	return &jsonrpc.Error{Code: int64(e.Code), Message: e.Message, Data: e.Data}
}

// sourceError is what the client learns of a failed Subscribe; the log learns the cause.
func (f *Front) sourceError(err error, uri string) *mcp.Error {
	e := &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"}
	cause := err
	if public := (*abi.Error)(nil); errors.As(err, &public) {
		e.Message, cause = public.Error(), public.Cause
	}
	switch code := abi.CodeOf(err); code {
	case abi.CodeNotFound:
		return notFound(uri)
	case abi.CodeInvalidParams:
		e.Code = mcp.CodeInvalidParams
	default:
		f.failed.Warn(code.String(), "watch refused", "code", code.String(), "err", err, "cause", cause)
	}
	return e
}
