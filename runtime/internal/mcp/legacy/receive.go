package legacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/trace"
)

// codeNotFound is the error code of these revisions for a resource that does not exist.
const codeNotFound = -32002

// A service is the part that answers a method.
type service int

const (
	unknown   service = iota // nothing: method not found
	bySDK                    // the handshake and ping
	byCore                   // resources and tools
	bySession                // subscriptions
)

// serviceOf returns the part that answers the method, and whether the method needs parameters.
func (f *Front) serviceOf(method string) (by service, needsParams bool) {
	switch method {
	case "initialize":
		return bySDK, true
	case "ping":
		return bySDK, false
	case "resources/list", "resources/templates/list", "tools/list":
		return byCore, false
	case "resources/read", "completion/complete":
		return byCore, true
	case "resources/subscribe", "resources/unsubscribe":
		return bySession, true
	}
	if method == "tools/call" && f.cfg.Tools {
		return byCore, true
	}
	return unknown, false
}

// validate checks a call before the SDK gets it. The SDK would answer an invalid one with code 0, with names of Go types,
// or over HTTP with plain text, upon which its own client ends the session.
func (f *Front) validate(call *mcp.Message) *mcp.Error {
	by, needsParams := f.serviceOf(call.Method)
	switch {
	case by == unknown:
		return methodNotFound(call.Method)
	case len(call.Params) == 0 || string(call.Params) == "null":
		if needsParams {
			return invalidParams("they are missing")
		}
	case json.Unmarshal(call.Params, paramsFor(call.Method)) != nil:
		return invalidParams("one is missing or has the wrong type")
	}
	if call.Method == "initialize" {
		return validateInitialize(call.Params)
	}
	return nil
}

// validateInitialize refuses an initialize without a version or a client: the SDK would accept it.
func validateInitialize(params json.RawMessage) *mcp.Error {
	var p sdk.InitializeParams
	switch err := json.Unmarshal(params, &p); {
	case err != nil || p.ProtocolVersion == "":
		return invalidParams("protocolVersion is missing")
	case p.ClientInfo == nil:
		return invalidParams("clientInfo is missing")
	}
	return nil
}

// paramsFor returns a value of the type that the SDK decodes the parameters of a method into.
func paramsFor(method string) any {
	switch method {
	case "initialize":
		return new(sdk.InitializeParams)
	case "resources/list", "resources/templates/list", "tools/list":
		return new(sdk.ListResourcesParams) // all lists have the same parameters
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return new(sdk.ReadResourceParams) // all of these name a URI
	case "completion/complete":
		return new(sdk.CompleteParams)
	case "tools/call":
		return new(sdk.CallToolParamsRaw)
	}
	return new(sdk.PingParams)
}

// receive returns the middleware that runs before the handlers of the SDK. The SDK handles the handshake and ping only.
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
		by, _ := f.serviceOf(method)
		switch s := f.session(req.GetSession().(*sdk.ServerSession)); {
		case by == unknown:
			return nil, wireError(methodNotFound(method))
		case by == bySDK:
			return next(ctx, method, req)
		case s == nil:
			return nil, wireError(invalid(errEnded.Error()))
		case by == bySession:
			return s.subscription(ctx, method, req)
		default:
			return s.call(ctx, method, req)
		}
	}
}

// initialize opens the session and lets the SDK answer.
func (f *Front) initialize(ctx context.Context, next sdk.MethodHandler, req sdk.Request) (sdk.Result, error) {
	// The SDK negotiates a version it knows, but keeps the one that the client asked for. It would treat a session that asked
	// for a version without sessions as one of that version.
	if params, ok := req.GetParams().(*sdk.InitializeParams); ok {
		params.ProtocolVersion = string(negotiate(params.ProtocolVersion))
	}
	owner := auth.CallerOf(f.withCaller(ctx, req))
	if _, err := f.open(req.GetSession().(*sdk.ServerSession), owner); err != nil {
		return nil, wireError(&mcp.Error{Code: mcp.CodeInternalError, Message: err.Error()})
	}
	res, err := next(ctx, "initialize", req)
	if err != nil {
		return nil, wireError(invalid(err.Error()))
	}
	return res, nil
}

// negotiate returns the revision that the client asks for, or the newest with sessions.
func negotiate(asked string) mcp.Revision {
	if r := mcp.Revision(asked); r.Legacy() {
		return r
	}
	return mcp.Revision20251125
}

// initialized subscribes to the list when the handshake has ended: before, the client must get no notification.
func (f *Front) initialized(ctx context.Context, next sdk.MethodHandler, req sdk.Request) (sdk.Result, error) {
	res, err := next(ctx, "notifications/initialized", req)
	if err != nil {
		return res, err
	}
	if s := f.session(req.GetSession().(*sdk.ServerSession)); s != nil {
		if s.owner != nil { // the lease of a notification may have ended
			ctx = auth.WithCaller(ctx, s.owner)
		}
		if e := s.subscribe(ctx, abi.URI{}); e != nil {
			f.failed.Warn("list", "list changes not subscribed to", "err", e)
		}
		revision := s.revision()
		s.agreed.Store(&revision)
	}
	return res, nil
}

