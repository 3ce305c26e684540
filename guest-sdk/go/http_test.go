package wasmres_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// fetching runs f as a handler whose requests go to a server.
func fetching(t *testing.T, server http.Handler, f func(url string) error) error {
	t.Helper()
	s := httptest.NewTLSServer(server)
	t.Cleanup(s.Close)
	p := start(t, func() {
		wasmres.Resource("t://run", func(*wasmres.Request) (string, error) { return "", f(s.URL) })
	})
	p.HTTP = s.Client().Transport
	p.Deadline = 5 * time.Second
	_, err := p.Read("t://run")
	return err
}

var long = bytes.Repeat([]byte("0123456789abcde\n"), 50_000) // more than one answer of the host has

func web() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Answer", strings.Join(r.Header.Values("X-Test"), ","))
		fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("Authorization"), body)
	})
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(long) })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo", http.StatusFound) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // a plain return would answer 200, which may come before the client has given up
	})
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		code := 0
		_, _ = fmt.Sscan(r.PathValue("code"), &code)
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(code)
	})
	return mux
}

func TestHTTP(t *testing.T) {
	err := fetching(t, web(), func(url string) error {
		resp, err := wasmres.HTTP(wasmres.HTTPRequest{
			Method: "POST", URL: url + "/echo", Body: []byte("body"), MaxBytes: 100, Timeout: time.Minute,
			Header: wasmres.HTTPHeader{
				{Name: "X-Test", Value: "a"}, {Name: "x-test", Value: "b"}, {Name: "Authorization", Value: "Bearer {{secret:t}}"},
			},
		})
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		if string(body) != "POST Bearer {{secret:t}} body" || err != nil || resp.Status != 200 || resp.Header.Get("x-ANSWER") != "a,b" {
			t.Errorf("got %d %+v, %q, %v", resp.Status, resp.Header, body, err)
		}
		if resp.Header.Get("X-Absent") != "" || resp.URL != url+"/echo" {
			t.Errorf("got %+v of %s", resp.Header, resp.URL)
		}
		if resp, err = wasmres.Get(url + "/to"); err != nil || resp.URL != url+"/echo" {
			t.Errorf("after a redirect: got %+v, %v", resp, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHTTPBodiesAreStreamed(t *testing.T) {
	err := fetching(t, web(), func(url string) error {
		first, err := wasmres.Get(url + "/long")
		if err != nil {
			return err
		}
		second, err := wasmres.Get(url + "/long") // between the parts of the first
		if err != nil {
			return err
		}
		for _, resp := range []*wasmres.HTTPResponse{second, first} {
			if body, err := io.ReadAll(resp.Body); !bytes.Equal(body, long) || err != nil {
				t.Errorf("got %d bytes, %v, want %d", len(body), err, len(long))
			}
			if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("after the end: got %d, %v", n, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHTTPBodiesCanBeServed(t *testing.T) {
	s := httptest.NewServer(web())
	t.Cleanup(s.Close)
	p := start(t, func() {
		wasmres.Resource("t://long", func(*wasmres.Request) (wasmres.Content, error) {
			resp, err := wasmres.Get(s.URL + "/long")
			if err != nil {
				return wasmres.Content{}, err
			}
			return wasmres.Stream(resp.Body, -1).AsText(), resp.Err()
		})
	})
	p.HTTP = http.DefaultTransport
	if got := p.Text("t://long"); got != string(long) {
		t.Errorf("got %d bytes, want %d", len(got), len(long))
	}
}

func TestHTTPErrors(t *testing.T) {
	err := fetching(t, web(), func(url string) error {
		for what, c := range map[string]struct {
			request wasmres.HTTPRequest
			want    error
		}{
			"a method":   {wasmres.HTTPRequest{Method: "G T", URL: url}, wasmres.ErrInvalid},
			"slow":       {wasmres.HTTPRequest{URL: url + "/slow", Timeout: 20 * time.Millisecond}, wasmres.ErrDeadline},
			"large":      {wasmres.HTTPRequest{URL: url + "/long", MaxBytes: 1000}, wasmres.ErrTooLarge},
			"a request":  {wasmres.HTTPRequest{Method: "POST", URL: url, Body: make([]byte, 1<<20)}, wasmres.ErrTooLarge},
			"no server":  {wasmres.HTTPRequest{URL: "http://127.0.0.1:1/"}, wasmres.ErrUnavailable},
			"no address": {wasmres.HTTPRequest{URL: "http://%zz/"}, wasmres.ErrInvalid},
		} {
			if _, err := wasmres.HTTP(c.request); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", what, err, c.want)
			}
		}
		resp, err := wasmres.HTTP(wasmres.HTTPRequest{URL: url + "/long", MaxBytes: 100_000})
		if err != nil {
			return err
		}
		if body, err := io.ReadAll(resp.Body); !errors.Is(err, wasmres.ErrTooLarge) || len(body) > 100_000 {
			t.Errorf("a body: got %d bytes, %v", len(body), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	denied := start(t, func() {
		wasmres.Resource("t://run", func(*wasmres.Request) (string, error) {
			_, err := wasmres.Get("https://example.org")
			return "", err
		})
	})
	if _, err := denied.Read("t://run"); !errors.Is(err, wasmres.ErrDenied) {
		t.Errorf("not granted: got %v", err)
	}
	if _, err := wasmres.Get("https://example.org"); !errors.Is(err, wasmres.ErrUnsupported) {
		t.Errorf("without a host: got %v", err)
	}
}

func TestHTTPStatusesAreErrorsIfWanted(t *testing.T) {
	err := fetching(t, web(), func(url string) error {
		for status, want := range map[int]*wasmres.Error{
			200: nil, 204: nil, 304: wasmres.ErrInternal, 400: wasmres.ErrInternal, 401: wasmres.ErrDenied, 403: wasmres.ErrDenied,
			404: wasmres.ErrNotFound, 410: wasmres.ErrNotFound, 429: wasmres.ErrUnavailable, 500: wasmres.ErrUnavailable,
		} {
			resp, err := wasmres.Get(url + fmt.Sprint("/status/", status))
			if err != nil {
				return err
			}
			err = resp.Err()
			if want == nil && err != nil || want != nil && (!errors.Is(err, want) || !strings.Contains(err.Error(), fmt.Sprint(status))) {
				t.Errorf("%d: got %v, want %v", status, err, want)
			}
			var e *wasmres.Error
			if errors.As(err, &e) && e.Code == wasmres.ErrUnavailable.Code && e.RetryAfter != 3*time.Second {
				t.Errorf("%d: got %v", status, e.RetryAfter)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
