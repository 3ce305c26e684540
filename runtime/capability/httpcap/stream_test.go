package httpcap_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

func TestLongBodiesAreStreamed(t *testing.T) {
	o := newOrigin(t, site())
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	resp, body, err := g.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/large")})
	if err != nil || resp.Stream == 0 {
		t.Fatalf("got %+v, %v", resp, err)
	}
	parts := 1
	for more := true; more; parts++ {
		var part []byte
		if part, more, err = g.next(t.Context(), resp.Stream); err != nil || len(part) > 1<<20 {
			t.Fatalf("part %d: got %d bytes, %v", parts, len(part), err)
		}
		body = append(body, part...)
	}
	if string(body) != string(large) || parts < 3 {
		t.Errorf("got %d bytes in %d parts, want %d", len(body), parts, len(large))
	}
	if _, _, err := g.next(t.Context(), resp.Stream); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("after the end: got %v", err)
	}
}

func TestAStreamBelongsToItsCall(t *testing.T) {
	o := newOrigin(t, site())
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	one, end := context.WithCancel(t.Context())
	other, endOther := context.WithCancel(t.Context())
	defer endOther()
	resp, _, err := g.ask(one, abi.HTTPRequest{URL: o.at("a.test", "/large")})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []uint64{resp.Stream, resp.Stream + 1, 0} {
		if part, _, err := g.next(other, id); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("stream %d of another call: got %d bytes, %v", id, len(part), err)
		}
	}
	if _, _, err := g.next(one, resp.Stream); err != nil {
		t.Errorf("its own: %v", err)
	}
	end()
	if _, _, err := g.next(one, resp.Stream); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("after the call: got %v", err)
	}
}

// An unread body is closed when the call ends, and when the capability is closed, as the server can see.
func TestOpenStreamsEndWithTheCall(t *testing.T) {
	gone := make(chan struct{})
	o := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { gone <- struct{}{} }()
		for r.Context().Err() == nil {
			if _, err := w.Write(large); err != nil {
				return
			}
		}
	}))
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}, Limits: httpcap.Limits{Response: 1 << 40}})
	ctx, cancel := context.WithCancel(t.Context())
	if resp, _, err := g.ask(ctx, abi.HTTPRequest{URL: o.at("a.test", "/")}); err != nil || resp.Stream == 0 {
		t.Fatalf("got %+v, %v", resp, err)
	}
	cancel()
	<-gone
	if resp, _, err := g.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/")}); err != nil || resp.Stream == 0 {
		t.Fatalf("got %+v, %v", resp, err)
	}
	if err := g.http.Close(); err != nil {
		t.Error(err)
	}
	<-gone
}

func TestACallHasFewStreams(t *testing.T) {
	o := newOrigin(t, site())
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	var opened []uint64
	for range 8 {
		resp, _, err := g.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/large")})
		if err != nil {
			t.Fatal(err)
		}
		opened = append(opened, resp.Stream)
	}
	if got := fmt.Sprint(opened); got != "[1 2 3 4 5 6 7 8]" {
		t.Errorf("got streams %s", got)
	}
	if _, _, err := g.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/large")}); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("one more: got %v", err)
	}
	for more := true; more; {
		var err error
		if _, more, err = g.next(t.Context(), opened[3]); err != nil {
			t.Fatal(err)
		}
	}
	if resp, _, err := g.ask(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/large")}); resp.Stream != 9 || err != nil {
		t.Errorf("after one was read: got %d, %v", resp.Stream, err)
	}
}

func TestAStreamIsBounded(t *testing.T) {
	o := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush() // so that its length is not known
		_, _ = w.Write(large)
	}))
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
	_, body, err := g.read(t.Context(), abi.HTTPRequest{URL: o.at("a.test", "/"), MaxBytes: 600 << 10})
	if abi.CodeOf(err) != abi.CodeTooLarge || len(body) > 600<<10 || g.last().Code != abi.CodeTooLarge {
		t.Errorf("got %d bytes, %v", len(body), err)
	}
}
