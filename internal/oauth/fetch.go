package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/internal/netaddr"
)

const (
	fetchTime = 5 * time.Second
	maxBody   = 1 << 20 // bytes
)

// newClient makes a client for issuers. It follows no redirect, and uses no proxy that the environment names.
func newClient(publicOnly bool, base *http.Transport) *http.Client {
	dialer := &net.Dialer{Timeout: fetchTime}
	if publicOnly {
		dialer.Control = checkPublic
	}
	t := base.Clone()
	t.Proxy, t.DialContext, t.DisableCompression = nil, dialer.DialContext, true
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxConnsPerHost, t.IdleConnTimeout = 100, 2, 32, 30*time.Second
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout, t.MaxResponseHeaderBytes = fetchTime, fetchTime, 64<<10
	return &http.Client{
		Transport: t, Timeout: fetchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkPublic refuses, as the Control of a [net.Dialer], to connect to addresses that are not public.
func checkPublic(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address %s is malformed", address)
	}
	if what := netaddr.Special(to.Addr()); what != "" {
		return fmt.Errorf("%s is %s: an issuer that a tenant names must be at a public address", to.Addr(), what)
	}
	return nil
}

// get fetches a JSON document.
func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return do(client, req)
}

// do sends a request, and returns the body of its answer, which must be JSON.
func do(client *http.Client, req *http.Request) ([]byte, error) {
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: the status is %d", req.Method, req.URL.Redacted(), resp.StatusCode)
	}
	if kind := resp.Header.Get("Content-Type"); !strings.Contains(kind, "json") {
		return nil, fmt.Errorf("%s %s: the answer is %.64q, not JSON", req.Method, req.URL.Redacted(), kind)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Redacted(), err)
	}
	if len(body) > maxBody {
		return nil, errors.New("the answer is longer than 1 MiB")
	}
	return body, nil
}
