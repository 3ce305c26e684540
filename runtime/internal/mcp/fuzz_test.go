package mcp_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// FuzzParseMessage holds the parser to encoding/json, and the core to answering anything with one line of JSON.
func FuzzParseMessage(f *testing.F) {
	for _, params := range []string{
		`"uri":"test://rich","_meta":{"progressToken":"t","a":1}`, `"cursor":null`, `"name":"read_resource","arguments":{"uri":"test://text"}`,
		`"ref":{"type":"ref/resource","uri":"greeting://{name}"},"argument":{"name":"name","value":"A"},"context":{"arguments":{"a":"b"}}`,
	} {
		for _, method := range []string{"resources/read", "resources/list", "tools/call", "completion/complete"} {
			f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + meta + "," + params + `}}`))
		}
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":-1.5e+7,"method":"\u0078","params":{"a":[1,{"b":"\ud83d\ude00\/"}]}}`))
	f.Add([]byte(` [ ] `))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"))
	core, err := mcp.New(mcp.Config{Source: newSource(), Name: "fuzz", Version: "1", Tools: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, failure := mcp.ParseMessage(text)
		if failure != nil && failure.Code == mcp.CodeParseError {
			if json.Valid(text) && !bytes.Contains(text, []byte(strings.Repeat("[", 10))) && bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) < 60 && isUTF8(text) {
				t.Fatalf("%q is JSON", text)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON", text)
		}
		if failure != nil {
			line(t, mcp.AppendError(nil, m.ID, failure))
			return
		}
		var want struct{ Method json.RawMessage }
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		m.Target()
		m.Version()
		m.Cancels()
		if m.IsRequest() {
			answer, _ := core.Answer(t.Context(), nil, m, mcp.ResponseStream{Notify: func(method string, params json.RawMessage) error {
				line(t, mcp.AppendNotification(nil, method, params))
				return nil
			}})
			line(t, answer)
			if rewritten := mcp.LegacyInitialize(text); !json.Valid(rewritten) {
				t.Fatalf("not JSON: %q", rewritten)
			}
		}
	})
}

func isUTF8(text []byte) bool { return bytes.Equal(bytes.ToValidUTF8(text, nil), text) }

func line(t *testing.T, b []byte) {
	if !json.Valid(b) || bytes.ContainsAny(b, "\r\n") {
		t.Fatalf("not a line of JSON: %q", b)
	}
}
