package forwarded_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/forwarded"
)

const peer, other = "10.0.0.1", "203.0.113.9" // a trusted proxy, and an address that is not trusted

var proxies = forwarded.New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")})

func TestTheFirstAddressThatIsNotTrustedIsTheClient(t *testing.T) {
	for _, tc := range []struct{ name, peer, forwarded, xff, want string }{
		{"no header", peer, "", "", peer},
		{"a peer that is not trusted", other, "for=192.0.2.1", "192.0.2.1", other},
		{"one hop", peer, "", "192.0.2.1", "192.0.2.1"},
		{"one hop, Forwarded", peer, "for=192.0.2.1;proto=https;by=10.0.0.1", "", "192.0.2.1"},
		{"two hops", peer, "", "192.0.2.1, 10.0.0.2", "192.0.2.1"},
		{"two hops, Forwarded", peer, "for=192.0.2.1, for=10.0.0.2", "", "192.0.2.1"},
		{"what the client claims", peer, "", "198.51.100.7, 192.0.2.1, 10.0.0.2", "192.0.2.1"},
		{"what the client claims, Forwarded", peer, "for=198.51.100.7, for=192.0.2.1", "", "192.0.2.1"},
		{"a client that claims a proxy", peer, "", "10.9.9.9, 192.0.2.1", "192.0.2.1"},
		{"all are trusted", peer, "", "10.0.0.3, 10.0.0.2", "10.0.0.3"},
		{"IPv6", peer, "", "2001:db8::7", "2001:db8::7"},
		{"IPv6 in brackets", peer, "", "[2001:db8::7]", "2001:db8::7"},
		{"IPv6 with a port", peer, "", "[2001:db8::7]:443", "2001:db8::7"},
		{"IPv6, Forwarded", peer, `For="[2001:db8::7]:4711"`, "", "2001:db8::7"},
		{"a trusted proxy with IPv6", peer, "", "192.0.2.1, fd00::1", "192.0.2.1"},
		{"IPv4 with a port", peer, "", "192.0.2.1:5555", "192.0.2.1"},
		{"IPv4 in IPv6", peer, "", "::ffff:192.0.2.1", "192.0.2.1"},
		{"a proxy in IPv6 notation", peer, "", "192.0.2.1, ::ffff:10.0.0.2", "192.0.2.1"},
		{"unknown", peer, "for=unknown", "", peer},
		{"a name", peer, "for=_hidden, for=10.0.0.2", "", "10.0.0.2"},
		{"no for", peer, "proto=https", "", peer},
		{"for twice", peer, "for=192.0.2.1;for=192.0.2.2", "", peer},
		{"an open quotation mark of the client", peer, `for=", for=192.0.2.1`, "", "192.0.2.1"},
		{"a quotation mark that stays open", peer, `for="192.0.2.1`, "", peer},
		{"empty elements", peer, "", "192.0.2.1,,", peer},
		{"garbage", peer, "", "192.0.2.1, \x00\xff", peer},
		{"a zone", peer, "", "fe80::1%eth0", peer},
		{"no address", peer, "", "0.0.0.0", peer},
		{"an octal number", peer, "", "010.0.0.1", peer},
		{"IPv4 in brackets", peer, "", "[192.0.2.1]", peer},
		{"both say the same", peer, "for=192.0.2.1", "192.0.2.1", "192.0.2.1"},
		{"the client wrote Forwarded", peer, "for=198.51.100.7", "192.0.2.1", peer},
		{"the client wrote X-Forwarded-For", peer, "for=192.0.2.1", "198.51.100.7", peer},
		{"more hops than are followed", peer, "", "192.0.2.1" + strings.Repeat(", 10.0.0.2", 100), "10.0.0.2"},
		{"a long header", peer, "", strings.Repeat("x", 1<<20) + ", 192.0.2.1", "192.0.2.1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := proxies.Client(netip.MustParseAddr(tc.peer), forwarded.Fields{Forwarded: tc.forwarded, For: tc.xff})
			if got != netip.MustParseAddr(tc.want) {
				t.Errorf("got %v, want %s", got, tc.want)
			}
		})
	}
}

func TestWithoutProxiesNoHeaderCounts(t *testing.T) {
	none := forwarded.New(nil)
	if none != nil || none.Trusts(netip.MustParseAddr(peer)) || proxies.Trusts(netip.Addr{}) {
		t.Error("an address is trusted")
	}
	if got := none.Client(netip.MustParseAddr(peer), forwarded.Fields{For: "192.0.2.1"}); got.String() != peer {
		t.Errorf("got %v", got)
	}
}

func TestHandlersSeeTheClient(t *testing.T) {
	for _, tc := range []struct{ remote, want string }{
		{peer + ":1234", "192.0.2.1:0"}, {other + ":1234", other + ":1234"}, {"@", "@"},
	} {
		var got string
		h := proxies.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr }))
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.RemoteAddr = tc.remote
		r.Header = http.Header{"X-Forwarded-For": {"198.51.100.7", "192.0.2.1, 10.0.0.2"}}
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got != tc.want || r.RemoteAddr != tc.remote {
			t.Errorf("%s: the handler sees %s, want %s", tc.remote, got, tc.want)
		}
	}
}

// Whatever the headers say, the client is the peer or an address that a trusted proxy may have written at the end of one: what
// stands to the left of an address that is not trusted changes nothing.
func FuzzClient(f *testing.F) {
	f.Add("for=192.0.2.1, for=10.0.0.2", "192.0.2.1, 10.0.0.2")
	f.Add(`for="[2001:db8::7]:4711"`, "")
	f.Add(`for="`, `,,`)
	f.Fuzz(func(t *testing.T, fw, xff string) {
		from := netip.MustParseAddr(peer)
		got := proxies.Client(from, forwarded.Fields{Forwarded: fw, For: xff})
		if !got.IsValid() || got.Is4In6() || got.Zone() != "" {
			t.Fatalf("got %v", got)
		}
		real := netip.MustParseAddr("192.0.2.1")
		for _, fields := range []forwarded.Fields{
			{For: xff + ", 192.0.2.1"}, {Forwarded: fw + ", for=192.0.2.1"}, {For: xff + ",192.0.2.1", Forwarded: fw + ", for=192.0.2.1"},
		} {
			if got := proxies.Client(from, fields); got != real {
				t.Fatalf("%+v: got %v, want %v", fields, got, real)
			}
		}
		if got := proxies.Client(from, forwarded.Fields{For: xff + ", 192.0.2.1", Forwarded: fw}); got != real && got != from {
			t.Fatalf("a client chose the address %v", got)
		}
		if untrusted := netip.MustParseAddr(other); proxies.Client(untrusted, forwarded.Fields{Forwarded: fw, For: xff}) != untrusted {
			t.Fatal("an address that is not trusted was believed")
		}
	})
}
