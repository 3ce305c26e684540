package fastpath_test

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/forwarded"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
)

func trusting(networks ...string) *forwarded.Proxies {
	var list []netip.Prefix
	for _, one := range networks {
		list = append(list, netip.MustParsePrefix(one))
	}
	return forwarded.New(list)
}

// Over one connection of a proxy come requests of several clients. Each has the address that the proxy says, both ways; of a
// proxy that is not trusted nothing is believed.
func TestTheAddressOfAClientBehindAProxy(t *testing.T) {
	trusted := trusting("127.0.0.1/32")
	for _, tc := range []struct {
		name    string
		proxies *forwarded.Proxies
		headers []string
		want    string
		fast    bool // the fast path answers
	}{
		{"a client", trusted, []string{"X-Forwarded-For", "192.0.2.1"}, "192.0.2.1", true},
		{"another", trusted, []string{"X-Forwarded-For", "192.0.2.2"}, "192.0.2.2", true},
		{"in Forwarded", trusted, []string{"FORWARDED", `for="[2001:db8::7]:80"`}, "2001:db8::7", true},
		{"what it claims", trusted, []string{"x-forwarded-for", "198.51.100.1, 192.0.2.1"}, "192.0.2.1", true},
		{"two lines", trusted, []string{"X-Forwarded-For", "198.51.100.1", "X-Forwarded-For", "192.0.2.3"}, "192.0.2.3", false},
		{"two lines of the other", trusted, []string{"Forwarded", "for=198.51.100.1", "Forwarded", "for=192.0.2.3"}, "192.0.2.3", false},
		{"both, which differ", trusted, []string{"Forwarded", "for=198.51.100.1", "X-Forwarded-For", "192.0.2.1"}, "127.0.0.1", true},
		{"none", trusted, nil, "127.0.0.1", true},
		{"garbage", trusted, []string{"X-Forwarded-For", strings.Repeat(",", 4000)}, "127.0.0.1", true},
		{"no proxy is trusted", nil, []string{"X-Forwarded-For", "192.0.2.1"}, "127.0.0.1", true},
		{"another is trusted", trusting("10.0.0.0/8"), []string{"X-Forwarded-For", "192.0.2.1", "Forwarded", "for=192.0.2.1"}, "127.0.0.1", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newGuardedBehind(t, streamable.Config{}, tc.proxies)
			for way, addr := range []string{g.fast, g.standard} {
				before := g.netHTTP.Load()
				conn := dial(t, addr)
				for i, headers := range [][]string{{"X-Forwarded-For", "192.0.2.99"}, tc.headers} {
					lines := "\r\n"
					for at := 0; at < len(headers); at += 2 {
						lines += headers[at] + ": " + headers[at+1] + "\r\n"
					}
					io.WriteString(conn.conn, strings.Replace(modernRead("test://text", "Authorization", g.ada), "\r\n", lines, 1))
					if text, _ := conn.answer("POST"); !strings.HasPrefix(text, "200 ") {
						t.Fatalf("way %d, request %d: %.200s", way, i, text)
					}
				}
				if got := g.netHTTP.Load() - before; way == 0 && (got == 0) != tc.fast {
					t.Errorf("net/http read %d of two requests", got)
				}
				lines := g.log.take()
				if want := fmt.Sprintf("%s ada resources/read test://text ok", tc.want); len(lines) != 2 || lines[1] != want {
					t.Errorf("way %d: got %q, want the second to be %q", way, lines, want)
				}
			}
		})
	}
}

// Clients behind a proxy have limits of their own.
func TestLimitsOfClientsBehindAProxy(t *testing.T) {
	g := newGuardedBehind(t, streamable.Config{Admission: rate(t, 1e-3, 2)}, trusting("127.0.0.0/8"))
	for way, addr := range []string{g.fast, g.standard} {
		conn := dial(t, addr)
		ask := func(client string, times int) (refused int) {
			for range times {
				io.WriteString(conn.conn, modernRead("test://text", "X-Forwarded-For", fmt.Sprintf("192.0.%d.%s", way, client)))
				if text, _ := conn.answer("POST"); strings.HasPrefix(text, "429 ") {
					refused++
				}
			}
			return refused
		}
		// Without a credential each request is refused, and counts by the address.
		if first, second := ask("1", 4), ask("2", 2); first != 2 || second != 0 {
			t.Errorf("way %d: of 4 and 2 requests %d and %d were beyond the limit, want 2 and 0", way, first, second)
		}
	}
}
