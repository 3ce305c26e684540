package load

import (
	"fmt"
	"strings"
)

// A Revision is a way of asking.
type Revision int

const (
	Sessions Revision = iota // 2025-11-25: initialize first, then the session's id in each request
	Modern                   // 2026-07-28: each request says what it needs in _meta and headers
	Constant                 // to a server that answers anything: as Sessions, without a session
)

// A Call is what to ask.
type Call struct {
	Method string
	Params string // a JSON object; empty for {}
	Name   string // what the header Mcp-Name of Modern says, as the URI of a read; empty for none
}

// Read is the call that reads a resource. The URI must need no escaping.
func Read(uri string) Call {
	return Call{Method: "resources/read", Params: `{"uri":"` + uri + `"}`, Name: uri}
}

const (
	firstID = "1000000000" // ids have ten digits, so that each request is as long as the first
	idBase  = 1_000_000_000
	meta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"load","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// message gives the request with the first id, and where that is.
func (c Call) message(r Revision) (text string, id int) {
	members := strings.TrimSuffix(strings.TrimPrefix(c.Params, "{"), "}")
	if r == Modern {
		members = strings.TrimPrefix(members+","+meta, ",")
	}
	text = `{"jsonrpc":"2.0","id":` + firstID + `,"method":"` + c.Method + `","params":{` + members + `}}`
	return text, strings.Index(text, firstID)
}

// header gives the head of an HTTP request whose body has so many bytes. Session is empty when there is none.
func (c Call) header(addr string, r Revision, session string, bytes int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n", addr)
	b.WriteString("Accept: application/json, text/event-stream\r\n")
	switch {
	case r == Modern:
		fmt.Fprintf(&b, "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n", c.Method)
		if c.Name != "" {
			fmt.Fprintf(&b, "Mcp-Name: %s\r\n", c.Name)
		}
	case c.Method != "initialize":
		b.WriteString("Mcp-Protocol-Version: 2025-11-25\r\n")
	}
	if session != "" {
		fmt.Fprintf(&b, "Mcp-Session-Id: %s\r\n", session)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", bytes)
	return b.String()
}

// putID writes a ten-digit id.
func putID(b []byte, id uint64) {
	for i := len(firstID) - 1; i >= 0; i-- {
		b[i] = byte('0' + id%10)
		id /= 10
	}
}
