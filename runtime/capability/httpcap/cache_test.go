package httpcap_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// A cachedSite counts requests, and answers with the header of the path.
type cachedSite struct {
	header map[string]http.Header
	asked  atomic.Int32
	full   atomic.Int32 // of those, the ones not answered by 304
}

func (s *cachedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	for name, values := range s.header[r.URL.Path] {
		w.Header()[name] = values
	}
	if etag := w.Header().Get("Etag"); etag != "" && r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if at := w.Header().Get("Last-Modified"); at != "" && r.Header.Get("If-Modified-Since") == at {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprintf(w, "answer %d", s.full.Add(1))
}

const yesterday = "Sat, 21 Nov 2026 07:00:00 GMT"

func newCachedSite(t *testing.T, cfg httpcap.Config) (*cachedSite, *origin, *guest, *atomic.Int64) {
	t.Helper()
	s := &cachedSite{header: map[string]http.Header{
		"/hour":     {"Cache-Control": {"max-age=3600"}},
		"/expires":  {"Expires": {"Sun, 22 Nov 2026 08:00:00 GMT"}, "Date": {"Sun, 22 Nov 2026 07:00:00 GMT"}},
		"/old":      {"Cache-Control": {"max-age=3600"}, "Age": {"3599"}},
		"/no-store": {"Cache-Control": {"max-age=3600, no-store"}, "Etag": {`"e"`}},
		"/no-cache": {"Cache-Control": {"no-cache, max-age=3600"}, "Etag": {`"e"`}},
		"/etag":     {"Etag": {`"e"`}},
		"/modified": {"Last-Modified": {yesterday}},
		"/minute":   {"Cache-Control": {`Max-Age="60"`}, "Etag": {`"e"`}},
		"/vary":     {"Cache-Control": {"max-age=3600"}, "Vary": {"X-Test"}},
		"/vary-all": {"Cache-Control": {"max-age=3600"}, "Vary": {"*"}},
		"/nothing":  {},
		"/past":     {"Expires": {"0"}},
		"/soon":     {"Cache-Control": {"max-age=soon"}},
	}}
	o := newOrigin(t, s)
	if len(cfg.Rules) == 0 {
		cfg.Rules = []httpcap.Rule{everything(o)}
	}
	for i := range cfg.Rules {
		cfg.Rules[i].Ports = []uint16{o.port}
	}
	g := open(t, o, cfg)
	var passed atomic.Int64
	began := time.Now()
	g.http.SetNow(func() time.Time { return began.Add(time.Duration(passed.Load())) })
	return s, o, g, &passed
}

func (g *guest) text(req abi.HTTPRequest) string {
	g.t.Helper()
	resp, body, err := g.read(g.t.Context(), req)
	if err != nil || resp.Status != http.StatusOK {
		g.t.Errorf("%s: got %d, %v", req.URL, resp.Status, err)
	}
	return body
}

func TestAnswersAreCachedByTheirHeader(t *testing.T) {
	for _, tt := range []struct {
		path        string
		after       time.Duration
		asked, full int32 // for two requests
	}{
		{"/hour", time.Minute, 1, 1}, {"/hour", 2 * time.Hour, 2, 2},
		{"/expires", time.Minute, 1, 1}, {"/expires", 2 * time.Hour, 2, 2}, {"/old", 0, 1, 1}, {"/old", 2 * time.Second, 2, 2}, {"/no-store", 0, 2, 2}, {"/no-cache", 0, 2, 1}, {"/etag", 0, 2, 1},
		{"/modified", 0, 2, 1}, {"/minute", 59 * time.Second, 1, 1}, {"/minute", time.Minute, 2, 1}, {"/vary-all", 0, 2, 2},
		{"/nothing", 0, 2, 2}, {"/past", 0, 2, 2}, {"/soon", 0, 2, 2},
	} {
		s, o, g, passed := newCachedSite(t, httpcap.Config{})
		first := g.text(abi.HTTPRequest{URL: o.at("a.test", tt.path)})
		passed.Add(int64(tt.after))
		second := g.text(abi.HTTPRequest{URL: o.at("a.test", tt.path)})
		if asked, full := s.asked.Load(), s.full.Load(); asked != tt.asked || full != tt.full || (first == second) != (full == 1) {
			t.Errorf("%s after %v: asked %d times, %d in full, want %d, %d; got %q and %q",
				tt.path, tt.after, asked, full, tt.asked, tt.full, first, second)
		}
	}
}

func TestARevalidatedAnswerIsFreshAgain(t *testing.T) {
	s, o, g, passed := newCachedSite(t, httpcap.Config{})
	req := abi.HTTPRequest{URL: o.at("a.test", "/minute")}
	for range 3 {
		g.text(req)
		passed.Add(int64(61 * time.Second))
		g.text(req)
		g.text(req)
	}
	if s.asked.Load() != 4 || s.full.Load() != 1 {
		t.Errorf("asked %d times, %d in full, want 4 and 1", s.asked.Load(), s.full.Load())
	}
	passed.Add(int64(30 * time.Second))
	if resp, _, err := g.ask(t.Context(), req); headerOf(resp, "Age") != "30" || headerOf(resp, "Etag") != `"e"` || err != nil {
		t.Errorf("got the header %+v, %v", resp.Header, err)
	}
}

func TestOnlyEqualRequestsShareAnAnswer(t *testing.T) {
	s, o, g, _ := newCachedSite(t, httpcap.Config{})
	url := o.at("a.test", "/vary")
	with := func(name, value string) abi.HTTPRequest {
		return abi.HTTPRequest{URL: url, Header: []abi.HTTPField{{Name: name, Value: value}}}
	}
	for i, tt := range []struct {
		req   abi.HTTPRequest
		asked int32 // from then on
	}{
		{abi.HTTPRequest{URL: url}, 1}, {abi.HTTPRequest{URL: url}, 1}, {with("X-Test", "a"), 2}, {with("x-test", "a"), 2},
		{with("X-Test", "b"), 3}, {abi.HTTPRequest{URL: url + "?"}, 3}, {abi.HTTPRequest{URL: url + "?a"}, 4},
		{with("Authorization", "mine"), 5}, {with("Authorization", "mine"), 6}, {with("Cookie", "a=b"), 7},
		{with("Cache-Control", "no-cache"), 8}, {with("Cache-Control", "no-cache"), 9}, {with("Cache-Control", "no-store"), 10},
		{with("Range", "bytes=0-100"), 11}, {abi.HTTPRequest{URL: url, Method: "HEAD"}, 12}, {abi.HTTPRequest{URL: url}, 12},
		{abi.HTTPRequest{URL: o.at("b.test", "/vary")}, 13}, {abi.HTTPRequest{URL: url, Method: "POST"}, 14},
		{abi.HTTPRequest{URL: url}, 15}, {abi.HTTPRequest{URL: url}, 15},
	} {
		if g.text(tt.req); s.asked.Load() != tt.asked {
			t.Errorf("request %d, %+v: asked %d times, want %d", i, tt.req, s.asked.Load(), tt.asked)
		}
	}
}

func TestAnswersToSecretsAreCachedOnRequest(t *testing.T) {
	for cached, want := range map[bool]int32{false: 2, true: 1} {
		s, o, g, _ := newCachedSite(t, httpcap.Config{
			Rules:   []httpcap.Rule{{Host: "a.test", Private: true, Secrets: []string{"token"}, CacheSecrets: cached}},
			Secrets: store(t),
		})
		for range 2 {
			g.text(authorized(o.at("a.test", "/hour"), "token"))
		}
		if s.asked.Load() != want {
			t.Errorf("cached %t: asked %d times, want %d", cached, s.asked.Load(), want)
		}
		g.text(abi.HTTPRequest{URL: o.at("a.test", "/hour")})
		if s.asked.Load() != want+1 {
			t.Errorf("cached %t: a request without the secret got the answer to one with it", cached)
		}
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	s, o, g, _ := newCachedSite(t, httpcap.Config{Limits: httpcap.Limits{Cache: 8 << 10}})
	for i := range 20 {
		g.text(abi.HTTPRequest{URL: o.at("a.test", fmt.Sprintf("/hour?%d", i))})
	}
	g.text(abi.HTTPRequest{URL: o.at("a.test", "/hour?19")})
	if s.asked.Load() != 20 {
		t.Errorf("the last one was not cached")
	}
	g.text(abi.HTTPRequest{URL: o.at("a.test", "/hour?0")})
	if s.asked.Load() != 21 {
		t.Errorf("the first one was cached")
	}
	none, o, g, _ := newCachedSite(t, httpcap.Config{Limits: httpcap.Limits{Cache: -1}})
	for range 2 {
		g.text(abi.HTTPRequest{URL: o.at("a.test", "/hour")})
	}
	if none.asked.Load() != 2 {
		t.Errorf("without a cache: asked %d times", none.asked.Load())
	}
}

// A server that adds to the header with every 304 response does not fill the cache.
func TestARenewedHeaderIsBounded(t *testing.T) {
	asked := 0
	o := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"e"`)
		w.Header().Set("Cache-Control", "no-cache")
		if r.Header.Get("If-None-Match") == "" {
			return
		}
		asked++
		w.Header().Set(fmt.Sprintf("X-%d", asked), strings.Repeat("x", 50<<10))
		w.WriteHeader(http.StatusNotModified)
	}))
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	for range 10 {
		resp, _, err := g.read(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/")})
		size := 0
		for _, f := range resp.Header {
			size += len(f.Value)
		}
		if err != nil || size > 128<<10 {
			t.Fatalf("a header of %d bytes, %v", size, err)
		}
	}
	if asked != 9 {
		t.Errorf("asked %d times whether it is still good", asked)
	}
}
