package mcp

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/trace"
)

// An AccessLog gets an entry for each request. It is safe for concurrent use and does not block.
type AccessLog func(accesslog.Entry)

// Record adds an entry with the client of ctx to the log. A nil AccessLog does nothing.
func (l AccessLog) Record(ctx context.Context, e accesslog.Entry) {
	if l == nil {
		return
	}
	if caller := auth.CallerOf(ctx); caller != nil {
		e.Client, e.Principal = caller.Address, caller.Name()
	}
	e.Duration = time.Since(e.Time)
	l(e)
}

// An access is what the log and the trace need to know of a request under way. A nil access is neither logged nor traced.
type access struct {
	span    *trace.Span // nil if the request is not traced
	began   time.Time
	flushed int64  // bytes of the answer that were sent in parts
	target  string // URI or template; empty for none
	failure *Error // of a tool, whose result says so; nil for none
}

// beginAccess gives the access of a request that begins now, and the context in which to answer it. The access is nil without a
// log and traces.
func (c *Core) beginAccess(ctx context.Context, r *request, revision Revision, header trace.Parent) (context.Context, *access) {
	if c.cfg.AccessLog == nil && c.cfg.Tracer == nil {
		return ctx, nil
	}
	a := &access{began: time.Now()}
	if c.cfg.Tracer != nil {
		a.span = trace.Begin(c.cfg.Tracer, trace.Request{
			Method: r.method, Revision: string(revision), Began: a.began, Parents: [2]trace.Parent{r.params.traceParent(), header},
		})
	}
	return trace.With(ctx, a.span), a
}

// TraceRefused traces a request that a front has refused, with a code as [AccessCode] gives it. m is nil for a request of which
// no message was read: it is in no trace of its client, who may be anyone.
func (c *Core) TraceRefused(m *Message, began time.Time, code string) {
	if c.cfg.Tracer == nil {
		return
	}
	r := trace.Request{Began: began}
	if m != nil {
		r.Method, r.Revision, r.Parents = m.Method, string(m.Revision), [2]trace.Parent{m.params.traceParent(), m.Trace}
	}
	trace.Begin(c.cfg.Tracer, r).End(code)
}

// Traces reports whether requests may be traced: whether fronts must set Message.Trace.
func (c *Core) Traces() bool { return c.cfg.Tracer != nil }

func (a *access) setTarget(target string) {
	if a != nil {
		a.target = target
	}
}

func (a *access) addFlushed(bytes int) {
	if a != nil {
		a.flushed += int64(bytes)
	}
}

// recordAccess logs r, whose answer has so many bytes beyond those that were sent in parts.
func (c *Core) recordAccess(ctx context.Context, r *request, bytes int, failure *Error) {
	a := r.access
	if a == nil {
		return
	}
	if failure == nil {
		failure = a.failure
	}
	if a.target == "" {
		a.target = r.uri
	}
	code := AccessCode(failure)
	a.span.End(code)
	c.cfg.AccessLog.Record(ctx, accesslog.Entry{
		Time: a.began, Session: r.session, Method: truncate(r.method, maxMethod), URI: a.target,
		Code: code, Bytes: a.flushed + int64(bytes),
	})
}

// AccessCode gives the code of an entry for an error; nil is no error.
func AccessCode(e *Error) string {
	var limit *admission.Error
	switch {
	case e == nil:
		return abi.CodeOK.String()
	case errors.As(e, &limit):
		return limitCode(limit.Refusal)
	case e.cause != nil:
		return abi.CodeOf(e.cause).String()
	}
	return strconv.Itoa(e.Code)
}

// recordListen logs a subscription that has begun, or was refused. more is how many URIs it has beside the access's.
func (c *Core) recordListen(ctx context.Context, r *request, more int, failure *Error) {
	if a := r.access; a != nil {
		code := AccessCode(failure)
		a.span.End(code)
		c.cfg.AccessLog.Record(ctx, accesslog.Entry{
			Time: a.began, Method: ListenMethod, URI: a.target, More: more, Code: code,
		})
	}
}

// TraceDownload begins the span of a download, in the context that it returns. The caller ends the span; it is nil for a download
// that is not traced.
func (c *Core) TraceDownload(ctx context.Context, began time.Time, header trace.Parent) (context.Context, *trace.Span) {
	span := trace.Begin(c.cfg.Tracer, trace.Request{Method: DownloadMethod, Began: began, Parents: [2]trace.Parent{header}})
	return trace.With(ctx, span), span
}

// RecordDownload logs a download that has ended, of so many bytes. Fronts call it, since one takes several calls of
// Download.
func (c *Core) RecordDownload(ctx context.Context, began time.Time, uri string, bytes int64, failure *Error) {
	c.cfg.AccessLog.Record(ctx, accesslog.Entry{
		Time: began, Method: DownloadMethod, URI: uri, Code: AccessCode(failure), Bytes: bytes,
	})
}
