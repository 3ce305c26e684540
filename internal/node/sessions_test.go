package node_test

import (
	"net/http"
	"testing"

	"github.com/wasmres/wasmres/internal/admin"
)

// A tenant has its own sessions alone, each with its client, its stream and a part of its ID, until it ends. A cold tenant has none.
func TestSessionsOfATenant(t *testing.T) {
	h := host(t, "a", "b", "cold")
	session := map[string]string{"a": h.initialize("a"), "b": h.initialize("b")}
	stream, err := http.DefaultClient.Do(h.build(request{tenant: "a", key: h.keys["a"], http: http.MethodGet, session: session["a"]}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	for id, streams := range map[string]int{"a": 1, "b": 0} {
		all := h.Sessions(id)
		if len(all) != 1 || all[0].Began.IsZero() || all[0].LastRequest.Before(all[0].Began) {
			t.Fatalf("%s: got %+v", id, all)
		}
		want := admin.Session{
			ID: session[id][:8], Revision: "2025-11-25", ClientName: "test", ClientVersion: "1", Principal: "client-of-" + id,
			Began: all[0].Began, LastRequest: all[0].LastRequest, Streams: streams,
		}
		if all[0] != want {
			t.Errorf("%s: got %+v, want %+v", id, all[0], want)
		}
	}
	if all := h.Sessions("cold"); len(all) > 0 {
		t.Errorf("a cold tenant has %+v", all)
	}
	if got := h.do(request{tenant: "b", key: h.keys["b"], http: http.MethodDelete, session: session["b"]}); got.status != http.StatusNoContent {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if all := h.Sessions("b"); len(all) > 0 {
		t.Errorf("after its end: got %+v", all)
	}
}
