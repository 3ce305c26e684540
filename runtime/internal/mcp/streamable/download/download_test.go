package download_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A file is a resource with the URI fileURI.
type file struct {
	body   string
	head   abi.Content
	ranges bool  // it answers ranges
	short  bool  // answers ranges with a byte less
	fails  error // after all bytes

	asked  []resource.Request
	pushed int
}

const fileURI = "test://dir/file.bin"

func (f *file) read(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	f.asked = append(f.asked, *req)
	head, body := f.head, f.body
	if head.URI == "" {
		head.URI = req.URI.String()
	}
	if head.ETag != "" && req.IfNoneMatch == head.ETag {
		return &abi.Reply{}, sink.Content(&abi.Content{URI: req.URI.String(), ETag: head.ETag, NotModified: true})
	}
	if f.ranges && (req.RangeOffset > 0 || req.RangeLength > 0) {
		body = body[min(req.RangeOffset, uint64(len(body))):]
		if req.RangeLength > 0 {
			body = body[:min(req.RangeLength, uint64(len(body)))]
		}
		head.RangeTotal, head.Size = uint64(len(f.body)), uint64(len(body))
		if f.short {
			body = body[1:]
		}
	}
	if head.Kind == abi.KindNone {
		head.Kind = abi.KindBlob
	}
	if err := sink.Content(&head); err != nil {
		return nil, err
	}
	for len(body) > 0 {
		n := min(len(body), 65_521)
		f.pushed += n
		if err := sink.Body([]byte(body[:n])); err != nil {
			return nil, err
		}
		body = body[n:]
	}
	return &abi.Reply{}, f.fails
}

func (f *file) handler(t testing.TB) http.Handler {
	s := mcptest.New()
	s.Handle(abi.Resource{URI: fileURI, Name: "file"}, f.read)
	return streamtest.NewHandler(t, s, streamable.Config{})
}

// link returns the reference by which a resource is downloaded.
func link(uri string) string { return streamable.Path + "?uri=" + url.QueryEscape(uri) }

// get makes a request for a resource.
func get(uri string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://mcp.test"+link(uri), nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// serve answers a request; aborted reports whether the answer was cut off.
func serve(h http.Handler, r *http.Request) (w *httptest.ResponseRecorder, aborted bool) {
	w = httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			aborted = true
		}
	}()
	h.ServeHTTP(w, r)
	return w, false
}

func TestDownload(t *testing.T) {
	f := &file{body: "0123456789", head: abi.Content{
		MIMEType: "text/html", Kind: abi.KindText, Size: 10, ETag: "v1", LastModified: "2026-01-02T03:04:05.6+01:00",
	}}
	h := f.handler(t)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		r := get(fileURI)
		r.Method = method
		w, aborted := serve(h, r)
		want := map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Content-Length": "10", "Etag": `"v1"`, "Accept-Ranges": "bytes",
			"Last-Modified": "Fri, 02 Jan 2026 02:04:05 GMT", "Content-Disposition": "attachment; filename=file.bin",
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
			"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "private, no-cache",
		}
		for name, value := range want {
			if got := w.Header().Get(name); got != value {
				t.Errorf("%s: %s: got %q, want %q", method, name, got, value)
			}
		}
		body := f.body
		if method == http.MethodHead {
			body = ""
		}
		if w.Code != 200 || w.Body.String() != body || aborted || len(w.Header()) != len(want) {
			t.Errorf("%s: got %d, %q, %v, aborted %v", method, w.Code, w.Body, w.Header(), aborted)
		}
	}
}

