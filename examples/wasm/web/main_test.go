package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

var picture = bytes.Repeat([]byte("\x89PNG"), 100_000)

// site answers as a web site with a bit of everything.
func site() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/docs/intro", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("ETag", `"1"`)
		fmt.Fprint(w, "<h1>größe</h1>")
	})
	mux.HandleFunc("/docs/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") != "a b" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "%q", r.URL.EscapedPath())
	})
	mux.HandleFunc("/docs/old", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=iso-8859-1")
		w.Header().Set("Last-Modified", "Sun, 22 Nov 2026 07:00:00 GMT")
		fmt.Fprint(w, "gr\xf6\xdfe")
	})
	mux.HandleFunc("/docs/typed/{size}", func(w http.ResponseWriter, r *http.Request) { // as the query says
		w.Header().Set("Content-Type", r.FormValue("type"))
		size, _ := strconv.Atoi(r.PathValue("size"))
		text, _ := hex.DecodeString(r.FormValue("hex"))
		fmt.Fprint(w, string(text)+strings.Repeat("x", size))
	})
	mux.HandleFunc("/docs/picture.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(picture)
	})
	mux.HandleFunc("/docs/private", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer {{secret:docs}}" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	mux.HandleFunc("/docs/busy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	return mux
}

func start(t *testing.T) *wasmrestest.Provider {
	t.Helper()
	server := httptest.NewTLSServer(site())
	t.Cleanup(server.Close)
	p := wasmrestest.New(t)
	p.HTTP = server.Client().Transport
	p.Config = map[string]string{"origin": server.URL + "/docs"}
	return p
}

func TestPages(t *testing.T) {
	p := start(t)
	for _, c := range []struct {
		uri, mime, etag string
		text            bool
		data            string
	}{
		{"web://intro", "text/html", `"1"`, true, "<h1>größe</h1>"},
		{"web://a%20b", "application/json", "", true, `"/docs/a%20b"`},
		{"web://old", "text/plain", "Sun, 22 Nov 2026 07:00:00 GMT", false, "gr\xf6\xdfe"},
		{"web://picture.png", "image/png", "", false, string(picture)},
	} {
		contents, err := p.Read(c.uri)
		if err != nil || len(contents) != 1 {
			t.Errorf("%s: got %d contents, %v", c.uri, len(contents), err)
			continue
		}
		if got := contents[0]; got.MIME != c.mime || got.ETag != c.etag || got.Text != c.text || string(got.Data) != c.data {
			t.Errorf("%s: got %s, etag %s, text %t, %.40q", c.uri, got.MIME, got.ETag, got.Text, got.Data)
		}
	}
}

// A type that says no charset is text where the bytes are UTF-8.
func TestTypes(t *testing.T) {
	p := start(t)
	server := strings.TrimSuffix(p.Config["origin"], "/docs")
	for _, c := range []struct {
		contentType, text string
		size              int
		want              bool
	}{
		{"text/plain", "größe", 0, true}, {"text/html", "<p>größe</p>", 0, true}, {"application/xml", "<ü/>", 0, true},
		{"image/svg+xml", "<svg/>", 0, true}, {"text/css", "", 0, true}, {"application/javascript", "1", 0, true},
		{"text/html; charset=utf-8; x=y", "ü", 0, true}, {`text/html;charset="UTF-8"`, "ü", 0, true},
		{"text/plain; charset=us-ascii", "u", 0, true}, {"text/plain", "ü", 1 << 20, true},
		{"text/plain", "gr\xf6\xdfe", 0, false}, {"application/xml", "<\xfc/>", 0, false}, {"text/html", "a\x00", 0, false},
		{"text/html; charset=utf-16", "a", 0, false}, {"application/pdf", "text", 0, false}, {"text/plain", "ü", 5 << 20, false},
	} {
		uri := fmt.Sprintf("%s/docs/typed/%d?type=%s&hex=%x", server, c.size, url.QueryEscape(c.contentType), c.text)
		contents, err := p.Read(uri)
		if err != nil {
			t.Errorf("%s %q: %v", c.contentType, c.text, err)
			continue
		}
		got, want := contents[0], c.text+strings.Repeat("x", c.size)
		if mime, _, _ := strings.Cut(c.contentType, ";"); got.Text != c.want || string(got.Data) != want || got.MIME != mime {
			t.Errorf("%s %q and %d: got %s, text %t, %d bytes", c.contentType, c.text, c.size, got.MIME, got.Text, len(got.Data))
		}
	}
}

