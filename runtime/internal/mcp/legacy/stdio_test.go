package legacy_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequestsBeforeTheHandshakeAreInvalid(t *testing.T) {
	w := connectStdio(t, newFront(t, newFake()))
	if m := last(t, w, read(1, "test://text")); code(m) != -32600 {
		t.Errorf("got %+v, want -32600", m)
	}
	if m := last(t, w, request(2, "ping", "")); m.Result == nil {
		t.Errorf("got %+v to a ping", m)
	}
}

func TestPipelinedLinesAreAllAnswered(t *testing.T) {
	w := connectStdio(t, newFront(t, newFake()))
	for _, line := range []string{initializeLine("2025-03-26"), initializedLine, read(1, "test://text"), "[" + read(2, "test://text") + "]"} {
		w.notify(t, line)
	}
	w.close() // as at the end of the input
	close(w.lines)
	var all []string
	for line := range w.lines {
		all = append(all, line)
	}
	if len(all) != 3 {
		t.Errorf("got %d answers, want 3: %q", len(all), all)
	}
}

func TestMalformedLines(t *testing.T) {
	w := dialStdio(t, newFront(t, newFake()), "2025-06-18")
	for _, c := range []struct {
		name, line, id string
		code           int // 0 for no answer
	}{
		{"cut off", `{"jsonrpc":"2.0","id":1,`, "", -32700},
		{"no version", `{"id":1,"method":"ping"}`, "1", -32600},
		{"an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "", -32600},
		{"a member twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`, "", -32600},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "", -32600},
		{"half a batch", `[{"jsonrpc":"2.0"`, "", -32700},
		{"no object", `"ping"`, "", -32600},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/no"}`, "", 0},
		{"a response", `{"jsonrpc":"2.0","id":99,"result":{}}`, "", 0},
		{"a strange cancellation", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`, "", 0},
		{"a late cancellation", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "", 0},
	} {
		w.notify(t, c.line)
		if c.code == 0 {
			continue
		}
		if m := parse(t, w.next(t)); code(m) != c.code || string(m.ID) != c.id {
			t.Errorf("%s: got code %d, id %s, want %d, %s", c.name, code(m), m.ID, c.code, c.id)
		}
	}
	if m := last(t, w, request(2, "ping", "")); m.Result == nil {
		t.Errorf("got %+v to a ping", m)
	}
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	w := dialStdio(t, newFront(t, newFake()), "2025-06-18")
	for _, id := range []string{`1`, `-1`, `1.5`, `9007199254740993`, `1795228607567822071`, `"1"`, `"a\"b"`, `"\u00e9"`} {
		m := last(t, w, `{"jsonrpc":"2.0","id":`+id+`,"method":"resources/read","params":{"uri":"test://text"}}`)
		if string(m.ID) != id || m.Result == nil {
			t.Errorf("got %+v, want a result with id %s", m, id)
		}
	}
}

func TestBatchIsAnsweredAsOne(t *testing.T) {
	batch := "[" + strings.Join([]string{
		read(1, "test://text"),
		request(2, "no/such", ""),
		`{"jsonrpc":"2.0","method":"notifications/no"}`,
		read(3, "test://nothing"),
	}, ",") + "]"
	answers := func(t *testing.T, text string) map[string]int {
		var all []message
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := make(map[string]int)
		for _, m := range all {
			got[string(m.ID)] = code(m)
		}
		return got
	}
	for _, revision := range []string{"2024-11-05", "2025-03-26"} {
		w := dialStdio(t, newFront(t, newFake()), revision)
		w.notify(t, batch)
		if diff := cmp.Diff(map[string]int{"1": 0, "2": -32601, "3": -32002}, answers(t, w.next(t))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", revision, diff)
		}
		w.notify(t, `[{"jsonrpc":"2.0","id":1},`+request(5, "ping", "")+`,`+request(5, "ping", "")+`,`+initializeLine(revision)+`]`)
		w.next(t)
		w.notify(t, `[]`)
		if m := parse(t, w.next(t)); code(m) != -32600 {
			t.Errorf("empty batch: got %+v", m)
		}
	}
	t.Run("http", func(t *testing.T) {
		w := dialHTTP(t, newFront(t, newFake()), "2025-03-26")
		_, all := w.post(t, "["+read(1, "test://text")+","+request(2, "prompts/list", "{}")+","+read(3, "test://nothing")+"]")
		got := make(map[string]int)
		for _, m := range all {
			got[string(m.ID)] = code(m)
		}
		if diff := cmp.Diff(map[string]int{"1": 0, "2": -32601, "3": -32002}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestBatchLosesItsCancelledCall(t *testing.T) {
	f := newFake()
	w := dialStdio(t, newFront(t, f), "2025-03-26")
	w.notify(t, "["+read(1, "test://slow")+","+request(2, "ping", "")+"]")
	within(t, "the read", f.started)
	w.notify(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := w.next(t); got != `[{"jsonrpc":"2.0","id":2,"result":{}}]` {
		t.Errorf("got %s", got)
	}
}

func TestEndOfContextEndsTheSession(t *testing.T) {
	f := newFake()
	ctx, cancel := context.WithCancelCause(t.Context())
	s, err := newFront(t, f).Connect(ctx, func([]byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{initializeLine("2025-06-18"), initializedLine, read(1, "test://slow")} {
		if err := s.Receive([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	within(t, "the read", f.started)
	gone := errors.New("gone")
	cancel(gone)
	if cause := within(t, "the end of the read", f.stopped); !errors.Is(cause, gone) {
		t.Errorf("got cause %v, want %v", cause, gone)
	}
	s.Close()
	eventually(t, "nothing is watched", func() bool { return f.watching() == 0 })
}

func TestBrokenOutputEndsTheSession(t *testing.T) {
	f := newFake()
	front := newFront(t, f)
	s, err := front.Connect(t.Context(), func(line []byte) error {
		if strings.Contains(string(line), "updated") {
			return errors.New("broken pipe")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{initializeLine("2025-06-18"), initializedLine, request(1, "resources/subscribe", `{"uri":"test://watched"}`)} {
		if err := s.Receive([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "both are watched", func() bool { return f.watching() == 2 })
	f.change("test://watched")
	eventually(t, "nothing is watched", func() bool { return f.watching() == 0 })
	s.Close()
}

func TestHandshakeNamesVersionAndClient(t *testing.T) {
	for _, params := range []string{
		`{}`, `{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, `{"protocolVersion":"2025-06-18","capabilities":{}}`,
		`{"protocolVersion":"","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`,
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":null}`,
	} {
		w := connectStdio(t, newFront(t, newFake()))
		if m := last(t, w, request(1, "initialize", params)); code(m) != -32602 {
			t.Errorf("%s: got %+v, want code -32602", params, m)
		}
		if m := last(t, w, initializeLine("2025-06-18")); m.Result == nil {
			t.Errorf("%s: got %+v of a handshake that follows", params, m.Error)
		}
	}
}
