package httpcap

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

const (
	maxRedirects = 5
	maxDrain     = 4 << 10 // bytes of the body of a redirect that are read so that its connection can be reused
	maxSubject   = 256     // bytes
)

// A step is one request of an exchange: the first, or one that a redirect asked for.
type step struct {
	method string
	target *target
	rule   *rule
	header http.Header // as the guest wrote it, with placeholders; never changed
	body   []byte
}

// An answer is the response of a server or of the cache.
type answer struct {
	status int
	header http.Header
	body   io.ReadCloser
	length int64 // of the body; -1 when it is not known
}

// request runs an exchange up to the first part of the body.
func (h *HTTP) request(ctx context.Context, request []byte, use *capability.Use) (capability.Response, error) {
	if err := h.checkOpen(ctx); err != nil {
		return capability.Response{}, err
	}
	var req abi.HTTPRequest
	if err := req.Decode(request); err != nil {
		return capability.Response{}, err
	}
	first, err := h.newRequest(&req, use)
	if err != nil {
		return capability.Response{}, err
	}
	x, err := h.begin(ctx, req.TimeoutMillis)
	if err != nil {
		return capability.Response{}, err
	}
	last, a, err := h.follow(x.ctx, first)
	if err != nil {
		x.end()
		return capability.Response{}, err
	}
	x.subject, x.rule = use.Subject, use.Rule
	limit := h.limits.Response
	if req.MaxBytes > 0 && req.MaxBytes < uint64(limit) {
		limit = int64(req.MaxBytes)
	}
	resp, err := h.respond(ctx, &stream{exchange: x}, last, a, limit)
	use.Bytes = uint64(len(req.Body) + len(resp.Body))
	return resp, err
}

func (h *HTTP) checkOpen(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.closed.Load() {
		return abi.Errorf(abi.CodeUnavailable, "closed")
	}
	return nil
}

