package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// guard is the transport of a registry: it decides where each request may go, redirects and those for tokens included, and
// bounds how long it takes.
type guard endpoint

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	e := (*endpoint)(g)
	token := e.tokenRequest(req)
	if token != nil {
		req = token
	}
	plain, err := e.isPlain(req.Context())
	if err == nil {
		err = e.places.check(req.URL, plain)
	}
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	e.secrets.note(req.Header.Get("Authorization"))
	ctx, cancel := context.WithCancelCause(req.Context())
	w := newWatch(cancel, e.options.Idle, req.ContentLength)
	req = req.WithContext(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &sentBody{ReadCloser: req.Body, watch: w}
	}
	resp, err := e.transport.RoundTrip(req)
	w.answered(resp)
	if err == nil {
		err = checkCoding(resp)
	}
	if err == nil && token != nil {
		err = checkToken(resp)
	}
	if err != nil {
		err = causeOf(ctx, err)
		w.stop()
		return nil, err
	}
	e.adoptRealm(resp)
	resp.Body = &receivedBody{ReadCloser: resp.Body, watch: w, ctx: ctx}
	return resp, nil
}

// checkCoding refuses content that expands.
func checkCoding(resp *http.Response) error {
	coding := resp.Header.Get("Content-Encoding")
	if coding == "" || strings.EqualFold(coding, "identity") {
		return nil
	}
	_ = resp.Body.Close()
	return refusedf("the registry used the content coding %.32q without being asked", coding)
}

// A stallError says that a registry let its client wait.
type stallError struct {
	wait  time.Duration
	whole bool // for the whole answer, not for the next byte
}

func (s *stallError) Error() string {
	if s.whole {
		return fmt.Sprintf("the registry was too slow: the request had not ended after %v", s.wait)
	}
	return fmt.Sprintf("the registry sent nothing for %v", s.wait)
}

const (
	wholeTime   = time.Minute
	slowestRate = 16 << 10 // bytes per second of a body
)

// A watch ends a request: when nothing was sent or received for a while, and when it takes too long for its size.
type watch struct {
	idle        time.Duration
	cancel      context.CancelCauseFunc
	next, whole *time.Timer
	done        atomic.Bool // an answer has come
}

func newWatch(cancel context.CancelCauseFunc, idle time.Duration, size int64) *watch {
	w := &watch{idle: idle, cancel: cancel}
	w.next = time.AfterFunc(idle, func() { cancel(&stallError{wait: idle}) })
	limit := timeFor(size)
	w.whole = time.AfterFunc(limit, func() { cancel(&stallError{wait: limit, whole: true}) })
	return w
}

func timeFor(size int64) time.Duration {
	return wholeTime + time.Duration(max(size, 0)/slowestRate)*time.Second
}

// answered gives the body of resp its own time; resp may be nil.
func (w *watch) answered(resp *http.Response) {
	w.done.Store(true)
	w.next.Stop()
	if resp == nil {
		return
	}
	w.whole.Stop()
	size := resp.ContentLength
	if size < 0 {
		size = unknownSize
	}
	limit := timeFor(size)
	w.whole = time.AfterFunc(limit, func() { w.cancel(&stallError{wait: limit, whole: true}) })
}

// unknownSize is the size that an answer without one may have, in bytes.
const unknownSize = 64 << 20

func (w *watch) stop() {
	w.next.Stop()
	w.whole.Stop()
	w.cancel(nil)
}

// causeOf returns why a context ended, if that is a stall, else err.
func causeOf(ctx context.Context, err error) error {
	if stall, ok := context.Cause(ctx).(*stallError); ok {
		return stall
	}
	return err
}

// A sentBody is watched while its bytes are on their way, not while they are read from the source.
type sentBody struct {
	io.ReadCloser
	watch *watch
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.watch.next.Stop()
	n, err := b.ReadCloser.Read(p)
	if !b.watch.done.Load() {
		b.watch.next.Reset(b.watch.idle)
	}
	return n, err
}

// A receivedBody is watched while its reader waits for it.
type receivedBody struct {
	io.ReadCloser
	watch *watch
	ctx   context.Context
}

func (b *receivedBody) Read(p []byte) (int, error) {
	b.watch.next.Reset(b.watch.idle)
	n, err := b.ReadCloser.Read(p)
	b.watch.next.Stop()
	if err != nil && err != io.EOF {
		err = causeOf(b.ctx, err)
	}
	return n, err
}

func (b *receivedBody) Close() error {
	err := b.ReadCloser.Close()
	b.watch.stop()
	return err
}
