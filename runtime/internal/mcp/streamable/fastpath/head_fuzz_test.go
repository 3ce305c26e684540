package fastpath

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
)

var heads = []string{
	"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 7\r\n\r\n",
	"POST /mcp HTTP/1.1\r\nhost:a\r\nCONTENT-TYPE:application/json; charset=utf-8\r\nmcp-name: \t=?base64??= \r\nMcp-Session-Id: x\r\n\r\n",
	"GET /mcp?uri=a%3A HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n",
	"OPTIONS /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 007\r\n\r\n",
	"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: \r\nContent-Length: 5\r\n\r\n",
	"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
	"POST /mcp HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
	"POST /mcp HTTP/1.1\r\nHost: x\r\nA: b\n\r\n",
	"POST /mc%zz HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization:  Bearer a\t\r\nauthorization: b\r\n\r\n",
}

// FuzzHead holds parseHead to net/http: what it is certain of is so there, too.
func FuzzHead(f *testing.F) {
	for _, h := range heads {
		f.Add([]byte(h))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		end := bytes.Index(b, []byte("\r\n\r\n"))
		if end < 0 {
			return
		}
		h := parseHead(b[:end+4])
		if !h.lengthKnown {
			if h.plain {
				t.Errorf("%q: plain, though its length is not known", b)
			}
			return
		}
		body := strings.Repeat("x", min(h.body, 1<<16))
		rest := bufio.NewReader(strings.NewReader(string(b[:end+4]) + body + "rest"))
		r, err := http.ReadRequest(rest)
		if err != nil {
			if h.plain && isHost(h.host) {
				t.Errorf("%q: net/http refuses it: %v", b, err)
			}
			return // it closes the connection
		}
		if r.ContentLength != int64(h.body) || len(r.TransferEncoding) > 0 {
			t.Errorf("%q: got %d bytes, want %d, %q", b, h.body, r.ContentLength, r.TransferEncoding)
		}
		if h.plain {
			comparePlain(t, b, &h, r)
		}
	})
}

func comparePlain(t *testing.T, b []byte, h *head, r *http.Request) {
	if r.Method != http.MethodPost || r.RequestURI != string(h.path) || r.Host != string(h.host) || r.Close {
		t.Errorf("%q: got %+v, want %s %s of %q", b, h, r.Method, r.RequestURI, r.Host)
	}
	for name, got := range map[string][]byte{
		"Accept": h.accept, "Mcp-Protocol-Version": h.version, "Mcp-Method": h.method, "Mcp-Name": h.name, "Mcp-Session-Id": h.session,
		"Accept-Encoding": h.encoding, "Authorization": h.authorization,
	} {
		want := r.Header.Values(name)
		if len(want) > 1 || (len(want) == 1) != (got != nil) || r.Header.Get(name) != string(got) {
			t.Errorf("%q: %s: got %q, want %q", b, name, got, want)
		}
	}
	for _, name := range []string{"Origin", "Transfer-Encoding", "Expect", "Trailer", "Upgrade", "Te", "Content-Encoding"} {
		if r.Header.Get(name) != "" {
			t.Errorf("%q: plain, though it has %s", b, name)
		}
	}
}