// call has the core answer a call that comes from the SDK.
func (s *session) call(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
	params, err := paramsOf(req)
	if err != nil {
		return nil, wireError(invalidParams("%v", err))
	}
	ctx, finish := s.beginCall(s.front.withLease(ctx, req))
	defer finish()
	result, failure := s.front.cfg.Core.Call(ctx, &mcp.Call{
		Method:   method,
		Params:   params,
		Revision: s.revision(),
		Session:  s.name(),
		Trace:    traceParent(req),
		Notify:   func(method string, params json.RawMessage) error { return s.notify(ctx, method, params) },
	})
	if failure != nil {
		return nil, wireError(failure)
	}
	return &rawResult{raw: result}, nil
}

// traceParent gives the span of the client that headers of a request name.
func traceParent(req sdk.Request) trace.Parent {
	if extra := req.GetExtra(); extra != nil {
		return trace.FromHeader(extra.Header)
	}
	return trace.Parent{}
}

// revision returns the negotiated revision: initialize has replaced the one that the client asked for.
func (s *session) revision() mcp.Revision {
	if p := s.sdk.InitializeParams(); p != nil {
		return mcp.Revision(p.ProtocolVersion)
	}
	return mcp.Revision20251125
}

// subscription answers resources/subscribe and resources/unsubscribe. The SDK's own subscriptions are not used: it does
// not tell when they end with the session.
func (s *session) subscription(ctx context.Context, method string, req sdk.Request) (_ sdk.Result, err error) {
	var uri string
	began := time.Now()
	ctx = s.front.withCaller(ctx, req)
	defer func() { s.record(ctx, began, method, uri, err) }()
	switch p := req.GetParams().(type) {
	case *sdk.SubscribeParams:
		uri = p.URI
	case *sdk.UnsubscribeParams:
		uri = p.URI
	}
	parsed, err := abi.ParseURI(uri)
	if err != nil {
		return nil, wireError(invalidParams("%v", err))
	}
	if method == "resources/unsubscribe" {
		s.unsubscribe(uri)
	} else if e := s.subscribe(ctx, parsed); e != nil {
		return nil, wireError(e)
	}
	return &rawResult{raw: []byte("{}")}, nil
}

// record logs the beginning or the end of a subscription.
func (s *session) record(ctx context.Context, began time.Time, method, uri string, err error) {
	code := abi.CodeOK.String()
	if refused := (*jsonrpc.Error)(nil); errors.As(err, &refused) {
		code = strconv.FormatInt(refused.Code, 10)
	}
	s.front.cfg.AccessLog.Record(ctx, accesslog.Entry{Time: began, Session: s.name(), Method: method, URI: uri, Code: code})
}

// A rawResult is a result that is encoded already.
type rawResult struct {
	sdk.ResultBase
	raw json.RawMessage
}

func (r *rawResult) MarshalJSON() ([]byte, error) { return r.raw, nil }

// paramsKey is the header by which a transport passes on the parameters as they came. The SDK passes on what it has
// decoded, in which an empty cursor looks like none and a large progress token loses digits. No client can send the
// header, since its name is not valid.
const paramsKey = "\x00params"

// paramsOf returns the parameters as they came or, in a batch over HTTP, as the SDK has decoded them.
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
	data, _ := json.Marshal(map[string]string{"uri": uri}) // cannot fail for a map of strings
	return &mcp.Error{Code: codeNotFound, Message: "Resource not found", Data: data}
}

// tooMany is the error for one subscription too many.
func tooMany(most int) *mcp.Error {
	return &mcp.Error{
		Code:    http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("A session may have at most %d subscriptions: unsubscribe from some resources", most),
		Data:    json.RawMessage(`{"code":"too_many"}`),
	}
}

// wireError returns e as the SDK sends it. The SDK would send any other error with code 0 and its whole text.
func wireError(e *mcp.Error) *jsonrpc.Error {
	return &jsonrpc.Error{Code: int64(e.Code), Message: e.Message, Data: e.Data}
}

// sourceError returns the public error of a failed Subscribe, and logs the cause.
func (f *Front) sourceError(err error, uri string) *mcp.Error {
	e := &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"}
	text := err.Error()
	if public := (*abi.Error)(nil); errors.As(err, &public) {
		e.Message = public.Error()
		if public.Cause != nil {
			text += ": " + public.Cause.Error()
		}
	}
	switch code := abi.CodeOf(err); code {
	case abi.CodeNotFound:
		return notFound(uri)
	case abi.CodeInvalidParams:
		e.Code = mcp.CodeInvalidParams
	default:
		f.failed.Warn(code.String(), "subscription refused", "uri", uri, "code", code.String(), "err", text)
	}
	return e
}