// newRequest checks the request of a guest, including its secrets, before any connection is opened.
func (h *HTTP) newRequest(req *abi.HTTPRequest, use *capability.Use) (*step, error) {
	method := orElse(req.Method, http.MethodGet)
	if !validMethod(method) {
		return nil, abi.Errorf(abi.CodeInvalidParams, "guests may not use the method %.32q", method)
	}
	use.Subject = method + " a malformed URL"
	if err := checkPlaceholders(req); err != nil {
		return nil, err
	}
	u, err := parseURL(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := targetOf(u)
	if err != nil {
		use.Subject = method + " " + (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
		return nil, err
	}
	use.Subject = method + " " + t.place()
	if len(req.Body) > h.limits.Request {
		return nil, abi.Errorf(abi.CodeTooLarge, "the body has more than %d bytes", h.limits.Request)
	}
	header, err := requestHeader(req.Header)
	if err != nil {
		return nil, err
	}
	r, err := h.match(method, t)
	if err != nil {
		return nil, err
	}
	use.Rule = r.text
	_, secrets, err := r.bindHeader(header, true)
	if err == nil && secrets && (header.Get("Range") != "" || header.Get("If-Range") != "") {
		err = abi.Errorf(abi.CodeInvalidParams, "a request with a secret cannot ask for a range")
	}
	return &step{method: method, target: t, rule: r, header: header, body: bytes.Clone(req.Body)}, err
}

func clip(s string) string { return s[:min(len(s), maxSubject)] }

// match finds the first rule that allows a request.
func (h *HTTP) match(method string, t *target) (*rule, error) {
	if r := firstThatAllows(h.rules, method, t); r != nil {
		return r, nil
	}
	return nil, &deniedError{rule: refusal(method, t)}
}

// An exchange holds the resources of a request until its body has been read: a deadline and a slot.
type exchange struct {
	ctx     context.Context
	cancel  context.CancelFunc
	slots   <-chan struct{}
	subject string
	rule    string
}

// begin waits for a slot. The caller ends the exchange.
func (h *HTTP) begin(ctx context.Context, millis uint32) (*exchange, error) {
	timeout := h.limits.Timeout
	if wanted := time.Duration(millis) * time.Millisecond; wanted > 0 {
		timeout = min(timeout, wanted)
	}
	x := &exchange{slots: h.slots}
	x.ctx, x.cancel = context.WithTimeout(ctx, timeout)
	select {
	case h.slots <- struct{}{}:
		return x, nil
	case <-x.ctx.Done():
		x.cancel()
		return nil, x.ctx.Err()
	}
}

func (x *exchange) release() { <-x.slots }

func (x *exchange) end() {
	x.cancel()
	x.release()
}

// follow sends a request and follows redirects.
func (h *HTTP) follow(ctx context.Context, at *step) (*step, *answer, error) {
	for n := 0; ; n++ {
		a, err := h.send(ctx, at, n == 0)
		if err != nil {
			return nil, nil, err
		}
		next, err := h.redirected(at, a)
		if err == nil && next == nil {
			return at, a, nil
		}
		if err == nil && n == maxRedirects {
			err = errors.New("too many redirects")
		}
		_, _ = io.CopyN(io.Discard, a.body, maxDrain)
		_ = a.body.Close()
		if err != nil {
			return nil, nil, err
		}
		at = next
	}
}

// redirected returns the request for a redirect, with the method and body that net/http would send, after matching it
// with the rules; nil when the answer is not a redirect.
func (h *HTTP) redirected(at *step, a *answer) (*step, error) {
	location := a.header.Get("Location")
	if location == "" {
		return nil, nil
	}
	next := &step{method: at.method, header: at.header, body: at.body}
	switch a.status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if next.body = nil; next.method != http.MethodHead {
			next.method = http.MethodGet
		}
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	u, err := parseURL(location)
	if err != nil {
		return nil, err
	}
	if next.target, err = targetOf(at.target.url().ResolveReference(u)); err != nil {
		return nil, err
	}
	if next.rule, err = h.match(next.method, next.target); err != nil {
		return nil, err
	}
	if !next.target.sameOrigin(at.target) {
		next.header = forwarded(at.header)
	}
	return next, nil
}

// send returns the answer to one request, from the cache if the entry is fresh.
func (h *HTTP) send(ctx context.Context, at *step, strict bool) (*answer, error) {
	header, secrets, err := at.rule.bindHeader(at.header, strict)
	if err != nil {
		return nil, err
	}
	key, cached := "", (*entry)(nil)
	if h.cache != nil && at.cacheable(secrets) {
		key = at.key()
		if cached = h.cache.get(key); cached.fresh(h.now()) && !noCache(at.header) {
			return cached.answer(h.now()), nil
		}
		header = cached.validate(header)
	}
	a, err := h.exchange(ctx, at, header)
	if err != nil {
		return nil, err
	}
	switch {
	case cached != nil && a.status == http.StatusNotModified:
		_ = a.body.Close()
		cached = cached.renewed(a.header, h.now())
		h.cache.put(cached)
		return cached.answer(h.now()), nil
	case key != "":
		h.cacheBody(at, key, a)
	case h.cache != nil && at.method != http.MethodGet && at.method != http.MethodHead && a.status < 400:
		h.cache.forget(at.target.text)
	}
	return a, nil
}

// onceOnly writes some header names in lower case. In canonical form they let net/http repeat a request of any method.
func onceOnly(method string, header http.Header) http.Header {
	if method == http.MethodGet || method == http.MethodHead {
		return header
	}
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := header[name]; ok {
			header = header.Clone()
			delete(header, name)
			header[strings.ToLower(name)] = values
		}
	}
	return header
}

// exchange sends one request to its server.
func (h *HTTP) exchange(ctx context.Context, at *step, header http.Header) (*answer, error) {
	req := (&http.Request{
		Method: at.method, URL: at.target.url(), Header: onceOnly(at.method, header), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if len(at.body) > 0 {
		req.ContentLength = int64(len(at.body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(at.body)), nil }
		req.Body, _ = req.GetBody()
	}
	transport := h.public
	if at.rule.private {
		transport = h.private
	}
	resp, err := transport.RoundTrip(req)
	if refused := (*deniedError)(nil); errors.As(err, &refused) {
		return nil, denied("%s, for %s", refused.rule, at.rule.text)
	}
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body is the connection, which does not end with ctx
		_ = resp.Body.Close()
		return nil, errors.New("the server switched to another protocol without being asked")
	}
	if at.method == http.MethodHead {
		return &answer{status: resp.StatusCode, header: resp.Header, body: http.NoBody}, resp.Body.Close()
	}
	if h.redactor != nil {
		resp.Header.Del("Content-Length") // redaction may change the length
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		_ = resp.Body.Close()
		return nil, errors.New("the server used a content coding without being asked")
	}
	return &answer{status: resp.StatusCode, header: resp.Header, body: resp.Body, length: resp.ContentLength}, nil
}
