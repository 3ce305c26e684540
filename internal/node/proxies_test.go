package node_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// A key for one network is good for the address that a trusted proxy names, and for no address that a client claims, on both ways of a
// request and whatever came before on the connection.
func TestNetworksOfKeysBehindAProxy(t *testing.T) {
	const good, bad = "192.0.2.7", "203.0.113.9" // of the key's network, and of no one's
	for _, proxies := range []string{"[127.0.0.1]", "[10.0.0.0/8]"} {
		trusted := proxies == "[127.0.0.1]"
		dir := filepath.Join(t.TempDir(), "data")
		write(t, filepath.Join(dir, "tenants", "a.yaml"), fmt.Sprintf("providers:\n  hello: {module: %q}\nroles:\n  all: [{uris: [\"**\"]}]\nplan: unbounded\n", guesttest.File(t, "hello")))
		write(t, filepath.Join(dir, "serve.yaml"), "listen: [{address: \"127.0.0.1:0\"}]\ntrusted_proxies: "+proxies+"\nplans:\n"+unbounded)
		address, socket, _ := serveFolder(t, dir, nil)
		made, err := admintest.Client(t, socket).CreateKey(t.Context(), "a", admin.NewKey{Name: "ada", Roles: []string{"all"}, Networks: []string{"192.0.2.0/24"}})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		h := &hosted{tb: t, address: address}
		for _, tt := range []struct {
			name    string
			headers []string
			want    bool // behind a trusted proxy; never otherwise
		}{
			{"the address of the key", []string{"X-Forwarded-For: " + good}, true},
			{"another address", []string{"X-Forwarded-For: " + bad}, false},
			{"the first again", []string{"X-Forwarded-For: " + good}, true},
			{"none, after one", nil, false},
			{"claimed by a client", []string{"X-Forwarded-For: " + good + ", " + bad}, false},
			{"claimed by a client in a line of its own", []string{"X-Forwarded-For: " + good, "X-Forwarded-For: " + bad}, false},
			{"claimed in the second line", []string{"X-Forwarded-For: " + bad, "X-Forwarded-For: " + good}, true}, // the proxy's
			{"in another case", []string{"x-FORWARDED-for: " + good}, true},
			{"the proxy itself last", []string{"X-Forwarded-For: " + good + ", 127.0.0.1"}, true},
			{"claimed before the proxy", []string{"X-Forwarded-For: " + good + ", " + bad + ", 127.0.0.1"}, false},
			{"two headers that differ", []string{"X-Forwarded-For: " + bad, "Forwarded: for=" + good}, false},
			{"two headers that differ otherwise", []string{"X-Forwarded-For: " + good, "Forwarded: for=" + bad}, false},
			{"Forwarded", []string{"Forwarded: for=" + good}, true},
			{"Forwarded with a client's element", []string{"Forwarded: for=" + good + ", for=" + bad}, false},
			{"an open quotation mark", []string{`Forwarded: for="` + good + `, for=` + bad}, false},
			{"two parameters", []string{"Forwarded: for=" + bad + ";for=" + good}, false},
			{"IPv4 in IPv6", []string{"X-Forwarded-For: ::ffff:" + good}, true},
			{"a port", []string{"X-Forwarded-For: " + good + ":443"}, true},
			{"an empty element", []string{"X-Forwarded-For: " + good + ","}, false},
			{"other headers", []string{"X-Real-IP: " + good, "True-Client-IP: " + good, "X-Client-IP: " + good, "X-Forwarded: for=" + good, "Via: 1.1 " + good}, false},
			{"a space before the colon", []string{"X-Forwarded-For : " + good}, false},
			{"a folded line", []string{"X-Forwarded-For: " + good + ",\r\n " + bad}, false},
		} {
			for _, r := range []request{{tenant: "a", key: made.Text, method: "resources/read", uri: "hello://about"}, {tenant: "a", key: made.Text, uri: "hello://about"}} {
				var text strings.Builder
				if err := h.build(r).Write(&text); err != nil {
					t.Fatal(err)
				}
				head, body, _ := strings.Cut(text.String(), "\r\n\r\n")
				for _, line := range tt.headers {
					head += "\r\n" + line
				}
				if _, err := conn.Write([]byte(head + "\r\n\r\n" + body)); err != nil {
					t.Fatal(err)
				}
				answer, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				said, err := io.ReadAll(answer.Body)
				if err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				if got := answer.StatusCode == http.StatusOK; got != (tt.want && trusted) || !got && answer.StatusCode/100 != 4 {
					t.Errorf("%s, with the trusted proxies %s: got %d %.200s", tt.name, proxies, answer.StatusCode, said)
				}
				if answer.Close { // as after a malformed head
					if conn, err = net.Dial("tcp", address); err != nil {
						t.Fatal(err)
					}
					defer conn.Close()
					in = bufio.NewReader(conn)
				}
			}
		}
	}
}
