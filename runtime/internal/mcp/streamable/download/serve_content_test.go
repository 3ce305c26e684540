package download_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
)

const modified = "Fri, 02 Jan 2026 03:04:05 GMT"

// compared are the headers in which a download and net/http's file server must agree.
var compared = []string{"Content-Range", "Content-Length", "ETag", "Last-Modified", "Accept-Ranges"}

// asFile returns the answer of net/http for a file.
func asFile(r *http.Request, body, etag string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/octet-stream")
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	at, _ := http.ParseTime(modified)
	http.ServeContent(w, r, "", at, strings.NewReader(body))
	return w
}

// differ describes a difference of two answers; empty for none.
func differ(got, want *httptest.ResponseRecorder) string {
	if got.Code != want.Code {
		return fmt.Sprintf("got status %d, want %d", got.Code, want.Code)
	}
	if got.Code == 200 || got.Code == 206 {
		if got.Body.String() != want.Body.String() {
			return fmt.Sprintf("got %q, want %q", got.Body, want.Body)
		}
	}
	for _, name := range compared {
		if got.Code >= 400 && (name == "Content-Length" || name == "Accept-Ranges" || name == "ETag" || name == "Last-Modified") {
			continue // errors have bodies of their own
		}
		if g, w := got.Header().Get(name), want.Header().Get(name); g != w && (got.Code < 400 || w != "") {
			return fmt.Sprintf("%s: got %q, want %q", name, g, w)
		}
	}
	return ""
}

func newFile(body, etag string, ranges bool) *file {
	return &file{body: body, ranges: ranges, head: abi.Content{Size: uint64(len(body)), ETag: etag, LastModified: "2026-01-02T03:04:05Z"}}
}

// Downloads are served as net/http serves files.
func TestDownloadsAreAsFiles(t *testing.T) {
	const body = "0123456789"
	earlier, later := "Fri, 02 Jan 2026 03:04:04 GMT", "Fri, 02 Jan 2026 03:04:06 GMT"
	for _, headers := range [][]string{
		{}, {"Range", "bytes=0-0"}, {"Range", "bytes=0-"}, {"Range", "bytes=9-"}, {"Range", "bytes=-1"}, {"Range", "bytes=-10"},
		{"Range", "bytes=-11"}, {"Range", "bytes=2-5"}, {"Range", "bytes=2-50"}, {"Range", "bytes=10-"}, {"Range", "bytes=10-12"},
		{"Range", "bytes= 2 - 5 "}, {"Range", "bytes=,2-5,"}, {"Range", "bytes=2-5,20-30"}, {"Range", "bytes=20-30,21-"},
		{"Range", "bytes="}, {"Range", "bytes=5-2"}, {"Range", "bytes=a-b"}, {"Range", "bytes=-"}, {"Range", "bytes=--1"},
		{"Range", "bytes=1"}, {"Range", ""},
		{"If-None-Match", `"v1"`}, {"If-None-Match", `W/"v1"`}, {"If-None-Match", `"v0", "v1"`}, {"If-None-Match", `"v0"`},
		{"If-None-Match", "*"}, {"If-None-Match", "v1"}, {"If-None-Match", `"v0",, W/"v1"`}, {"If-None-Match", `"v0" x "v1"`},
		{"If-None-Match", `"v1`}, {"If-None-Match", ""},
		{"If-None-Match", `"v1"`, "Range", "bytes=1-2"}, {"If-None-Match", `"v0"`, "Range", "bytes=1-2"},
		{"If-None-Match", `"v0"`, "If-Modified-Since", modified}, {"If-None-Match", `"v1"`, "If-Match", `"v0"`},
		{"If-Modified-Since", modified}, {"If-Modified-Since", earlier}, {"If-Modified-Since", later}, {"If-Modified-Since", "never"},
		{"If-Unmodified-Since", modified}, {"If-Unmodified-Since", earlier}, {"If-Unmodified-Since", later}, {"If-Unmodified-Since", "x"},
		{"If-Match", `"v1"`}, {"If-Match", `W/"v1"`}, {"If-Match", `"v0"`}, {"If-Match", "*"}, {"If-Match", `"v0", "v1"`},
		{"If-Match", `"v1"`, "If-Unmodified-Since", earlier}, {"If-Match", `"v1"`, "If-None-Match", `"v1"`},
		{"Range", "bytes=1-2", "If-Range", `"v1"`}, {"Range", "bytes=1-2", "If-Range", `W/"v1"`}, {"Range", "bytes=1-2", "If-Range", `"v0"`},
		{"Range", "bytes=1-2", "If-Range", modified}, {"Range", "bytes=1-2", "If-Range", earlier}, {"Range", "bytes=1-2", "If-Range", later},
		{"Range", "bytes=1-2", "If-Range", "x"}, {"Range", "bytes=20-", "If-Range", `"v0"`},
	} {
		for _, etag := range []string{`"v1"`, `W/"v1"`, ""} {
			for _, ranges := range []bool{false, true} {
				got, aborted := serve(newFile(body, etag, ranges).handler(t), get(fileURI, headers...))
				want := asFile(get(fileURI, headers...), body, etag)
				if diff := differ(got, want); diff != "" || aborted {
					t.Errorf("%q, etag %s, ranges by the provider %v: %s, aborted %v", headers, etag, ranges, diff, aborted)
				}
			}
		}
	}
}

