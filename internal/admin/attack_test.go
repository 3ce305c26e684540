package admin_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/tenant"
)

// dial connects to a socket.
func dial(t *testing.T, socket string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Paths that are not clean are unknown to every caller; none leads a caller to another tenant, or to what its role may not do.
func TestPathTricks(t *testing.T) {
	r := serveTLS(t, admintest.New(t, &tenant.Tenant{ID: "acme", Hosts: []string{"hidden.example"}}, &tenant.Tenant{ID: "beta"}))
	beta := r.key(t, admin.TenantAdmin, "beta")
	for _, path := range []string{
		"/v1/tenants/acme", "//v1/tenants/acme", "/v1//tenants/acme", "/v1/tenants/beta/../acme", "/v1/tenants/beta/%2e%2e/acme", "/v1/tenants/beta%2f..%2facme",
		"/v1/tenants/%61cme", "/v1/tenants/acme/", "/v1/tenants/acme%00", "/v1/tenants/acme;x", "/v1/tenants/ACME", "/v1/tenants/acme%2ffile", "/v1/./tenants/acme",
		"/v1/tenants/beta/..%5cacme", "/v1/tenants/acme/file", "/v1/tenants/beta/..;/acme/file", "/v1/tenants/beta?tenant=acme", "/v1/tenants?cursor=a&tenant=acme",
	} {
		answer, text := r.ask(t, "GET", path, "", beta)
		if strings.Contains(text, "hidden.example") || answer.StatusCode >= 500 || answer.StatusCode/100 == 3 {
			t.Errorf("%s: got %d %s", path, answer.StatusCode, text)
		}
		if answer, _ := r.ask(t, "GET", path, "", ""); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a key: got %d", path, answer.StatusCode)
		}
	}
	for _, path := range []string{"/v1/reload", "/v1/tenants/../reload", "/v1//reload", "/v1/tenants/beta/%2e%2e/%2e%2e/reload"} {
		if answer, text := r.ask(t, "POST", path, "", beta); answer.StatusCode != 403 && answer.StatusCode != 404 {
			t.Errorf("%s: got %d %s", path, answer.StatusCode, text)
		}
	}
}

// Requests on one connection are answered in their order, and one that two readers could take for different requests not at all.
func TestPipelining(t *testing.T) {
	socket := admintest.New(t, acme()).ServeBare(t)
	c := dial(t, socket)
	if _, err := io.WriteString(c, "GET /v1/node HTTP/1.1\r\nHost: x\r\n\r\nGET /none HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/tenants/acme HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for i, want := range []int{200, 404, 200} {
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		if answer.StatusCode != want {
			t.Errorf("answer %d has status %d, want %d", i, answer.StatusCode, want)
		}
	}
	for name, text := range map[string]string{
		"two lengths":          "POST /v1/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
		"unknown coding":       "POST /v1/reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\r\n\r\n",
		"no host":              "GET /v1/node HTTP/1.1\r\n\r\n",
		"a header with no end": "GET /v1/node HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
	} {
		c := dial(t, socket)
		go func() { _, _ = io.WriteString(c, text) }()
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil && answer.StatusCode < 400 {
			t.Errorf("%s: got %d", name, answer.StatusCode)
		}
	}
}

// A body without an end is refused as soon as it is too large.
func TestEndlessBody(t *testing.T) {
	c := dial(t, admintest.New(t, acme()).ServeBare(t))
	go func() {
		chunk := fmt.Sprintf("%x\r\n%s\r\n", 4096, strings.Repeat("x", 4096))
		_, err := io.WriteString(c, "POST /v1/tenants/acme/keys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"+
			"1\r\n\"\r\n")
		for err == nil {
			_, err = io.WriteString(c, chunk)
		}
	}()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %v, %v", answer, err)
	}
}

// Connections that say nothing at the address of other machines do not keep operators from the socket.
func TestHungConnections(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme()))
	at := strings.TrimPrefix(r.url, "https://")
	for i := range 300 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if i%2 == 0 { // half a handshake
			_, _ = c.Write([]byte{22, 3, 1, 2, 0, 1})
		}
	}
	if answer, text := headed(t, r.ServeBare(t), "GET", "/v1/node", ""); answer.StatusCode != 200 {
		t.Errorf("got %d %s", answer.StatusCode, text)
	}
	// Those that have not spoken for longest make room for the next client.
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: r.client.Clone(), DisableKeepAlives: true}}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/node", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("got %d", answer.StatusCode)
	}
}

// Connections that wait for nothing, or for a body that never comes, do not keep operators out.
func TestIdleConnections(t *testing.T) {
	h := admintest.New(t, acme())
	socket := h.ServeBare(t)
	for i := range 600 {
		c := dial(t, socket)
		switch i % 3 {
		case 0:
			if _, err := io.WriteString(c, "GET /v1/node HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("connection %d: got %v, %v", i, answer, err)
			}
		case 1:
			_, _ = io.WriteString(c, "GET /v1/no") // it may be closed already
		}
	}
	if answer, text := headed(t, socket, "GET", "/v1/node", ""); answer.StatusCode != http.StatusOK {
		t.Errorf("got %d %s", answer.StatusCode, text)
	}
	probes := h.ServeProbes(t)
	for range 600 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", probes)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, "POST /readyz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n") // and no body
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+probes+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("the probe got %d", answer.StatusCode)
	}
}

// Slow requests of one tenant's admin do not keep those of others out, nor operators.
func TestSlowRequestsOfATenant(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme(), &tenant.Tenant{ID: "beta"}))
	beta, other, operator := r.key(t, admin.TenantAdmin, "beta"), r.key(t, admin.TenantAdmin, "acme"), r.key(t, admin.Operator, "")
	var slow []net.Conn
	for range 16 {
		c, err := tls.Dial("tcp", strings.TrimPrefix(r.url, "https://"), r.client.Clone())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		slow = append(slow, c)
		request := "POST /v1/tenants/beta/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + beta + "\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != http.StatusContinue { // now it reads the body
			t.Fatalf("got %v, %v", answer, err)
		}
	}
	for _, tt := range []struct {
		path, key string
		want      int
	}{{"/v1/tenants/beta", beta, 429}, {"/v1/tenants/acme", other, 200}, {"/v1/tenants/beta", operator, 200}} {
		if answer, text := r.ask(t, "GET", tt.path, "", tt.key); answer.StatusCode != tt.want {
			t.Errorf("%s: got %d %s, want %d", tt.path, answer.StatusCode, text, tt.want)
		}
	}
	for _, c := range slow {
		_ = c.Close()
	}
	for ; ; time.Sleep(10 * time.Millisecond) {
		answer, _ := r.ask(t, "GET", "/v1/tenants/beta", "", beta)
		if answer.StatusCode == http.StatusOK {
			break
		}
	}
}

// Old versions of TLS are refused.
func TestOldTLS(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme()))
	config := r.client.Clone()
	config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/node", nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := c.Do(q); err == nil {
		answer.Body.Close()
		t.Errorf("got %d", answer.StatusCode)
	}
}
