package legacy_test

// The traps of go-sdk v1.8.0, numbered as in the project's notes on the protocol, and the tests for them:
//
//	 1 results lose or gain fields        TestResultsAreTheCoresBytes
//	 2 an empty text is left out          TestEmptyTextKeepsItsTextField
//	 3 errors go out with code 0          TestErrorsKeepTheirCode, TestClientMistakesHaveCodes
//	 4 markup is escaped                  TestMarkupIsNotEscaped
//	 5 undeclared methods are served      TestUndeclaredMethodsAreNotFound, TestUndeclaredMethodLeavesTheSessionAlive
//	 6 non-ASCII URIs fail in a header    TestNonASCIIURIIsRead
//	 7 a subscription displaces another   TestSubscriptionsOfOneSessionAreIndependent
//	 8 a cancelled request is answered    TestCancelledRequestGetsNoAnswerOnStdio, TestCancelledRequestGetsNoAnswerOverHTTP
//	 9 subscriptions lose their context   TestSubscriptionKeepsTheContextOfItsClient
//	10 updates cannot be targeted         TestUpdatesReachOnlySubscribers
//	11 one slow client delays all         TestSlowClientDelaysNoOther
//	12 not found is -32602                TestErrorsKeepTheirCode, TestSubscribingToNothingIsNotFound
//	13 a later version takes hold         TestLaterVersionIsNegotiatedDown
//	14 an empty cursor is no cursor       TestCursorsAreTheCores

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
)

var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

func read(id int, uri string) string { return request(id, "resources/read", `{"uri":`+quote(uri)+`}`) }

func TestResultsAreTheCoresBytes(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			onBoth(t, revision, func(t *testing.T, f *fake, w wire) {
				for i, uri := range []string{"test://text", "test://other", "test://markup"} {
					m := last(t, w, read(i+1, uri))
					if diff := cmp.Diff(contents[uri], string(m.Result)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", uri, diff)
					}
					if call := within(t, "the call", f.calls); call.Revision != mcp.Revision(revision) {
						t.Errorf("got revision %q, want %q", call.Revision, revision)
					}
				}
			})
		})
	}
}

func TestEmptyTextKeepsItsTextField(t *testing.T) {
	onBoth(t, "2025-06-18", func(t *testing.T, _ *fake, w wire) {
		got := string(last(t, w, read(1, "test://empty")).Result)
		if !strings.Contains(got, `"text":""`) {
			t.Errorf("got %s, want an empty text", got)
		}
	})
}

func TestMarkupIsNotEscaped(t *testing.T) {
	onBoth(t, "2025-06-18", func(t *testing.T, _ *fake, w wire) {
		got := string(last(t, w, read(1, "test://markup")).Result)
		if !strings.Contains(got, `<a href=\"x\">&</a>`) {
			t.Errorf("got %s, want markup as it is", got)
		}
	})
}

func TestNonASCIIURIIsRead(t *testing.T) {
	onBoth(t, "2025-11-25", func(t *testing.T, _ *fake, w wire) {
		if m := last(t, w, read(1, "test://größe/日")); m.Result == nil {
			t.Errorf("got %+v, want a result", m)
		}
	})
}

func TestErrorsKeepTheirCode(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			onBoth(t, revision, func(t *testing.T, _ *fake, w wire) {
				m := last(t, w, read(1, "test://nothing"))
				if code(m) != -32002 || string(m.Error.Data) != `{"uri":"test://nothing"}` {
					t.Errorf("got %+v, want -32002 with the URI", m.Error)
				}
			})
		})
	}
}