func TestDownloadHeaders(t *testing.T) {
	const anything = "application/octet-stream"
	tests := []struct {
		name        string
		head        abi.Content
		contentType string
		disposition string
		etag        string
	}{
		{"nothing said of bytes", abi.Content{}, anything, "attachment; filename=file.bin", ""},
		{"nothing said of text", abi.Content{Kind: abi.KindText}, "text/plain; charset=utf-8", "attachment; filename=file.bin", ""},
		{"other charset", abi.Content{Kind: abi.KindText, MIMEType: "text/csv; charset=utf-16; header=present"}, "text/csv; charset=utf-8", "attachment; filename=file.bin", ""},
		{"text in a blob", abi.Content{MIMEType: "text/csv; charset=utf-16"}, "text/csv; charset=utf-16", "attachment; filename=file.bin", ""},
		{"JSON", abi.Content{Kind: abi.KindText, MIMEType: "application/json"}, "application/json", "attachment; filename=file.bin", ""},
		{"no type", abi.Content{MIMEType: "nonsense"}, anything, "attachment; filename=file.bin", ""},
		{"header injection", abi.Content{MIMEType: "text/x\r\nSet-Cookie: a=b"}, anything, "attachment; filename=file.bin", ""},
		{"a range in disguise", abi.Content{MIMEType: "multipart/byteranges; boundary=x"}, anything, "attachment; filename=file.bin", ""},
		{"quoted etag", abi.Content{ETag: `"q"`}, anything, "attachment; filename=file.bin", `"q"`},
		{"weak etag", abi.Content{ETag: `W/"q"`}, anything, "attachment; filename=file.bin", `W/"q"`},
		{"etag with a space", abi.Content{ETag: "a b"}, anything, "attachment; filename=file.bin", ""},
		{"etag with a quote", abi.Content{ETag: `a"b`}, anything, "attachment; filename=file.bin", ""},
		{"etag beyond ASCII", abi.Content{ETag: "é"}, anything, "attachment; filename=file.bin", ""},
		{"time that is none", abi.Content{LastModified: "yesterday"}, anything, "attachment; filename=file.bin", ""},
		{"name beyond ASCII", abi.Content{URI: "test://x/caf%C3%A9.txt?v=1#f"}, anything, "attachment; filename*=utf-8''caf%C3%A9.txt", ""},
		{"name that climbs", abi.Content{URI: "test://x/..%2f..%5cetc:passwd"}, anything, "attachment; filename=_.._etc_passwd", ""},
		{"no name", abi.Content{URI: "test:///"}, anything, "attachment; filename=resource", ""},
		{"long name", abi.Content{URI: "test://x/" + strings.Repeat("n", 200) + ".txt"}, anything, "attachment; filename=" + strings.Repeat("n", 96) + ".txt", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &file{body: "x", head: tt.head}
			w, aborted := serve(f.handler(t), get(fileURI))
			if w.Code != 200 || aborted || w.Body.String() != "x" {
				t.Errorf("got %d, %q, aborted %v", w.Code, w.Body, aborted)
			}
			for name, want := range map[string]string{"Content-Type": tt.contentType, "Content-Disposition": tt.disposition, "ETag": tt.etag, "Last-Modified": ""} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestDownloadFailures(t *testing.T) {
	tests := []struct {
		name    string
		request *http.Request
		fails   error
		status  int
		want    string
	}{
		{"not found", get("test://nope"), nil, 404, `"code":"not_found"`},
		{"bad URI", get("no scheme"), nil, 400, `"code":"invalid_params"`},
		{"climbing URI", get("test://a/../b"), nil, 400, `"code":"invalid_params"`},
		{"two URIs", httptest.NewRequest("GET", link("test://a")+"&uri=x", nil), nil, 400, "percent-encoded"},
		{"malformed query", httptest.NewRequest("GET", streamable.Path+"?uri=%zz", nil), nil, 400, "percent-encoded"},
		{"other site", get(fileURI, "Sec-Fetch-Site", "cross-site"), nil, 403, "pages of other sites"},
		{"sibling site", get(fileURI, "Sec-Fetch-Site", "same-site"), nil, 403, "pages of other sites"},
		{"other origin", get(fileURI, "Origin", "https://evil.test"), nil, 403, "origin"},
		{"denied", get(fileURI), abi.Errorf(abi.CodeDenied, "no"), 403, `"code":"denied"`},
		{"deadline", get(fileURI), abi.Errorf(abi.CodeDeadline, "slow"), 504, `"code":"deadline"`},
		{"too large", get(fileURI), abi.Errorf(abi.CodeTooLarge, "big"), 413, `"code":"too_large"`},
		{"busy", get(fileURI), &abi.Error{Code: abi.CodeBusy, RetryAfter: 1500 * time.Millisecond}, 429, `"retryAfterMs":1500`},
		{"unavailable", get(fileURI), abi.Errorf(abi.CodeUnavailable, "later"), 503, `"code":"unavailable"`},
		{"unsupported", get(fileURI), abi.Errorf(abi.CodeUnsupported, "no"), 501, `"code":"unsupported"`},
		{"crash", get(fileURI), abi.Errorf(abi.CodeTrap, "crash"), 502, `"code":"trap"`},
		{"memory", get(fileURI), abi.Errorf(abi.CodeMemory, "much"), 507, `"code":"memory"`},
		{"unknown", get(fileURI), errors.New("secret"), 500, `"code":"internal"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mcptest.New()
			s.Handle(abi.Resource{URI: fileURI, Name: "x"}, func(context.Context, *resource.Request, abi.Sink) (*abi.Reply, error) {
				if tt.fails == nil {
					t.Error("the provider was read")
				}
				return nil, tt.fails
			})
			w, aborted := serve(streamtest.NewHandler(t, s, streamable.Config{}), tt.request)
			if w.Code != tt.status || aborted || !json.Valid(w.Body.Bytes()) || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("got %d, %s, aborted %v, want %d with %s", w.Code, w.Body, aborted, tt.status, tt.want)
			}
			if got := w.Header().Get("Content-Type"); got != "application/json" || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("got %s of type %s", w.Body, got)
			}
			if retry := w.Header().Get("Retry-After"); (retry == "2") != (tt.status == 429) {
				t.Errorf("got Retry-After %q", retry)
			}
		})
	}
}

func TestDownloadChecksOrigins(t *testing.T) {
	f := &file{body: "x"}
	s := mcptest.New()
	s.Handle(abi.Resource{URI: fileURI, Name: "x"}, f.read)
	h := streamtest.NewHandler(t, s, streamable.Config{AllowedOrigins: []string{"https://app.test"}})
	for _, headers := range [][]string{
		nil,
		{"Sec-Fetch-Site", "none"},
		{"Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Site", "cross-site", "Origin", "https://app.test"},
		{"Mcp-Session-Id", "s"},
	} {
		if w, _ := serve(h, get(fileURI, headers...)); w.Code != 200 || w.Body.String() != "x" {
			t.Errorf("%q: got %d, %s", headers, w.Code, w.Body)
		}
	}
}

// A client cannot take a download for whole when the provider has failed.
func TestAFailedDownloadIsCutOff(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	crash := abi.Errorf(abi.CodeTrap, "crash")
	tests := []struct {
		name string
		file file
		rng  string
	}{
		{"crash at the end", file{body: large, head: abi.Content{Size: 1 << 20}, fails: crash}, ""},
		{"crash at the end of one byte", file{body: "x", head: abi.Content{Size: 1}, fails: crash}, ""},
		{"crash at the end, size not said", file{body: large, fails: crash}, ""},
		{"crash at the end of a range", file{body: large, head: abi.Content{Size: 1 << 20}, fails: crash}, "bytes=5-"},
		{"shorter than said", file{body: large, head: abi.Content{Size: 1<<20 + 1}}, ""},
		{"longer than said", file{body: large, head: abi.Content{Size: 1<<20 - 1}}, ""},
		{"longer than said, by more", file{body: large, head: abi.Content{Size: 3}}, ""},
		{"range beyond what there is", file{body: large, head: abi.Content{Size: 2 << 20}}, "bytes=1048570-1048580"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := tt.file.handler(t)
			r := get(fileURI)
			if tt.rng != "" {
				r.Header.Set("Range", tt.rng)
			}
			w, aborted := serve(h, r)
			if said := w.Header().Get("Content-Length"); !aborted || said == strconv.Itoa(w.Body.Len()) {
				t.Errorf("%d of %s bytes were written, aborted %v", w.Body.Len(), said, aborted)
			}

			server := httptest.NewServer(h)
			defer server.Close()
			r, err := http.NewRequest(http.MethodGet, server.URL+link(fileURI), nil)
			if err != nil {
				t.Fatal(err)
			}
			if tt.rng != "" {
				r.Header.Set("Range", tt.rng)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				return // cut off before its head was sent
			}
			defer response.Body.Close()
			if got, err := io.ReadAll(response.Body); err == nil {
				t.Errorf("got %d bytes of %s with status %s as if they were whole", len(got), response.Header.Get("Content-Length"), response.Status)
			}
		})
	}
}

func TestDownloadOfSeveralContents(t *testing.T) {
	reads := 0
	s := mcptest.New()
	several := func(uris ...string) mcptest.Handler {
		return func(_ context.Context, _ *resource.Request, sink abi.Sink) (*abi.Reply, error) {
			reads++
			for _, uri := range uris {
				if err := mcptest.Send(sink, &abi.Content{URI: uri, Kind: abi.KindText}, []byte(uri)); err != nil {
					return nil, err
				}
			}
			return &abi.Reply{}, nil
		}
	}
	s.Handle(abi.Resource{URI: "test://own", Name: "own"}, several("test://own/1", "test://own", "test://own/2"))
	s.Handle(abi.Resource{URI: "test://folder", Name: "folder"}, several("test://folder/1", "test://folder/2"))
	s.Handle(abi.Resource{URI: "test://none", Name: "none"}, several())
	h := streamtest.NewHandler(t, s, streamable.Config{})
	for _, tt := range []struct {
		uri, want string
		reads     int
	}{{"test://own", "test://own", 1}, {"test://folder", "test://folder/1", 2}, {"test://none", "", 1}} {
		reads = 0
		w, _ := serve(h, get(tt.uri))
		if tt.want == "" && w.Code == 500 {
			continue
		}
		if w.Code != 200 || w.Body.String() != tt.want || reads != tt.reads {
			t.Errorf("%s: got %d, %s in %d reads, want %s in %d", tt.uri, w.Code, w.Body, reads, tt.want, tt.reads)
		}
	}
}

func TestDownloadReadsNoMoreThanIsNeeded(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 1<<20)
	tests := []struct {
		name    string
		ranges  bool
		headers []string
		method  string
		status  int
		offset  int
		length  int
		most    int // bytes the provider pushes
		reads   int
	}{
		{"range", true, []string{"Range", "bytes=100-199"}, "GET", 206, 100, 100, 100, 1},
		{"range of a provider that does not cut", false, []string{"Range", "bytes=100-199"}, "GET", 206, 100, 100, 2 << 20, 1},
		{"open range", true, []string{"Range", "bytes=16777200-"}, "GET", 206, 16777200, 16, 16, 1},
		{"long range", true, []string{"Range", "bytes=1000-3000000"}, "GET", 206, 1000, 2_999_001, 2_999_001, 3},
		{"end", true, []string{"Range", "bytes=-16"}, "GET", 206, 16777200, 16, 17, 2},
		{"long end", true, []string{"Range", "bytes=-3000000"}, "GET", 206, 13_777_216, 3_000_000, 3_000_001, 4},
		{"whole", true, nil, "GET", 200, 0, 16 << 20, 16 << 20, 16},
		{"several ranges", true, []string{"Range", "bytes=0-0,5-6"}, "GET", 200, 0, 16 << 20, 16 << 20, 16},
		{"current version", true, []string{"If-None-Match", `"v1"`}, "GET", 304, 0, 0, 0, 1},
		{"a range of the same version", true, []string{"Range", "bytes=100-199", "If-Range", `"v1"`}, "GET", 206, 100, 100, 100, 1},
		{"a range of another version", true, []string{"Range", "bytes=7-99", "If-Range", `"v0"`}, "GET", 200, 0, 16 << 20, 16<<20 + 93, 17},
		{"head", false, nil, "HEAD", 200, 0, 0, 2 << 20, 1},
		{"head of what is cut", true, nil, "HEAD", 200, 0, 0, 1, 1},
		{"beyond", true, []string{"Range", "bytes=99999999-"}, "GET", 416, 0, 0, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &file{body: large, ranges: tt.ranges, head: abi.Content{Size: uint64(len(large)), ETag: "v1"}}
			r := get(fileURI, tt.headers...)
			r.Method = tt.method
			w, aborted := serve(f.handler(t), r)
			if tt.status == 416 {
				w.Body.Reset() // an error in JSON
			}
			if w.Code != tt.status || aborted || w.Body.String() != large[tt.offset:tt.offset+tt.length] {
				t.Errorf("got %d, %d bytes, aborted %v, want %d, %d", w.Code, w.Body.Len(), aborted, tt.status, tt.length)
			}
			if f.pushed > tt.most || len(f.asked) != tt.reads {
				t.Errorf("the provider pushed %d bytes in %d reads, want %d in %d", f.pushed, len(f.asked), tt.most, tt.reads)
			}
		})
	}
}

// A resource may change between two parts: the download then fails.
func TestVersionsAreNotMixed(t *testing.T) {
	tests := []struct {
		name  string
		etag  string
		after func(n int, f *file) // n reads
		whole bool
		reads int
	}{
		{"unchanged", "v1", func(int, *file) {}, true, 3},
		{"other etag", "v1", func(n int, f *file) { f.head.ETag = fmt.Sprint(n) }, false, 2},
		{"other length", "v1", func(_ int, f *file) { f.body += "x" }, false, 2},
		{"no more cutting", "v1", func(_ int, f *file) { f.ranges = false }, false, 2},
		{"shorter slices", "v1", func(n int, f *file) { f.short = n == 1 }, false, 2},
		{"without an etag", "", func(int, *file) {}, true, 2},
		{"without an etag, ever longer", "", func(_ int, f *file) { f.body += "x" }, false, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &file{body: strings.Repeat("0123456789", 300_000), ranges: true, head: abi.Content{ETag: tt.etag}}
			body, reads := f.body, 0
			s := mcptest.New()
			s.Handle(abi.Resource{URI: fileURI, Name: "x"}, func(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
				reply, err := f.read(ctx, req, sink)
				reads++
				tt.after(reads, f)
				return reply, err
			})
			w, aborted := serve(streamtest.NewHandler(t, s, streamable.Config{}), get(fileURI))
			if whole := w.Code == 200 && w.Body.String() == body && !aborted; whole != tt.whole {
				t.Errorf("got %d, %d bytes, aborted %v, want it whole: %v", w.Code, w.Body.Len(), aborted, tt.whole)
			}
			if said := w.Header().Get("Content-Length"); w.Code == 200 && !tt.whole && said == strconv.Itoa(w.Body.Len()) {
				t.Errorf("got %s bytes as if they were whole", said)
			}
			if reads != tt.reads {
				t.Errorf("got %d reads, want %d", reads, tt.reads)
			}
		})
	}
}

// A provider that is faster than the client has to wait.
func TestASlowDownloadTakesNoMemory(t *testing.T) {
	const size = 64 << 20
	ahead, read := 0, 0
	wait := make(chan struct{})
	s := mcptest.New()
	s.Handle(abi.Resource{URI: fileURI, Name: "x"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		if err := sink.Content(&abi.Content{URI: req.URI.String(), Kind: abi.KindBlob, Size: size}); err != nil {
			return nil, err
		}
		piece := make([]byte, 1<<20)
		for range size / len(piece) {
			if err := sink.Body(piece); err != nil {
				return nil, err
			}
			ahead += len(piece)
		}
		close(wait)
		return &abi.Reply{}, nil
	})
	server := httptest.NewServer(streamtest.NewHandler(t, s, streamable.Config{}))
	defer server.Close()
	response, err := http.Get(server.URL + link(fileURI))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	select {
	case <-wait:
		t.Error("the provider ended before the client has read anything")
	default:
	}
	n, err := io.Copy(io.Discard, response.Body)
	if read += int(n); err != nil || read != size {
		t.Errorf("got %d bytes, %v, want %d", read, err, size)
	}
	if <-wait; ahead != size {
		t.Errorf("the provider pushed %d bytes", ahead)
	}
}

func TestAClientThatLeavesEndsTheDownload(t *testing.T) {
	ended := make(chan error, 1)
	s := mcptest.New()
	s.Handle(abi.Resource{URI: fileURI, Name: "x"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		err := sink.Content(&abi.Content{URI: req.URI.String(), Kind: abi.KindBlob})
		for piece := make([]byte, 1<<20); err == nil; {
			err = sink.Body(piece)
		}
		ended <- err
		return nil, err
	})
	server := httptest.NewServer(streamtest.NewHandler(t, s, streamable.Config{}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", link(fileURI), server.Listener.Addr())
	if _, err := io.ReadFull(conn, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := <-ended; abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("got %v, want it cancelled", err)
	}
}

// A provider that says one length and then another does not decide how much memory a part takes.
func TestPartsAreBoundedWhateverTheProviderSays(t *testing.T) {
	s, asked := mcptest.New(), []uint64(nil)
	s.Handle(abi.Resource{URI: fileURI, Name: "file"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		c := &abi.Content{URI: req.URI.String(), Kind: abi.KindBlob, RangeTotal: 1 << 46}
		if asked = append(asked, req.RangeLength); len(asked) > 1 {
			c.RangeTotal, c.ETag = 1<<47, "x"
		}
		if err := sink.Content(c); err != nil {
			return nil, err
		}
		return &abi.Reply{}, sink.Body([]byte("x"))
	})
	if w, aborted := serve(streamtest.NewHandler(t, s, streamable.Config{}), get(fileURI)); w.Code == 200 && !aborted {
		t.Errorf("got all of %d bytes", w.Body.Len())
	}
	if len(asked) > 4 {
		t.Errorf("asked for %d", asked)
	}
}

// TestDownloadFromAProvider downloads from a WebAssembly provider.
func TestDownloadFromAProvider(t *testing.T) {
	const size = 5 << 20
	blob := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	puppet := guesttest.Puppet{
		Manifest: abi.Manifest{
			Name: "puppet", Ops: 1 << abi.OpRead, Resources: []abi.Resource{{URI: "t://whole", Name: "whole"}},
			Templates: []abi.Template{{URITemplate: "t://cut/{n}", Name: "cut", Ranges: true}},
		},
		Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
			head := abi.Content{URI: req.URI, Kind: abi.KindBlob, Size: size, ETag: "v1"}
			body := blob[min(req.RangeOffset, size):]
			if req.RangeLength > 0 {
				body = body[:min(req.RangeLength, uint64(len(body)))]
			}
			if req.RangeOffset > 0 || req.RangeLength > 0 {
				head.Size, head.RangeTotal = uint64(len(body)), size
			}
			const piece = 512 << 10
			switch begin := (n - 1) * piece; {
			case n == 0:
				return guesttest.Emit(head.Append(nil))
			case begin < len(body):
				return guesttest.Body(body[begin:min(begin+piece, len(body))])
			}
			return guesttest.Return(abi.CodeOK)
		},
	}
	e, err := wazero.Open(wazero.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	p, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{Engine: e}, Services: puppet.Services(), Limits: limits.Limits{Timeout: 20 * time.Second}}, puppet.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	core, err := mcp.New(mcp.Config{Source: p, Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	h, err := streamable.New(streamable.Config{Core: core, AllowedHosts: streamtest.Hosts()})
	if err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"t://whole", "t://cut/1"} {
		for _, tt := range []struct {
			rng           string
			status        int
			offset, bytes int
		}{
			{"", 200, 0, size}, {"bytes=10-19", 206, 10, 10}, {"bytes=3000000-", 206, 3_000_000, size - 3_000_000},
			{"bytes=-7", 206, size - 7, 7}, {"bytes=5242880-", 416, 0, 0}, {"bytes=0-0", 206, 0, 1},
		} {
			var headers []string
			if tt.rng != "" {
				headers = []string{"Range", tt.rng}
			}
			w, aborted := serve(h, get(uri, headers...))
			if w.Code == 416 {
				w.Body.Reset()
			}
			if w.Code != tt.status || aborted || !bytes.Equal(w.Body.Bytes(), blob[tt.offset:tt.offset+tt.bytes]) {
				t.Errorf("%s, %s: got %d, %d bytes, aborted %v, want %d, %d", uri, tt.rng, w.Code, w.Body.Len(), aborted, tt.status, tt.bytes)
			}
		}
		if w, _ := serve(h, get(uri, "If-None-Match", `"v1"`)); w.Code != 304 || w.Body.Len() > 0 {
			t.Errorf("%s: got %d, %d bytes, want 304", uri, w.Code, w.Body.Len())
		}
	}
}