// These requests net/http answers in another way, which RFC 9110 does not require.
func TestWhereDownloadsAreNotAsFiles(t *testing.T) {
	tests := []struct {
		name, method, body, value string
		status                    int
	}{
		{"other unit", "GET", "0123", "chars=0-1", 200},
		{"unit in upper case", "GET", "0123", "BYTES=0-1", 206},
		{"several ranges", "GET", "0123", "bytes=0-1,3-3", 200},
		{"too many ranges", "GET", "0123", "bytes=" + strings.Repeat("9-,", 20), 200},
		{"the last none", "GET", "0123", "bytes=-0", 416},
		{"numbers beyond any size", "GET", "0123", "bytes=1-99999999999999999999999", 206},
		{"begin beyond any size", "GET", "0123", "bytes=99999999999999999999999-", 416},
		{"a number with a sign", "GET", "0123", "bytes=+1-2", 416},
		{"head", "HEAD", "0123", "bytes=0-1", 200},
		{"nothing there", "GET", "", "bytes=a", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := get(fileURI, "Range", tt.value)
			r.Method = tt.method
			if w, _ := serve(newFile(tt.body, "", true).handler(t), r); w.Code != tt.status {
				t.Errorf("got %d, want %d", w.Code, tt.status)
			}
		})
	}
}

// alike matches the Range headers that net/http answers alike: those with one range in the resource.
var alike = regexp.MustCompile(`^bytes=[ \t]*([0-9]{1,18}[ \t]*-[ \t]*[0-9]{0,18}|-[ \t]*0{0,10}[1-9][0-9]{0,7})?[ \t]*$`)

// FuzzRange compares answers to Range headers with those of net/http. Other headers must not fail.
func FuzzRange(f *testing.F) {
	for _, seed := range []string{"bytes=0-1", "bytes=-3", "bytes=7-", "bytes=5-2", "bytes=1-2,4-5", "bytes=99-", "lines=1", "bytes=,,", "bytes=\t1 -\t2"} {
		f.Add(seed, uint8(10), true)
	}
	f.Fuzz(func(t *testing.T, value string, size uint8, ranges bool) {
		body := strings.Repeat("0123456789", 26)[:size]
		r := get(fileURI)
		r.Header["Range"] = []string{value}
		got, aborted := serve(newFile(body, `"v1"`, ranges).handler(t), r)
		if aborted || got.Code != 200 && got.Code != 206 && got.Code != 416 {
			t.Fatalf("%q: got %d, aborted %v", value, got.Code, aborted)
		}
		if got.Code == 206 && got.Header().Get("Content-Length") != strconv.Itoa(got.Body.Len()) {
			t.Errorf("%q: got %d bytes, %v", value, got.Body.Len(), got.Header())
		}
		if size == 0 || !alike.MatchString(value) {
			return
		}
		want := asFile(r, body, `"v1"`)
		if diff := differ(got, want); diff != "" {
			t.Errorf("%q of %d bytes: %s", value, size, diff)
		}
	})
}

// FuzzPreconditions compares answers to conditional headers with those of net/http.
func FuzzPreconditions(f *testing.F) {
	f.Add("If-None-Match", `"v0", W/"v1"`, "If-Modified-Since", modified, "v1")
	f.Add("If-Match", `*`, "If-Range", `"v1"`, `W/"v1"`)
	f.Add("If-Unmodified-Since", modified, "If-Range", modified, "")
	f.Add("If-None-Match", ",\t\"\"", "If-Match", "W/", "a,b")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2, etag string) {
		if strings.ContainsFunc(value1+value2, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }) {
			return // net/http takes bytes beyond ASCII in entity tags; others never arrive
		}
		r := get(fileURI, "Range", "bytes=1-2")
		for _, h := range [][2]string{{name1, value1}, {name2, value2}} {
			switch h[0] {
			case "If-None-Match", "If-Match", "If-Range", "If-Modified-Since", "If-Unmodified-Since":
				r.Header[h[0]] = []string{strings.Trim(h[1], " \t")} // as they arrive
			}
		}
		got, aborted := serve(newFile("0123456789", etag, false).handler(t), r)
		if aborted {
			t.Fatal("aborted")
		}
		want := asFile(r, "0123456789", got.Header().Get("ETag"))
		if got.Code >= 400 || etag != "" && got.Header().Get("ETag") == "" {
			return // an error does not say how the provider's etag was read
		}
		if diff := differ(got, want); diff != "" {
			t.Errorf("%q, %q, etag %q: %s", r.Header, etag, got.Header().Get("ETag"), diff)
		}
	})
}

func TestTimesOfDownloads(t *testing.T) {
	for _, tt := range []struct{ given, want string }{
		{"2026-01-02T03:04:05Z", modified}, {"2026-01-02T04:04:05.999+01:00", modified}, {"", ""}, {"2026", ""},
		{"0000-01-01T00:00:00Z", ""},
	} {
		f := &file{body: "x", head: abi.Content{Size: 1, LastModified: tt.given}}
		w, _ := serve(f.handler(t), get(fileURI, "If-Modified-Since", time.Now().UTC().Format(http.TimeFormat)))
		if got := w.Header().Get("Last-Modified"); got != tt.want || (w.Code == 304) != (tt.want != "") {
			t.Errorf("%q: got %q, status %d, want %q", tt.given, got, w.Code, tt.want)
		}
	}
}
