package streamtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
)

// The revision without sessions, and the latest of those with sessions.
const (
	Revision    = "2026-07-28"
	OldRevision = "2025-11-25"
)

// Body makes a request of Revision. params are members after _meta.
func Body(id, method, params string) string {
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}%s}}`, id, method, Revision, params)
}

// Post makes a POST with the headers that a client must send. headers are changes: an empty value removes a header.
func Post(body string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://mcp.test/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", Revision)
	var m struct {
		Method string
		Params struct{ URI, Name string }
	}
	if json.Unmarshal([]byte(body), &m) == nil {
		r.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.URI + m.Params.Name; name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	return r
}