func TestClientMistakesHaveCodes(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       int
	}{
		{"unknown method", request(1, "no/such", `{}`), -32601},
		{"empty method", request(1, "", ``), -32600},
		{"missing params", request(1, "resources/read", ``), -32602},
		{"null params", request(1, "resources/read", `null`), -32602},
		{"params of another kind", request(1, "resources/list", `[1]`), -32602},
		{"a field of another type", request(1, "resources/read", `{"uri":5}`), -32602},
		{"subscribe without a URI", request(1, "resources/subscribe", `{}`), -32602},
		{"a second handshake", initializeLine("2025-06-18"), -32600},
		{"a second handshake without params", request(1, "initialize", ``), -32602},
		{"a malformed handshake", request(1, "initialize", `{"protocolVersion":7}`), -32602},
		{"a handshake without a version", request(1, "initialize", `{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}`), -32602},
		{"a handshake without a client", request(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`), -32602},
		{"completion of nothing", request(1, "completion/complete", `{"ref":{"type":"x"}}`), -32602},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, "2025-06-18", func(t *testing.T, _ *fake, w wire) {
				m := last(t, w, c.line)
				if code(m) != c.want {
					t.Errorf("got %+v, want code %d", m.Error, c.want)
				}
				if m := last(t, w, request(2, "ping", "")); m.Result == nil {
					t.Errorf("afterwards got %+v to a ping", m)
				}
			})
		})
	}
}

func TestUndeclaredMethodsAreNotFound(t *testing.T) {
	never := []string{
		"prompts/list", "prompts/get", "logging/setLevel", "server/discover", "subscriptions/listen", "skills/list",
	}
	expect := func(t *testing.T, w wire, methods []string, want int) {
		for i, method := range methods {
			m := last(t, w, request(i+1, method, `{"name":"read_resource","level":"info"}`))
			if code(m) != want {
				t.Errorf("%s: got %+v, want code %d", method, m.Error, want)
			}
		}
	}
	onBoth(t, "2025-11-25", func(t *testing.T, _ *fake, w wire) { expect(t, w, append(never, "tools/call"), -32601) })
	t.Run("tools", func(t *testing.T) {
		onBoth(t, "2025-11-25", func(t *testing.T, _ *fake, w wire) {
			expect(t, w, []string{"tools/list", "tools/call"}, 0)
			expect(t, w, never, -32601)
		}, withTools)
	})
}

func TestUndeclaredMethodLeavesTheSessionAlive(t *testing.T) {
	f := newFake()
	server := httptest.NewServer(newFront(t, f))
	defer server.Close()
	cs := connectSDK(t, &sdk.StreamableClientTransport{Endpoint: server.URL}, "2025-06-18", nil)
	if _, err := cs.ListPrompts(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "Method not found") {
		t.Errorf("got %v, want method not found", err)
	}
	if _, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "test://text"}); err != nil {
		t.Errorf("the session is gone: %v", err)
	}
	cs.Close()
}

func TestLaterVersionIsNegotiatedDown(t *testing.T) {
	for _, asked := range []string{"2026-07-28", "2027-01-01", "2024-10-07"} {
		t.Run("asked for "+asked, func(t *testing.T) {
			front := newFront(t, newFake())
			w := connectStdio(t, front)
			m := last(t, w, initializeLine(asked))
			if !strings.Contains(string(m.Result), `"protocolVersion":"2025-11-25"`) {
				t.Errorf("got %s, want 2025-11-25", m.Result)
			}
		})
	}
	// The SDK notifies a session as the parameters that it keeps of the handshake say.
	onBoth(t, "2027-01-01", func(t *testing.T, f *fake, w wire) {
		f.change("")
		if m := w.notification(t); m.Method != "notifications/resources/list_changed" {
			t.Errorf("got %+v, want list_changed", m)
		}
		if call := callOf(t, f, w, read(1, "test://text")); call.Revision != mcp.Revision20251125 {
			t.Errorf("got revision %q", call.Revision)
		}
	})
}

func callOf(t *testing.T, f *fake, w wire, line string) mcp.Call {
	t.Helper()
	w.ask(t, line)
	return within(t, "the call", f.calls)
}

func TestCursorsAreTheCores(t *testing.T) {
	onBoth(t, "2025-06-18", func(t *testing.T, f *fake, w wire) {
		for _, c := range []struct {
			name, params string
			want         int
		}{
			{"no params", ``, 0},
			{"no cursor", `{}`, 0},
			{"the second page", `{"cursor":"p2"}`, 0},
			{"an empty cursor", `{"cursor":""}`, -32602},
			{"an unknown cursor", `{"cursor":"zz"}`, -32602},
		} {
			m := last(t, w, request(1, "resources/list", c.params))
			if code(m) != c.want {
				t.Errorf("%s: got %+v, want code %d", c.name, m, c.want)
			}
			if call := within(t, "the call", f.calls); string(call.Params) != c.params {
				t.Errorf("%s: the core got %s, want %s", c.name, call.Params, c.params)
			}
		}
	})
}

func TestCancelledRequestGetsNoAnswerOnStdio(t *testing.T) {
	for _, id := range []string{`7`, `"seven"`, `1795228607567822071`} {
		f := newFake()
		w := dialStdio(t, newFront(t, f), "2025-06-18")
		w.notify(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"resources/read","params":{"uri":"test://slow"}}`)
		within(t, "the read", f.started)
		w.notify(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"enough"}}`)
		within(t, "the end of the read", f.stopped)
		// Close waits until all requests were answered, of which there must be none.
		w.close()
		select {
		case line := <-w.lines:
			t.Errorf("got %s, want no answer", line)
		default:
		}
	}
}

func TestCancelledRequestGetsNoAnswerOverHTTP(t *testing.T) {
	slow := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"resources/read","params":{"uri":"test://slow"}}`
	}
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`
	for _, tt := range []struct{ name, revision, post, id, want string }{
		{"number", "2025-06-18", slow("7"), "7", ""},
		{"large number", "2025-06-18", slow("1795228607567822071"), "1795228607567822071", ""},
		{"string", "2025-11-25", slow(`"sev\u00e9n"`), `"sev\u00e9n"`, ""},
		{"one of a batch", "2025-03-26", "[" + slow("7") + "," + read(8, "test://text") + "]", "7", "8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			w := dialHTTP(t, newFront(t, f), tt.revision)
			r := w.request(t, t.Context(), http.MethodPost, tt.post)
			r.Header.Set("Mcp-Protocol-Version", tt.revision)
			answers := make(chan string, 10)
			go func() {
				defer close(answers)
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					answers <- err.Error()
					return
				}
				defer res.Body.Close()
				if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || kind != "text/event-stream" {
					answers <- res.Status + " of " + kind
				}
				readEvents(res.Body, func(data string) { answers <- data })
			}()
			within(t, "the read", f.started)
			w.notify(t, cancelled+tt.id+`}}`)
			within(t, "the end of the read", f.stopped)
			if tt.want != "" {
				if m := parse(t, within(t, "the other answer", answers)); string(m.ID) != tt.want {
					t.Errorf("got %+v, want the answer to %s", m, tt.want)
				}
			}
			if answer := within(t, "the end of the stream", answers); answer != "" {
				t.Errorf("got %s after the cancellation", answer)
			}
		})
	}
}

type clientKey struct{}

func TestSubscriptionKeepsTheContextOfItsClient(t *testing.T) {
	f := newFake()
	front := newFront(t, f)
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), clientKey{}, "ann"))
	defer cancel()
	w := &stdioWire{lines: make(chan string, 100)}
	s, err := front.Connect(ctx, func(line []byte) error { w.lines <- string(line); return nil })
	if err != nil {
		t.Fatal(err)
	}
	w.session = s
	w.ask(t, initializeLine("2025-06-18"))
	w.notify(t, initializedLine)
	w.ask(t, request(1, "resources/subscribe", `{"uri":"test://watched"}`))
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watches) != 2 {
		t.Fatalf("got %d watches, want the list and the resource", len(f.watches))
	}
	for fw := range f.watches {
		if got := fw.ctx.Value(clientKey{}); got != "ann" || fw.ctx.Err() != nil {
			t.Errorf("got client %v, error %v", got, fw.ctx.Err())
		}
	}
}

func TestSubscribingToNothingIsNotFound(t *testing.T) {
	onBoth(t, "2025-11-25", func(t *testing.T, f *fake, w wire) {
		m := last(t, w, request(1, "resources/subscribe", `{"uri":"test://nothing"}`))
		if code(m) != -32002 || string(m.Error.Data) != `{"uri":"test://nothing"}` {
			t.Errorf("got %+v, want -32002 with the URI", m.Error)
		}
		m = last(t, w, request(2, "resources/subscribe", `{"uri":"test://broken"}`))
		if code(m) != -32603 || m.Error.Message != "come back later" {
			t.Errorf("got %+v, want -32603 with what is public", m.Error)
		}
		eventually(t, "only the list is watched", func() bool { return f.watching() == 1 })
	})
}

func TestSlowClientDelaysNoOther(t *testing.T) {
	f := newFake()
	front := newFront(t, f)
	stuck := make(chan struct{})
	slow, err := front.Connect(t.Context(), func(line []byte) error {
		if strings.Contains(string(line), "list_changed") {
			<-stuck
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	defer close(stuck)
	for _, line := range []string{initializeLine("2025-06-18"), initializedLine} {
		if err := slow.Receive([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	quick := dialStdio(t, front, "2025-06-18")
	eventually(t, "both watch", func() bool { return f.watching() == 2 })
	for i := range 3 {
		f.change("")
		if m := quick.notification(t); m.Method != "notifications/resources/list_changed" {
			t.Fatalf("change %s: got %+v", strconv.Itoa(i), m)
		}
	}
}

// connectSDK connects the SDK's client.
func connectSDK(t *testing.T, over sdk.Transport, revision string, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, opts)
	cs, err := client.Connect(t.Context(), over, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

var _ legacy.Caller = (*mcp.Core)(nil)
