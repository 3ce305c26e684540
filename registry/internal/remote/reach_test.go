package remote_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/registry/internal/remote"
)

// A registry that others than the user have named must be public, or be permitted by its name or network. No connection is opened
// to others, however they are spelled.
func TestReach(t *testing.T) {
	t.Parallel()
	networks := func(all ...string) (found []netip.Prefix) {
		for _, n := range all {
			found = append(found, netip.MustParsePrefix(n))
		}
		return found
	}
	for name, test := range map[string]struct {
		host  string // of the registry; its port is appended
		reach remote.Reach
		want  string // empty: it succeeds
	}{
		"loopback":                      {"127.0.0.1", remote.Reach{}, "the address of the registry is loopback"},
		"a name of loopback":            {"localhost", remote.Reach{}, "the address of the registry is loopback"},
		"another address of loopback":   {"127.1.2.3", remote.Reach{}, "the address of the registry is loopback"},
		"a private address":             {"10.1.2.3", remote.Reach{}, "the address of the registry is private"},
		"a private IPv6 address":        {"[fd00::1]", remote.Reach{}, "the address of the registry is private"},
		"a shared address":              {"100.64.0.1", remote.Reach{}, "the address of the registry is shared"},
		"metadata":                      {"169.254.169.254", remote.Reach{}, "the address of the registry is link-local"},
		"metadata of IPv6":              {"[fd00:ec2::254]", remote.Reach{}, "the address of the registry is private"},
		"multicast":                     {"224.0.0.1", remote.Reach{}, "the address of the registry is multicast"},
		"unspecified":                   {"0.0.0.0", remote.Reach{}, "the address of the registry is unspecified"},
		"another host is permitted":     {"127.0.0.1", remote.Reach{Hosts: func(host string) bool { return strings.HasPrefix(host, "localhost:") }}, "loopback"},
		"another network is permitted":  {"127.0.0.1", remote.Reach{Networks: networks("127.1.0.0/16", "10.0.0.0/8")}, "loopback"},
		"the host is permitted":         {"127.0.0.1", remote.Reach{Hosts: func(host string) bool { return strings.HasPrefix(host, "127.0.0.1:") }}, ""},
		"the network is permitted":      {"127.0.0.1", remote.Reach{Networks: networks("127.0.0.0/8")}, ""},
		"the network of a name":         {"localhost", remote.Reach{Networks: networks("127.0.0.0/8", "::1/128")}, ""},
		"another port of the host only": {"127.0.0.1", remote.Reach{Hosts: func(host string) bool { return host == "127.0.0.1:1" }}, "loopback"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHostile(t, func(*hostile) {})
			var opened atomic.Int32
			server := httptest.NewUnstartedServer(h)
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					opened.Add(1)
				}
			}
			server.Start()
			t.Cleanup(server.Close)
			_, port, err := net.SplitHostPort(server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			h.host = test.host + ":" + port
			_, err = h.pull(t, remote.Options{Reach: &test.reach})
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || opened.Load() > 0 {
				t.Errorf("%d connections, error %v; want none, and %q", opened.Load(), err, test.want)
			}
		})
	}
}

// What a permitted registry leads to is bounded as it is: by the networks, and not by where the registry is.
func TestReachOfRedirects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ to, want string }{
		"loopback elsewhere": {"https://127.77.0.1:1/x", "led to 127.77.0.1, a loopback address"},
		"private":            {"https://10.0.0.1/x", "led to 10.0.0.1, a private address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, r *http.Request) bool {
					if isBlob(r, h.provider.Module) {
						http.Redirect(w, r, test.to, http.StatusTemporaryRedirect)
						return true
					}
					return false
				}
			})
			reach := &remote.Reach{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
			_, err := h.pull(t, remote.Options{Reach: reach, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
