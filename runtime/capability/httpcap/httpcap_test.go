package httpcap_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/captest"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// site is the server of the tests below.
func site() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fine") })
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("X-Test"), body)
	})
	mux.HandleFunc("/fresh", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		fmt.Fprint(w, "fine")
	})
	mux.HandleFunc("/missing", http.NotFound)
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) })
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 200 {
			if _, err := z.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
		_ = z.Close()
	})
	mux.HandleFunc("/br", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		fmt.Fprint(w, "compressed, as it says")
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("X-Latin", "caf\xe9")
		for i := range 300 {
			w.Header().Add("X-Many", fmt.Sprint(i))
		}
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("url"))
		code := http.StatusFound
		_, _ = fmt.Sscan(r.URL.Query().Get("code"), &code)
		w.WriteHeader(code)
	})
	return mux
}

var large = bytes.Repeat([]byte("0123456789abcde\n"), 150<<10) // 2.4 MB

// everything allows all requests to an origin, by any name below "test".
func everything(o *origin) httpcap.Rule {
	return httpcap.Rule{Host: "*.test", Ports: []uint16{o.port}, Methods: []string{"GET", "HEAD", "POST", "PUT"}, Private: true}
}

func TestBehaviour(t *testing.T) {
	o := newOrigin(t, site())
	captest.Run(t, func(t *testing.T, observe capability.Observer) captest.Capability {
		g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}, Observe: observe})
		get := func(url string) captest.Request {
			return captest.Request{Service: abi.ServiceHTTP, Message: (&abi.HTTPRequest{URL: url}).Append(nil)}
		}
		return captest.Capability{
			Name: "http", Services: g.services, Close: g.http.Close,
			Granted: get(o.at("a.test", "/ok")), Refused: get("https://elsewhere.example/"),
			Slow: get(o.at("a.test", "/slow")), Large: get(o.at("a.test", "/large")),
		}
	})
}

func TestRequestsArriveAsTheyWereMade(t *testing.T) {
	o := newOrigin(t, site())
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	for _, tt := range []struct {
		req  abi.HTTPRequest
		want string
	}{
		{abi.HTTPRequest{URL: o.at("a.test", "/ok")}, "200 fine"},
		{abi.HTTPRequest{URL: o.at("A.TEST.", "/ok?#fragment")}, "200 fine"},
		{abi.HTTPRequest{URL: o.at("a.test", "/missing")}, "404 404 page not found\n"},
		{abi.HTTPRequest{URL: o.at("a.test", "/echo?q=%2F..%20ü")}, "200 GET /echo?q=%2F..%20%C3%BC  "},
		{abi.HTTPRequest{URL: o.at("a.test", "/%65cho")}, "200 GET /echo  "},
		{abi.HTTPRequest{Method: "HEAD", URL: o.at("a.test", "/large")}, "200 "},
		{abi.HTTPRequest{
			Method: "POST", URL: o.at("b.test", "/echo"), Body: []byte("body"), Header: []abi.HTTPField{{Name: "x-test", Value: "v"}},
		}, "200 POST /echo v body"},
		{abi.HTTPRequest{Method: "PUT", URL: o.at("a.test", "/to?code=307&url=/echo"), Body: []byte("body")}, "200 PUT /echo  body"},
		{abi.HTTPRequest{Method: "POST", URL: o.at("a.test", "/to?code=303&url=/echo"), Body: []byte("body")}, "200 GET /echo  "},
		{abi.HTTPRequest{URL: o.at("a.test", "/to?code=300")}, "300 "},
	} {
		resp, body, err := g.read(t.Context(), tt.req)
		if got := fmt.Sprintf("%d %s", resp.Status, body); got != tt.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", tt.req.URL, got, err, tt.want)
		}
		use := g.last()
		if use.Capability != "http" || use.Rule == "" || strings.Contains(use.Subject, "?") || use.Bytes < uint64(len(body)) {
			t.Errorf("%s: observed %+v", tt.req.URL, use)
		}
	}
	resp, _, err := g.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/to?url="+o.at("b.test", "/ok"))})
	if want := o.at("b.test", "/ok"); resp.URL != want || err != nil {
		t.Errorf("got %s, %v, want %s", resp.URL, err, want)
	}
}

