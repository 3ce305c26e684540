package legacy_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
)

// Sessions are shown with what their clients said of themselves, by whom and when they were used, and without their IDs.
func TestOpenSessionsAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		front := newFront(t, newFake())
		began := time.Now()
		older := &bubble{front: front}
		ada := auth.NewIdentity(context.Background(), abi.Principal{Subject: "ada"}, nil, time.Time{})
		asAda := auth.WithCaller(t.Context(), &auth.Caller{Identity: ada})
		older.session = older.serve(asAda, http.MethodPost, initializeLine("2025-03-26")).Header().Get("Mcp-Session-Id")
		older.serve(asAda, http.MethodPost, initializedLine)
		after(time.Minute)
		hostile := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":` +
			quote("a\x1b\u202e") + `,"version":` + quote(strings.Repeat("ä", 1000)) + `}}}`
		newer := &bubble{front: front}
		newer.session = newer.serve(t.Context(), http.MethodPost, hostile).Header().Get("Mcp-Session-Id")
		newer.serve(t.Context(), http.MethodPost, initializedLine)

		listening, hangUp := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); newer.serve(listening, http.MethodGet, "") }()
		after(time.Minute)
		newer.ping(t)

		want := []legacy.OpenSession{
			{ID: older.session[:8], Revision: "2025-03-26", ClientName: "test", ClientVersion: "0", Principal: "ada", Began: began, LastRequest: began},
			{
				ID: newer.session[:8], Revision: "2025-11-25", ClientName: `a\x1b\u202e`, ClientVersion: strings.Repeat("ä", 32) + "…",
				Began: began.Add(time.Minute), LastRequest: began.Add(2 * time.Minute), Streams: 1, // also while a stream is open
			},
		}
		shown := func() []legacy.OpenSession {
			all := front.Sessions()
			slices.SortFunc(all, func(a, b legacy.OpenSession) int { return a.Began.Compare(b.Began) })
			return all
		}
		if diff := cmp.Diff(want, shown()); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
		hangUp()
		<-ended
		newer.serve(t.Context(), http.MethodDelete, "")
		if diff := cmp.Diff(want[:1], shown()); diff != "" {
			t.Errorf("after the end of one, want -, got +:\n%s", diff)
		}
		if hidden := len(older.session) - 8; hidden < 16 { // of 5 bits each
			t.Errorf("%d characters of an ID are not shown", hidden)
		}
		front.Close()
	})
}
