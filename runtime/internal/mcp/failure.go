package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/admission"
)

// Codes that neither JSON-RPC nor MCP define. They lie outside of the range that JSON-RPC reserves, and have their
// meaning in HTTP.
const (
	codeDenied      = 403
	codeDeadline    = 408
	codeTooLarge    = 413
	codeBusy        = 429
	codeCancelled   = 499
	codeUnsupported = 501
	codeGuest       = 502 // the provider misbehaved
	codeUnavailable = 503
	codeMemory      = 507
)

// An errorClass says how a class of failures is reported and logged.
type errorClass struct {
	code    int        // of JSON-RPC
	level   slog.Level // of the log
	message string     // unless the failure has a public one
}

var internal = errorClass{CodeInternalError, slog.LevelError, "Internal error"}

// errorClasses has the classes of failures by code; codes not listed are internal errors.
var errorClasses = map[abi.Code]errorClass{
	abi.CodeNotFound:      {CodeInvalidParams, slog.LevelDebug, "Not found"},
	abi.CodeInvalidParams: {CodeInvalidParams, slog.LevelDebug, "Invalid params"},
	abi.CodeDenied:        {codeDenied, slog.LevelWarn, "Denied"},
	abi.CodeUnavailable:   {codeUnavailable, slog.LevelWarn, "Unavailable, try again later"},
	abi.CodeCancelled:     {codeCancelled, slog.LevelDebug, "Cancelled"},
	abi.CodeDeadline:      {codeDeadline, slog.LevelWarn, "The time limit has passed"},
	abi.CodeTooLarge:      {codeTooLarge, slog.LevelWarn, "The result is too large"},
	abi.CodeTooMany:       {codeTooLarge, slog.LevelWarn, "The result has too many items"},
	abi.CodeUnsupported:   {codeUnsupported, slog.LevelDebug, "Not supported by this provider"},
	abi.CodeBusy:          {codeBusy, slog.LevelWarn, "Too many calls at once, try again later"},
	abi.CodeMemory:        {codeMemory, slog.LevelWarn, "The provider ran out of memory"},
	abi.CodeFuel:          {codeDeadline, slog.LevelWarn, "The provider did more work than one request allows"},
	abi.CodeStack:         {codeMemory, slog.LevelWarn, "The provider's calls are nested too deep"},
	abi.CodeHostCalls:     {codeTooLarge, slog.LevelWarn, "The provider called the host too often"},
	abi.CodeTrap:          {codeGuest, slog.LevelWarn, "The provider crashed"},
	abi.CodeExit:          {codeGuest, slog.LevelWarn, "The provider exited"},
	abi.CodeProtocol:      {codeGuest, slog.LevelWarn, "The provider broke the rules of its interface"},
	abi.CodeInvalidURI:    {codeGuest, slog.LevelWarn, "The provider answered a malformed URI"},
	abi.CodeInvalidText:   {codeGuest, slog.LevelWarn, "The provider's text is not UTF-8"},
	abi.CodeIncompatible:  {codeGuest, slog.LevelWarn, "The provider does not fit this host"},
	abi.CodeModule:        {codeGuest, slog.LevelWarn, "The provider is not a usable module"},
}

// maxMessage bounds the public message of a failure, in bytes.
const maxMessage = 1 << 10

// fail turns a failure of the source into the error for the client, and logs the whole.
func (c *Core) fail(ctx context.Context, r *request, err error) *Error {
	class := abi.CodeOf(err)
	o, known := errorClasses[class]
	if !known {
		o = internal
	}
	if limit := (*admission.Error)(nil); errors.As(err, &limit) { // of the provider
		return LimitError(limit.Refusal)
	}
	public := &abi.Error{}
	if !errors.As(err, &public) {
		public = &abi.Error{Code: class}
	}
	e := &Error{Code: o.code, Message: o.message, cause: err}
	if public.Message != "" {
		e.Message = truncate(public.Message, maxMessage)
	}
	data := failure{class: class, uri: r.uri, public: public}
	if class == abi.CodeNotFound && r.uri != "" {
		data.reason, e.Message = public.Message, "Resource not found"
		if !r.modern {
			e.Code = codeLegacyNotFound
		}
	}
	if o.code == CodeInternalError || o.code == codeGuest {
		data.id = rand.Text()[:12]
	}
	e.Data = data.append(nil)
	c.cfg.Logger.LogAttrs(ctx, o.level, "request failed", slog.String("method", truncate(r.method, maxMethod)),
		slog.String("uri", r.uri), slog.String("code", class.String()), slog.String("error", causes(err)),
		slog.String("error_id", data.id), crash(err))
	return e
}

