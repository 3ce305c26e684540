package legacy_test

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzReceive sends any lines on stdio: the front sends only JSON-RPC, and each error has a code.
func FuzzReceive(f *testing.F) {
	for _, lines := range []string{
		initializeLine("2025-06-18") + "\n" + initializedLine + "\n" + read(1, "test://text"),
		initializeLine("2025-03-26") + "\n[" + read(1, "test://text") + "," + read(2, "test://nothing") + "]\n[]\n[1]",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":null}}` + "\n" + request(2, "ping", "null"),
		request(1, "resources/subscribe", `{"uri":"test://watched","_meta":{"progressToken":1.5}}`),
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
		initializeLine("2025-11-25") + "\n" + request(1, "completion/complete", `{"ref":null,"argument":null}`),
		initializeLine("2025-11-25") + "\n" + request(1, "tools/call", `{"name":"x","arguments":{},"inputResponses":{"a":{}}}`),
		request(1, "resources/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`),
	} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		front := newFront(t, newFake(), withTools)
		w := &stdioWire{lines: make(chan string, 10_000)}
		s, err := front.Connect(t.Context(), func(line []byte) error { w.lines <- string(line); return nil })
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(lines) {
			if err := s.Receive(line); err != nil {
				t.Fatal(err)
			}
		}
		// A read of test://slow would not end.
		if !bytes.Contains(lines, []byte("slow")) {
			s.Close()
		}
		front.Close()
		close(w.lines)
		for line := range w.lines {
			if !json.Valid([]byte(line)) {
				t.Fatalf("got %q, want JSON", line)
			}
			if line[0] == '{' {
				if m := parse(t, line); m.Error != nil && m.Error.Code == 0 {
					t.Errorf("got an error without a code: %s", line)
				}
			}
		}
	})
}
