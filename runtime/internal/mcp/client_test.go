package mcp_test

import (
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

func TestClientOf(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7:1000":               "192.0.2.7",
		"[::ffff:192.0.2.7]:1000":      "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:1000":  "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::1]:2":     "2001:db8:1:2::/64",
		"[2001:db8:1:3::1]:2":          "2001:db8:1:3::/64",
		"[fe80::1%eth0]:1":             "fe80::/64",
		"127.0.0.1:1000":               "",
		"127.9.9.9:1000":               "",
		"[::1]:1000":                   "",
		"[::ffff:127.0.0.1]:1000":      "",
		"":                             "",
		"pipe":                         "",
		"@":                            "",
		"mcp.test:80":                  "",
		"192.0.2.7":                    "",
		"[2001:db8:1:2:3:4:5:6]:99999": "",
	} {
		if got := mcp.ClientOf(addr); got != want {
			t.Errorf("%q: got %q, want %q", addr, got, want)
		}
	}
}
