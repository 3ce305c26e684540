package nodebench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"
)

// A client is one connection.
type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(address string) (*client, error) {
	conn, err := net.DialTimeout("tcp", address, time.Minute)
	if err != nil {
		return nil, err
	}
	return &client{conn, bufio.NewReader(conn)}, nil
}

// dial connects, until the end of the benchmark.
func (s *server) dial() *client {
	s.b.Helper()
	c, err := dial(s.address)
	if err != nil {
		s.b.Fatal(err)
	}
	s.b.Cleanup(func() { c.Close() })
	return c
}

// exchange sends a request, and reads its answer. first is the time until the first byte of that.
func (c *client) exchange(request []byte) (status int, body []byte, first time.Duration, err error) {
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, nil, 0, err
	}
	began := time.Now()
	if _, err := c.Write(request); err != nil {
		return 0, nil, 0, err
	}
	if _, err := c.in.Peek(1); err != nil {
		return 0, nil, 0, err
	}
	first = time.Since(began)
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, nil, 0, err
	}
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, first, errors.Join(err, resp.Body.Close())
}

// get exchanges a request that must succeed, and returns the time until the first byte.
func (c *client) get(b testing.TB, request []byte) time.Duration {
	b.Helper()
	status, body, first, err := c.exchange(request)
	if err == nil && !isResult(status, body) {
		err = fmt.Errorf("got %d %.300s", status, body)
	}
	if err != nil {
		b.Fatal(err)
	}
	return first
}

// isResult reports whether an answer is one, and no error.
func isResult(status int, body []byte) bool {
	return status == http.StatusOK && bytes.Contains(body, []byte(`"result":`))
}

// post is a request of MCP at a path, with a key unless it is empty, for a URI unless that is empty.
func post(path, key, method, uri string) []byte {
	params := map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": struct{}{},
	}}
	header := ""
	if method == "subscriptions/listen" {
		params["notifications"] = map[string]bool{"resourcesListChanged": true}
	}
	if uri != "" {
		params["uri"] = uri
		header = "Mcp-Name: " + uri + "\r\n"
	}
	if key != "" {
		header += "Authorization: Bearer " + key + "\r\n"
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%sContent-Length: %d\r\n\r\n%s", path, method, header, len(body), body)
}

func read(tenantID, key, uri string) []byte {
	return post(pathOf(tenantID), key, "resources/read", uri)
}

func pathOf(tenantID string) string { return "/t/" + tenantID + "/mcp" }

// quantile sorts times, and returns the one that a share of them does not exceed, in milliseconds.
func quantile(times []time.Duration, share float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return float64(times[int(share*float64(len(times)-1)+0.5)].Microseconds()) / 1e3
}
