package wasmres

import (
	"errors"
	"math"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// maxCompletions is how many values MCP allows in one answer.
const maxCompletions = 100

// serve runs one operation whose request has n bytes. A panic of a handler is not caught: in wasm it traps and the
// host gives the instance up.
func serve(op, n uint32) (code uint32) {
	r := newRequest()
	if op >= 32 || registered.ops&(1<<op) == 0 {
		return codeUnsupported
	}
	if !r.decode(takeInto(requestBuffer(n), channelRequest)) {
		return r.out.finish(Invalid("malformed request"))
	}
	return r.out.finish(run(op, r))
}

func run(op uint32, r *Request) error {
	switch op {
	case opDescribe:
		return describe(r)
	case opList:
		return newPage(r).run(registered.list, r)
	case opListDir:
		return newPage(r).run(registered.listDir, r)
	case opComplete:
		return complete(r)
	}
	route := registered.route(r.route, r.URI)
	if route == nil {
		return ErrNotFound
	}
	switch op {
	case opRead:
		return read(r, route)
	case opSubscribe:
		r.out.buf = wire.AppendUint(r.out.buf, 14, millis(route.every))
		return nil
	case opPoll:
		return poll(r, route)
	}
	return ErrUnsupported
}

// newPage makes the page that a request asks for.
func newPage(r *Request) *Page {
	limit := int(min(r.limit, math.MaxInt32)) // with TinyGo an int has 32 bits
	if limit == 0 {
		limit = defaultPage
	}
	return &Page{out: &r.out, cursor: r.cursor, limit: limit}
}

func describe(r *Request) error {
	b, at := wire.Begin(r.out.buf, 9)
	b = registered.manifest.append(b, registered.templates, registered.statics, registered.ops)
	r.out.buf = wire.End(b, at)
	return nil
}

func read(r *Request, route *Route) error {
	contents, err := route.read(r)
	if err != nil {
		return err
	}
	if len(contents) == 0 {
		return ErrNotFound
	}
	b := wire.AppendUint(r.out.buf, 10, millis(route.ttl))
	r.out.buf = wire.AppendUint(b, 11, route.scope)
	sole := len(contents) == 1
	for i := range contents {
		c := &contents[i]
		if sole && c.etag != "" && c.etag == r.IfNoneMatch {
			c.unmodified = true
		}
		if err := r.out.content(c, r, route); err != nil {
			return err
		}
	}
	return nil
}

func poll(r *Request, route *Route) error {
	if route.version == nil {
		return ErrUnsupported
	}
	etag, err := route.version(r)
	if err != nil {
		return err
	}
	b, at := wire.Begin(r.out.buf, 3)
	b = wire.AppendString(b, 1, r.URI)
	b = wire.AppendString(b, 7, etag)
	b = wire.AppendBool(b, 10, etag != "" && etag == r.IfNoneMatch)
	r.out.buf = wire.End(b, at)
	return nil
}

func complete(r *Request) error {
	route := registered.template(r.URI)
	if route == nil {
		return ErrNotFound
	}
	f := route.completer(r.argument)
	if f == nil {
		return nil // no suggestions is an answer
	}
	values, err := f(r, r.prefix)
	if err != nil {
		return err
	}
	b := r.out.buf
	for _, v := range values[:min(len(values), maxCompletions)] {
		b = wire.AppendElement(b, 6, v)
	}
	b = wire.AppendUint(b, 7, uint64(len(values)))
	r.out.buf = wire.AppendBool(b, 8, len(values) > maxCompletions)
	return nil
}

// finish sends what is left, or the error, and gives the code the operation ends with.
func (o *out) finish(err error) uint32 {
	if err == nil {
		err = o.flush()
	}
	if o.stopped != nil {
		err = o.stopped // whatever the handler made of it
	}
	if errors.Is(err, errEnough) {
		err = o.flushLast()
	}
	if err == nil {
		return codeOK
	}
	e := public(err)
	o.buf = e.append(o.buf[:0])
	if len(o.buf) > 0 && o.stopped == nil {
		host.Emit(o.buf)
	}
	return uint32(e.Code)
}
