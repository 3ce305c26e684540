package fastpath_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// A hostRouter has an endpoint for each host.
type hostRouter struct {
	hosts   map[string]*streamable.Handler
	netHTTP int // requests that net/http has read
}

func (r *hostRouter) Find(host, path []byte) (*streamable.Handler, bool) {
	h, ok := r.hosts[string(host)]
	return h, ok && string(path) == streamable.Path
}

func (r *hostRouter) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.netHTTP++
	h, ok := r.hosts[req.Host]
	if !ok {
		http.NotFound(w, req)
		return
	}
	h.ServeHTTP(w, req)
}

func (r *hostRouter) Close() (err error) {
	for _, h := range r.hosts {
		err = errors.Join(err, h.Close())
	}
	return err
}

// Each request on a connection goes to the endpoint that the router finds for it now.
func TestServerOfSeveralEndpoints(t *testing.T) {
	serves := func(text string) *streamable.Handler {
		src := streamtest.Source()
		src.Text("test://text", text)
		return streamtest.NewHandler(t, src, streamable.Config{AllowedHosts: []string{"a.test", "b.test"}})
	}
	router := &hostRouter{hosts: map[string]*streamable.Handler{"a.test": serves("first"), "b.test": serves("second")}}
	server, err := fastpath.NewServer(router, fastpath.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l := newMemory()
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() {
		if err := errors.Join(server.Shutdown(context.Background()), <-served); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	}()
	c := newClient(l.dial())
	defer c.conn.Close()
	for _, step := range []struct {
		host, want string
		change     func()
		netHTTP    int
	}{
		{"a.test", `"text":"first"`, nil, 0},
		{"b.test", `"text":"second"`, nil, 0},
		{"a.test", `"text":"first"`, nil, 0},
		{"c.test", "404 ", nil, 1},
		{"a.test", `"text":"third"`, func() { router.hosts["a.test"] = serves("third") }, 1},
		{"b.test", "404 ", func() { delete(router.hosts, "b.test") }, 2},
	} {
		if step.change != nil {
			step.change()
		}
		io.WriteString(c.conn, modernRead("test://text", "Host", step.host))
		if got, _ := c.answer("POST"); !strings.Contains(got, step.want) || router.netHTTP != step.netHTTP {
			t.Errorf("host %s: got %s, %d by net/http, want %s, %d", step.host, got, router.netHTTP, step.want, step.netHTTP)
		}
	}
}

func TestNewServerRefuses(t *testing.T) {
	h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{})
	for _, cfg := range []fastpath.Config{{HeaderTimeout: -1}, {Idle: -1}, {MaxConnections: -1}} {
		if _, err := fastpath.NewServer(h, cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
	if _, err := fastpath.NewServer(nil, fastpath.Config{}); err == nil {
		t.Error("no router is accepted")
	}
}
