package admintest

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/wasmres/wasmres/internal/admin"
)

// Validate listens on a socket of the test's folder, and passes all requests on to that of a server. It is an error of the test
// if the server makes a request that the description of the API forbids or does not know, or gives an answer that does not fit
// the description.
func Validate(t testing.TB, server string) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), admin.SocketName)
	l, err := admin.Listen(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	pass(t, l, "http", "wasmres", &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", server)
	}})
	return socket
}

// ValidateTLS does what Validate does for the host and port of a server that knows its clients by admin keys, and returns another host
// and port. config is that of the server.
func ValidateTLS(t testing.TB, server string, config *tls.Config) (address string) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	pass(t, l, "https", server, &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}})
	return l.Addr().String()
}

// pass passes what comes to l on to a server until the test ends.
func pass(t testing.TB, l net.Listener, scheme, host string, to *http.Transport) {
	proxy := &http.Server{ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0), Handler: &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = scheme, host },
		Transport:     Transport(t, to),
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // the client sees no server
	}}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = proxy.Serve(l) // until it is closed
	}()
	t.Cleanup(func() {
		_ = proxy.Close() // a request that a test has left behind
		<-served
		to.CloseIdleConnections()
	})
}

// Client returns a client of a server's socket whose traffic is held against the description of the API, until the test ends.
func Client(t testing.TB, server string) *admin.Client {
	t.Helper()
	c := admin.NewClient(Validate(t, server))
	t.Cleanup(c.Close)
	return c
}

// Remote returns a client of a server on another machine, as Client does.
func Remote(t testing.TB, to admin.Remote) *admin.Client {
	t.Helper()
	c, err := admin.NewRemoteClient(to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Through(func(rt http.RoundTripper) http.RoundTripper { return Transport(t, rt) })
}

// A Reporter gets the errors of traffic, as [testing.TB] does.
type Reporter interface {
	Errorf(format string, args ...any)
}

// Transport returns one that holds what passes through another one against the description of the API, as Validate does.
func Transport(to Reporter, through http.RoundTripper) http.RoundTripper {
	return &validator{to, through}
}

type validator struct {
	to      Reporter
	through http.RoundTripper
}

// CloseIdleConnections is what [http.Client] calls.
func (v *validator) CloseIdleConnections() {
	if c, ok := v.through.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// described reads the description once.
var described = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(admin.OpenAPI())
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	return legacy.NewRouter(doc)
})

// RoundTrip implements [http.RoundTripper].
func (v *validator) RoundTrip(r *http.Request) (*http.Response, error) {
	router, err := described()
	if err != nil {
		return nil, fmt.Errorf("the description of the API is wrong: %w", err)
	}
	body, err := takeBody(&r.Body)
	if err != nil {
		return nil, err
	}
	answer, err := v.through.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	asked := r.Clone(r.Context())
	asked.URL.Scheme, asked.URL.Host = "", "" // of the description, in which servers have a path alone
	asked.Body = io.NopCloser(bytes.NewReader(body))
	if err := check(router, asked, answer); err != nil {
		v.to.Errorf("%s %s, answered %s: %v", r.Method, r.URL.RequestURI(), answer.Status, err)
	}
	return answer, nil
}

// takeBody reads a body, and puts another one with the same content in its place.
func takeBody(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	text, err := io.ReadAll(*body)
	if err != nil {
		return nil, err
	}
	_ = (*body).Close()
	*body = io.NopCloser(bytes.NewReader(text))
	return text, nil
}

// check holds a request and its answer against the description.
func check(router routers.Router, r *http.Request, answer *http.Response) error {
	isRefused := answer.StatusCode >= 400
	route, params, err := router.FindRoute(r)
	if err != nil { // a path or method that is not in the description
		switch answer.StatusCode {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusForbidden, http.StatusUnauthorized, http.StatusTooManyRequests:
			return nil
		}
		return err
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, MultiError: true},
	}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil && !isRefused {
		return fmt.Errorf("a request that the description forbids was made: %w", err)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: answer.StatusCode, Header: answer.Header, Options: in.Options}
	if isStream(answer) { // which may have no end
		out.Options = &openapi3filter.Options{ExcludeResponseBody: true, IncludeResponseStatus: true}
		return openapi3filter.ValidateResponse(r.Context(), out)
	}
	body, err := takeBody(&answer.Body)
	if err != nil {
		return err
	}
	out.SetBodyBytes(body)
	return openapi3filter.ValidateResponse(r.Context(), out)
}

func isStream(answer *http.Response) bool {
	return answer.ContentLength < 0 && !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json")
}
