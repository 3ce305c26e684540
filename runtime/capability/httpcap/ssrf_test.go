package httpcap_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// Each line is a way to reach what an operator did not grant, and the rule that refuses it.
func TestServerSideRequestForgery(t *testing.T) {
	var reached atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(inside.Close)
	port := portOf(t, inside.Listener)
	at := func(host string) string { return fmt.Sprintf("http://%s:%d/", host, port) }
	addr := netip.MustParseAddr
	dns, _ := resolver(t, map[string][]netip.Addr{
		"metadata.evil.test": {addr("169.254.169.254")}, "azure.evil.test": {addr("168.63.129.16")}, "metadata6.evil.test": {addr("fd00:ec2::254")},
		"ten.evil.test": {addr("10.0.0.1")}, "nat.evil.test": {addr("100.64.1.1")}, "zero.evil.test": {addr("0.0.0.0")},
		"mapped.evil.test": {addr("::ffff:127.0.0.1")}, "nat64.evil.test": {addr("64:ff9b::7f00:1")},
		"six.evil.test": {addr("2002:7f00:1::")}, "teredo.evil.test": {addr("2001:0:808:808::80ff:fffe")},
		"compatible.evil.test": {addr("::127.0.0.1")}, "local6.evil.test": {addr("::1")},
		"link6.evil.test": {addr("fe80::1")}, "multicast.evil.test": {addr("224.0.0.1")},
		"doc.evil.test": {addr("192.0.2.1")}, "broadcast.evil.test": {addr("255.255.255.255")},
	})
	origin := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
	}))
	redirect := func(to string) string { return origin.at("good.test", "/?to="+url.QueryEscape(to)) }
	rules := []httpcap.Rule{
		{Host: "good.test", Ports: []uint16{origin.port}, Private: true},
		{Scheme: "http", Host: "*.evil.test", Ports: []uint16{port}},
		{Scheme: "http", Host: "localhost", Ports: []uint16{port}},
		{Scheme: "http", Host: "127.0.0.1", Ports: []uint16{port}},
		{Scheme: "http", Host: "[::1]", Ports: []uint16{port}},
		{Scheme: "http", Host: "169.254.169.254"},
		{Scheme: "http", Host: "2130706433.evil.test", Ports: []uint16{port}, Paths: []string{"/public"}},
	}
	g := open(t, origin, httpcap.Config{Rules: rules, Resolver: dns})
	for _, tt := range []struct{ url, rule string }{
		// Addresses that names resolve to, and addresses that are granted but not public.
		{at("local.evil.test"), "address: 127.0.0.1 is loopback, for GET,HEAD http://*.evil.test"},
		{at("localhost"), "is loopback, for GET,HEAD http://localhost"},
		{at("127.0.0.1"), "address: 127.0.0.1 is loopback"},
		{at("[::1]"), "address: ::1 is loopback"},
		{at("[::ffff:127.0.0.1]"), "address: 127.0.0.1 is loopback"},
		{at("[::ffff:7f00:1]"), "address: 127.0.0.1 is loopback"},
		{"http://169.254.169.254/latest/meta-data/", "address: 169.254.169.254 is link-local"},
		{at("metadata.evil.test"), "address: 169.254.169.254 is link-local"},
		{at("metadata6.evil.test"), "address: fd00:ec2::254 is private"},
		{at("azure.evil.test"), "address: 168.63.129.16 is metadata"},
		{at("ten.evil.test"), "address: 10.0.0.1 is private"},
		{at("nat.evil.test"), "address: 100.64.1.1 is shared"},
		{at("zero.evil.test"), "address: 0.0.0.0 is unspecified"},
		{at("mapped.evil.test"), "address: 127.0.0.1 is loopback"},
		{at("nat64.evil.test"), "is NAT64 loopback"},
		{at("six.evil.test"), "is 6to4 loopback"},
		{at("teredo.evil.test"), "is Teredo loopback"},
		{at("compatible.evil.test"), "is IPv4-compatible loopback"},
		{at("local6.evil.test"), "address: ::1 is loopback"},
		{at("link6.evil.test"), "address: fe80::1 is link-local"},
		{at("multicast.evil.test"), "is multicast"},
		{at("doc.evil.test"), "is documentation"},
		{at("broadcast.evil.test"), "is reserved"},
		// Odd spellings of 127.0.0.1.
		{at("2130706433"), "host: an IPv4 address as in 192.0.2.1"},
		{at("0x7f000001"), "host: an IPv4 address"},
		{at("0x7f.1"), "host: an IPv4 address"},
		{at("127.1"), "host: an IPv4 address"},
		{at("127.0.0.1."), "address: 127.0.0.1 is loopback"},
		{at("0177.0.0.1"), "host: an IPv4 address"},
		{at("127.0.0.01"), "host: an IPv4 address"},
		{at("127.0.0.0x1"), "host: an IPv4 address"},
		{at("１２７.０.０.１"), "address: 127.0.0.1 is loopback"},
		{at("127。0。0。1"), "address: 127.0.0.1 is loopback"},
		{at("[fe80::1%25eth0]"), "host: an IPv6 address without a zone"},
		// Spellings that parsers may read as another host.
		{at("good.test@127.0.0.1"), "url: no user information"},
		{at("127.0.0.1%40good.test"), ""},
		{"http://good.test:80\\@127.0.0.1/", `url: no "\"`},
		{"http:\\\\127.0.0.1/", `url: no "\"`},
		{at("good.test#@evil.test"), "none: GET http://good.test"},
		{at("good.test.attacker.example"), "none: GET"},
		{at("evil.test"), "none: GET"},
		{at("xevil.test"), "none: GET"},
		// Other schemes and ports.
		{"file:///etc/passwd", "url: scheme http or https"},
		{"gopher://127.0.0.1:70/", "url: scheme http or https"},
		{"ftp://local.evil.test/", "url: scheme http or https"},
		{"http://local.evil.test:22/", "none: GET http://local.evil.test:22/"},
		{"https://local.evil.test/", "none: GET https://local.evil.test/"},
		// Paths that a server could read as others.
		{at("2130706433.evil.test") + "public/../admin", "path: no dot segments"},
		{at("2130706433.evil.test") + "public/%2e%2E/admin", "path: no dot segments"},
		{at("2130706433.evil.test") + "public/.%2e/admin", "path: no dot segments"},
		{at("2130706433.evil.test") + "public/%252e%252e/admin", "path: no dot segments"},
		{at("2130706433.evil.test") + "public/%25252e%25252e/admin", "path: no dot segments"},
		{at("2130706433.evil.test") + "public/100%25/%252e%252e/admin", "path: no dot segments"},
		{at("2130706433.evil.test") + "public/..;/admin", "path: no dot segments"},
		{at("2130706433.evil.test") + "public/..;x=y/admin", "path: no dot segments"},
		{at("2130706433.evil.test") + "public/..%2fadmin", "path: no encoded slash"},
		{at("2130706433.evil.test") + "public/..%252Fadmin", "path: no encoded slash"},
		{at("2130706433.evil.test") + "public/..%5cadmin", "path: no encoded slash"},
		{at("2130706433.evil.test") + "public/..\\admin", `url: no "\"`},
		{at("2130706433.evil.test") + "public//admin", "path: no empty segments"},
		{at("2130706433.evil.test") + "public/%00", "path: text without control characters"},
		{at("2130706433.evil.test") + "public/%ff", "path: text without control characters"},
		{at("2130706433.evil.test") + "public/%2525252525252541", "path: encoded once"},
		// Redirects.
		{redirect("http://127.0.0.1:" + fmt.Sprint(port) + "/"), "address: 127.0.0.1 is loopback"},
		{redirect("http://169.254.169.254/latest/"), "address: 169.254.169.254 is link-local"},
		{redirect(at("metadata.evil.test")), "address: 169.254.169.254 is link-local"},
		{redirect("http://attacker.example/"), "none: GET http://attacker.example/"},
		{redirect("https://user:password@good.test/"), "url: no user information"},
		{redirect("file:///etc/passwd"), "url: scheme http or https"},
		{redirect("//2130706433/"), "host: an IPv4 address"},
		{redirect(at("good.test")), "none: GET http://good.test"},
	} {
		_, _, err := g.ask(t.Context(), abi.HTTPRequest{URL: tt.url})
		if tt.rule == "" {
			if abi.CodeOf(err) != abi.CodeInvalidParams {
				t.Errorf("%s: got %v, want invalid parameters", tt.url, err)
			}
			continue
		}
		if use := g.last(); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(use.Rule, tt.rule) {
			t.Errorf("%s: got %v (%v), refused by %q, want %q", tt.url, err, abi.CodeOf(err), use.Rule, tt.rule)
		}
		if err != nil && err.Error() != "not granted" {
			t.Errorf("%s: the public error says more than that: %v", tt.url, err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests have arrived", n)
	}
}

// A name with a public address at first is checked again whenever it is dialled.
func TestRebindingIsRefused(t *testing.T) {
	var reached atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(inside.Close)
	port := portOf(t, inside.Listener)
	harmless := netip.MustParseAddr("2d00::1") // of a range that is not assigned
	rebind := "rebind.test"
	dns, _ := resolver(t, map[string][]netip.Addr{rebind: {harmless, netip.MustParseAddr("127.0.0.1")}})
	rules := []httpcap.Rule{{Scheme: "http", Host: rebind, Ports: []uint16{port}}}
	g := open(t, nil, httpcap.Config{Rules: rules, Resolver: dns})
	ask := abi.HTTPRequest{URL: fmt.Sprintf("http://%s:%d/", rebind, port), TimeoutMillis: 500}
	if _, _, err := g.ask(t.Context(), ask); err == nil || abi.CodeOf(err) == abi.CodeDenied {
		t.Errorf("at first: got %v, want the request to be sent, which fails", err)
	}
	for range 3 {
		_, _, err := g.ask(t.Context(), ask)
		if abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(g.last().Rule, "is loopback") {
			t.Errorf("then: got %v, refused by %q", err, g.last().Rule)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests have arrived", n)
	}
}

// A connection that was dialled for a rule that says Private serves no other rule.
func TestPrivateConnectionsAreNotShared(t *testing.T) {
	o := newOrigin(t, site())
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{
		{Host: "a.test", Ports: []uint16{o.port}, Paths: []string{"/ok"}, Private: true},
		{Host: "a.test", Ports: []uint16{o.port}},
	}})
	for path, want := range map[string]abi.Code{"/ok": abi.CodeOK, "/echo": abi.CodeDenied, "/": abi.CodeDenied} {
		for range 2 {
			if _, _, err := g.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", path)}); abi.CodeOf(err) != want {
				t.Errorf("%s: got %v, want %v", path, err, want)
			}
		}
	}
}