func TestHTTP2IsSpoken(t *testing.T) {
	o := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	if _, body, err := g.read(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/")}); body != "HTTP/2.0" || err != nil {
		t.Errorf("got %q, %v", body, err)
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	o := newOrigin(t, site())
	dns, asked := resolver(t, nil)
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}, Resolver: dns, Limits: httpcap.Limits{Request: 100}})
	ok := o.at("a.test", "/ok")
	field := func(name, value string) abi.HTTPRequest {
		return abi.HTTPRequest{URL: ok, Header: []abi.HTTPField{{Name: name, Value: value}}}
	}
	many := abi.HTTPRequest{URL: ok, Header: make([]abi.HTTPField, 65)}
	for i := range many.Header {
		many.Header[i].Name = "X-A"
	}
	for name, tt := range map[string]struct {
		req  abi.HTTPRequest
		code abi.Code
	}{
		"no URL":            {abi.HTTPRequest{}, abi.CodeDenied},
		"no scheme":         {abi.HTTPRequest{URL: "//a.test/"}, abi.CodeDenied},
		"a space":           {abi.HTTPRequest{URL: ok + "?a b"}, abi.CodeInvalidParams},
		"a line end":        {abi.HTTPRequest{URL: ok + "?a\r\nb"}, abi.CodeInvalidParams},
		"a long URL":        {abi.HTTPRequest{URL: ok + strings.Repeat("x", 9000)}, abi.CodeInvalidParams},
		"a port too large":  {abi.HTTPRequest{URL: "https://a.test:65536/"}, abi.CodeInvalidParams},
		"an empty label":    {abi.HTTPRequest{URL: "https://a..test/"}, abi.CodeInvalidParams},
		"a long label":      {abi.HTTPRequest{URL: "https://" + strings.Repeat("a", 64) + ".test/"}, abi.CodeInvalidParams},
		"no method":         {abi.HTTPRequest{URL: ok, Method: "GE T"}, abi.CodeInvalidParams},
		"lower case":        {abi.HTTPRequest{URL: ok, Method: "get"}, abi.CodeInvalidParams},
		"TRACE":             {abi.HTTPRequest{URL: ok, Method: "TRACE"}, abi.CodeInvalidParams},
		"CONNECT":           {abi.HTTPRequest{URL: ok, Method: "CONNECT"}, abi.CodeInvalidParams},
		"another method":    {abi.HTTPRequest{URL: ok, Method: "DELETE"}, abi.CodeDenied},
		"a body too large":  {abi.HTTPRequest{URL: ok, Method: "POST", Body: make([]byte, 101)}, abi.CodeTooLarge},
		"many fields":       {many, abi.CodeInvalidParams},
		"a large header":    {field("X-A", strings.Repeat("x", 40<<10)), abi.CodeInvalidParams},
		"an empty name":     {field("", "x"), abi.CodeInvalidParams},
		"a name with CR":    {field("X-A\r\nX-B", "x"), abi.CodeInvalidParams},
		"a value with LF":   {field("X-A", "x\nX-B: y"), abi.CodeInvalidParams},
		"Host":              {field("Host", "b.test"), abi.CodeInvalidParams},
		"Content-Length":    {field("content-length", "5"), abi.CodeInvalidParams},
		"Transfer_Encoding": {field("Transfer_Encoding", "chunked"), abi.CodeInvalidParams},
		"Connection":        {field("Connection", "close"), abi.CodeInvalidParams},
		"a proxy's":         {field("Proxy-Authorization", "x"), abi.CodeInvalidParams},
		"another method's":  {field("X-HTTP-Method-Override", "DELETE"), abi.CodeInvalidParams},
		"another path's":    {field("X-Original-URL", "/admin"), abi.CodeInvalidParams},
		"another host's":    {field("x-forwarded-host", "b.test"), abi.CodeInvalidParams},
		"an encoding":       {field("Accept-Encoding", "br"), abi.CodeInvalidParams},
		"a secret's URL":    {abi.HTTPRequest{URL: ok + "?{{secret:token}}"}, abi.CodeInvalidParams},
		"the same, encoded": {abi.HTTPRequest{URL: ok + "?%7B%7bsecret:token}}"}, abi.CodeInvalidParams},
		"a secret's body":   {abi.HTTPRequest{URL: ok, Method: "POST", Body: []byte("{{secret:token}}")}, abi.CodeInvalidParams},
		"half a secret":     {field("X-A", "{{secret:token"), abi.CodeInvalidParams},
	} {
		if _, _, err := g.ask(t.Context(), tt.req); abi.CodeOf(err) != tt.code {
			t.Errorf("%s: got %v (%v), want %v", name, err, abi.CodeOf(err), tt.code)
		}
	}
	if n := asked.lookups(); n != 0 {
		t.Errorf("%d names were looked up before the requests were checked", n)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	o := newOrigin(t, site())
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}, Limits: httpcap.Limits{Response: 1 << 20}})
	for _, tt := range []struct {
		path string
		most uint64
		code abi.Code
	}{
		{"/ok", 4, abi.CodeOK}, {"/ok", 3, abi.CodeTooLarge}, {"/large", 0, abi.CodeTooLarge},
		{"/large", 5 << 20, abi.CodeTooLarge}, {"/bomb", 0, abi.CodeTooLarge}, {"/br", 0, abi.CodeUnavailable},
	} {
		_, body, err := g.read(t.Context(), abi.HTTPRequest{URL: o.at("a.test", tt.path), MaxBytes: tt.most})
		if abi.CodeOf(err) != tt.code || len(body) > 1<<20 {
			t.Errorf("%s: got %d bytes, %v, want %v", tt.path, len(body), err, tt.code)
		}
	}
	resp, _, err := g.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/headers")})
	if err != nil || len(resp.Header) != 200 || headerOf(resp, "Set-Cookie") != "" || headerOf(resp, "X-Latin") != "caf\uFFFD" {
		t.Errorf("got %d fields, cookie %q, %q, %v", len(resp.Header), headerOf(resp, "Set-Cookie"), headerOf(resp, "X-Latin"), err)
	}
}