// Pages and pictures are read by their own URLs, and those that are configured are listed.
func TestOwnURLs(t *testing.T) {
	p := start(t)
	whole := strings.TrimSuffix(p.Config["origin"], "/docs")
	p.Config["pages"] = whole + "/docs/intro " + whole + "/docs/picture.png"
	p.Config["authorization"] = "Bearer {{secret:docs}}"
	listed := p.List()
	if len(listed) != 2 || listed[0].URI != whole+"/docs/intro" || listed[1].URI != whole+"/docs/picture.png" {
		t.Fatalf("got the list %+v", listed)
	}
	if got := p.Text(listed[0].URI); got != "<h1>größe</h1>" {
		t.Errorf("got %q", got)
	}
	if got := p.Bytes(listed[1].URI); !bytes.Equal(got, picture) {
		t.Errorf("got %d bytes of the picture", len(got))
	}
	if _, err := p.Read(whole + "/docs/private"); err != nil {
		t.Error(err)
	}
	if now, changed, err := p.Poll(listed[0].URI, ""); now != `"1"` || !changed || err != nil {
		t.Errorf("got %q, changed %t, %v", now, changed, err)
	}
	p.Config["origin"] = whole + "/doc" // which the page's URL begins with, too
	for uri, want := range map[string]error{
		whole + "/docs/private": wasmres.ErrDenied, whole + "/nothing": wasmres.ErrNotFound,
		strings.Replace(whole, "127.0.0.1", "127.0.0.2", 1) + "/docs/private": wasmres.ErrUnavailable,
	} {
		if _, err := p.Read(uri); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", uri, err, want)
		}
	}
}

// An origin is written with a path, with a slash at its end, and with neither.
func TestOrigins(t *testing.T) {
	p := start(t)
	whole := strings.TrimSuffix(p.Config["origin"], "/docs")
	for _, c := range []struct{ origin, uri string }{
		{"", "web://docs/intro"}, {"/", "web://docs/intro"}, {"/docs", "web://intro"}, {"/docs/", "web://intro"},
	} {
		p.Config["origin"] = whole + c.origin
		if contents, err := p.Read(c.uri); err != nil || len(contents) != 1 || string(contents[0].Data) != "<h1>größe</h1>" {
			t.Errorf("%q: got %v, %v", c.origin, contents, err)
		}
	}
}

func TestNoPages(t *testing.T) {
	p := start(t)
	for uri, want := range map[string]error{
		"web://../secret": wasmres.ErrInvalid, "web://missing": wasmres.ErrNotFound, "web://100%25": wasmres.ErrNotFound,
		"web://private": wasmres.ErrDenied, "web://busy": wasmres.ErrUnavailable,
	} {
		if _, err := p.Read(uri); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", uri, err, want)
		}
	}
}

// The token is a placeholder, which the host fills in: the provider never has it.
func TestAuthorization(t *testing.T) {
	p := start(t)
	p.Config["authorization"] = "Bearer {{secret:docs}}"
	if _, err := p.Read("web://private"); err != nil {
		t.Error(err)
	}
}

func TestWatch(t *testing.T) {
	p := start(t)
	before, _, err := p.Poll("web://intro", "")
	if before != `"1"` || err != nil {
		t.Errorf("got %q, %v", before, err)
	}
	if _, changed, err := p.Poll("web://intro", before); changed || err != nil {
		t.Errorf("got changed %t, %v", changed, err)
	}
	if _, changed, err := p.Poll("web://intro", `"0"`); !changed || err != nil {
		t.Errorf("got changed %t, %v", changed, err)
	}
}

func TestNothingGranted(t *testing.T) {
	p := start(t)
	p.HTTP = nil
	if _, err := p.Read("web://intro"); !errors.Is(err, wasmres.ErrDenied) || !strings.Contains(err.Error(), "granted") {
		t.Errorf("got %v", err)
	}
	for _, origin := range []string{"", "http://example.org", "https://", "%"} {
		p.Config = map[string]string{"origin": origin}
		if _, err := p.Read("web://intro"); !errors.Is(err, wasmres.ErrUnavailable) || !strings.Contains(err.Error(), "--config") {
			t.Errorf("%q: got %v", origin, err)
		}
	}
}
