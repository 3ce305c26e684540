package main

import (
	"net"
	"testing"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/serve"
)

func TestEndpoint(t *testing.T) {
	const all = "http://127.0.0.1:8080/mcp and all other addresses of this machine"
	for ip, want := range map[string]string{
		"127.0.0.1": "http://127.0.0.1:8080/mcp", "::1": "http://[::1]:8080/mcp", "0.0.0.0": all, "::": all,
	} {
		if got := serve.Endpoint(&net.TCPAddr{IP: net.ParseIP(ip), Port: 8080}, false); got != want {
			t.Errorf("%s: got %s, want %s", ip, got, want)
		}
	}
}