func TestTimeIsBounded(t *testing.T) {
	o := newOrigin(t, site())
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	_, _, err := g.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/slow"), TimeoutMillis: 50})
	if abi.CodeOf(err) != abi.CodeDeadline {
		t.Errorf("the guest's time: got %v", err)
	}
	short := httpcap.Limits{Timeout: 50 * time.Millisecond}
	granted := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}, Limits: short})
	_, _, err = granted.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/slow"), TimeoutMillis: 1 << 30})
	if abi.CodeOf(err) != abi.CodeDeadline {
		t.Errorf("the grant's time: got %v", err)
	}
}

func TestFurtherRequestsWait(t *testing.T) {
	o := newOrigin(t, site())
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}, Limits: httpcap.Limits{Concurrent: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	resp, _, err := g.ask(ctx, abi.HTTPRequest{URL: o.at("a.test", "/large")})
	if err != nil || resp.Stream == 0 {
		t.Fatalf("got stream %d, %v", resp.Stream, err)
	}
	soon := abi.HTTPRequest{URL: o.at("a.test", "/ok"), TimeoutMillis: 50}
	if _, _, err := g.ask(t.Context(), soon); abi.CodeOf(err) != abi.CodeDeadline {
		t.Errorf("beside an open answer: got %v", err)
	}
	cancel()
	if _, body, err := g.read(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/ok")}); body != "fine" || err != nil {
		t.Errorf("after it: got %q, %v", body, err)
	}
}

func TestTooManyRedirects(t *testing.T) {
	o := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := len(r.URL.Path)
		if n > 6 {
			fmt.Fprint(w, "arrived")
			return
		}
		http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
	}))
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	for path, want := range map[string]abi.Code{"/": abi.CodeUnavailable, "/x": abi.CodeOK} {
		if _, _, err := g.read(t.Context(), abi.HTTPRequest{URL: o.at("a.test", path)}); abi.CodeOf(err) != want {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
	}
}

func TestServersThatFail(t *testing.T) {
	o := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "short")
	}))
	stranger := newOrigin(t, site())
	rules := []httpcap.Rule{everything(o), everything(stranger), {Host: "127.0.0.1", Ports: []uint16{1}, Private: true}}
	g := open(t, o, httpcap.Config{Rules: rules})
	for what, url := range map[string]string{
		"a body cut short": o.at("a.test", "/"), "an unknown certificate authority": stranger.at("a.test", "/ok"),
		"a closed port": "https://127.0.0.1:1/",
	} {
		if _, body, err := g.read(t.Context(), abi.HTTPRequest{URL: url}); abi.CodeOf(err) != abi.CodeUnavailable || body != "" {
			t.Errorf("%s: got %q, %v", what, body, err)
		}
	}
}

func TestNoProxyOfTheEnvironment(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	o := newOrigin(t, site())
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	if _, body, err := g.read(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/ok")}); body != "fine" || err != nil {
		t.Errorf("got %q, %v", body, err)
	}
}