// A failure is the data of an error.
type failure struct {
	class  abi.Code
	uri    string     // requested; empty for none
	reason string     // the provider's message, if the error has that of the specification
	id     string     // of the record in the log; empty if that says nothing more
	public *abi.Error // RetryAfter, Data
}

func (f *failure) append(b []byte) []byte {
	b = append(b, `{"code":`...)
	b = textenc.AppendString(b, f.class.String())
	b = appendMember(b, "uri", f.uri)
	b = appendMember(b, "reason", truncate(f.reason, maxMessage))
	b = appendMember(b, "errorId", f.id)
	if ms := f.public.RetryAfter.Milliseconds(); ms > 0 {
		b = append(b, `,"retryAfterMs":`...)
		b = strconv.AppendInt(b, ms, 10)
	}
	if d := f.public.Data; d != "" && len(d) <= abi.MaxMeta && json.Valid([]byte(d)) {
		b = append(b, `,"detail":`...)
		b = appendCompact(b, d)
	}
	return append(b, '}')
}

// crash returns the details of a crash for the provider's author; an empty Attr if err is not a crash.
func crash(err error) slog.Attr {
	var cause slog.LogValuer
	if !errors.As(err, &cause) {
		return slog.Attr{}
	}
	return slog.Any("crash", cause)
}

// causes returns the text of an error with its private causes, which the text of an [abi.Error] leaves out.
func causes(err error) string {
	s := err.Error()
	var public *abi.Error
	for errors.As(err, &public) && public.Cause != nil {
		err = public.Cause
		s += ": " + err.Error()
	}
	return s
}

// truncate shortens a text to most bytes and an ellipsis.
func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// LimitError returns the error for a request that was refused by a limit.
func LimitError(refused admission.Refusal) *Error {
	e := &Error{Code: codeBusy, Message: "Too many requests, try again later", Data: limitData(refused), cause: &admission.Error{Refusal: refused}}
	switch {
	case refused.Exhausted:
		e.Message = "The budget of the day is used up, try again tomorrow"
	case refused.Limit == admission.Subscriptions:
		e.Code, e.Message = CodeInternalError, "Too many streams of changes are open, try again later"
	case refused.Limit == admission.Sessions:
		e.Message = "Too many sessions are open, try again later"
	case refused.Limit == admission.Audit:
		e.Message = "Requests cannot be recorded, as they must be, try again later"
	case refused.Limit == admission.Live:
		e.Message = "The providers are being loaded, try again later"
	case refused.Limit == admission.Bytes:
		e.Message = "The answers are more than may be sent, try again later"
	}
	return e
}

// PacedError returns the error for an answer that cannot be sent within [admission.MaxWait].
func PacedError() *Error {
	return LimitError(admission.Refusal{Limit: admission.Bytes, Of: "tenant", RetryAfter: admission.MaxWait})
}

// limitData returns the data of a LimitError.
func limitData(refused admission.Refusal) []byte {
	data := append([]byte(`{"code":"`), limitCode(refused)...)
	data = appendMember(append(data, '"'), "limit", refused.Limit)
	data = appendMember(data, "of", refused.Of)
	data = append(data, `,"retryAfterMs":`...)
	return append(strconv.AppendInt(data, max(refused.RetryAfter.Milliseconds(), 1), 10), '}')
}

// limitCode is the code of a refusal for clients and for the access log.
func limitCode(refused admission.Refusal) string {
	if refused.Exhausted {
		return "exhausted"
	}
	return "limited"
}

// BusyError returns the error for a request that the server has no room for.
func BusyError() *Error {
	return &Error{Code: codeBusy, Message: errorClasses[abi.CodeBusy].message, Data: []byte(`{"code":"busy"}`)}
}

// DeniedError returns the error for a client that may do nothing. why is told to the client.
func DeniedError(why error) *Error {
	return &Error{Code: codeDenied, Message: "Denied: " + why.Error(), Data: []byte(`{"code":"` + abi.CodeDenied.String() + `"}`)}
}
