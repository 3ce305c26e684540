package fastpath_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// A probe is a request that both servers must answer alike.
type probe struct {
	name, request string
	fast          bool // it is answered without net/http
	cut           bool // the client closes its direction after it, which the server may wait for
	head          bool // only the head of the response is read: the response is a stream
}

// A Server and net/http answer the same requests alike, and leave the connection in the same state.
func TestFidelity(t *testing.T) {
	sv := newServers(t, streamtest.NewFront(t, streamtest.Library(), mcp.Config{}, streamable.Config{MaxRequestBytes: 25_000, AllowedHosts: []string{"mcp.test"}}), nil)
	session := open(t, sv.standard)
	probes := corpus()
	t.Logf("%d requests", len(probes))
	seen := make(map[string]bool)
	for _, p := range probes {
		if seen[p.name] {
			t.Fatalf("two are named %s", p.name)
		}
		seen[p.name] = true
		t.Run(p.name, func(t *testing.T) { sv.compare(t, p, session) })
	}
}

// compare sends p, and a plain request after it, to both servers.
func (sv *servers) compare(t *testing.T, p probe, session string) {
	want := p.run(t, sv.standard, session)
	before := sv.netHTTP.Load()
	got := p.run(t, sv.fast, session)
	netHTTP := sv.netHTTP.Load() - before
	if got != want {
		t.Errorf("%.600q\ngot  %.1500s\nwant %.1500s", p.request, got, want)
	}
	if strings.Contains(want, "(silence)") {
		t.Errorf("%.600q: got no answer, so nothing was compared", p.request)
	}
	if p.fast && netHTTP != 0 {
		t.Errorf("%.600q: net/http had to answer it", p.request)
	}
}

// run returns the answers to p and to a plain request after it, on one connection.
func (p probe) run(t *testing.T, addr, session string) string {
	request := strings.ReplaceAll(p.request, sessionMark, session)
	if strings.Contains(request, spareMark) {
		request = strings.ReplaceAll(request, spareMark, open(t, addr))
	}
	c := dial(t, addr)
	defer c.conn.Close()
	io.WriteString(c.conn, request)
	if p.cut {
		_ = c.conn.(interface{ CloseWrite() error }).CloseWrite()
	}
	method, _, _ := strings.Cut(request, " ")
	if p.head {
		r, err := http.ReadResponse(c.in, nil)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(r.StatusCode, r.Header["Content-Type"], r.Header["Cache-Control"], r.Header["X-Content-Type-Options"], r.TransferEncoding)
	}
	first, closed := c.answer(method)
	if first == "continue" {
		var next string
		next, closed = c.answer(method)
		first += "\n" + next
	}
	if closed || p.cut {
		return first
	}
	io.WriteString(c.conn, modernRead("test://text"))
	second, _ := c.answer("POST")
	return first + "\n" + second
}

func corpus() []probe {
	var all []probe
	for _, part := range [][]probe{envelopes(), parameters(), modernHeaders(), sessionHeaders(), transport(), others()} {
		all = append(all, part...)
	}
	return all
}

// both makes two probes, without and with a session, of a body with a mark for its meta.
func both(name, text string, fast bool) []probe {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	return []probe{
		{name: "modern " + name, request: modern("resources/read", "test://text", strings.ReplaceAll(text, "<m>", meta)), fast: fast},
		{name: "session " + name, request: inSession(strings.ReplaceAll(text, "<m>", `"_meta":{}`)), fast: fast},
	}
}

// envelopes are bodies with anything but their parameters changed.
func envelopes() (all []probe) {
	const tail = `,"method":"resources/read","params":{"uri":"test://text",<m>}}`
	ids := []struct {
		name, id string
		fast     bool
	}{
		{"small", `7`, true}, {"zero", `0`, true}, {"negative", `-5`, true}, {"negative zero", `-0`, true},
		{"fraction", `1.5`, true}, {"exponent", `1e3`, true}, {"huge", `123456789012345678901234567890`, true}, {"huge exponent", `1e999`, true},
		{"string", `"a-1"`, true}, {"empty string", `""`, true}, {"escaped", `"a\u0041\n\"\\\/"`, true}, {"surrogates", `"\ud83d\ude00"`, true},
		{"lone surrogate", `"\ud83d"`, true}, {"beyond ASCII", `"é😀"`, true}, {"markup", `"<script>&"`, true},
		{"NUL", `"\u0000"`, true}, {"1 KiB", `"` + strings.Repeat("i", 1022) + `"`, true}, {"longer than 1 KiB", `"` + strings.Repeat("i", 1023) + `"`, false},
		{"null", `null`, false}, {"true", `true`, false}, {"array", `[1]`, false}, {"object", `{"a":1}`, false},
		{"leading zero", `01`, false}, {"plus", `+1`, false}, {"hexadecimal", `0x1`, false}, {"no digits", `-`, false}, {"point", `1.`, false},
		{"half an escape", `"\u12"`, false}, {"bad escape", `"\x"`, false}, {"control", "\"a\x01\"", false}, {"newline", "\"a\n\"", false}, {"bad UTF-8", "\"\xff\"", false},
		{"space around", " 7\t", true},
	}
	for _, id := range ids {
		all = append(all, both("id "+id.name, `{"jsonrpc":"2.0","id":`+id.id+tail, id.fast)...)
	}
	bodies := []struct {
		name, text string
		fast       bool
	}{
		{"usual", `{"jsonrpc":"2.0","id":1` + tail, true},
		{"without id", `{"jsonrpc":"2.0"` + tail, false},
		{"version 1.0", `{"jsonrpc":"1.0","id":1` + tail, false},
		{"no version", `{"id":1` + tail, false},
		{"version a number", `{"jsonrpc":2.0,"id":1` + tail, false},
		{"version escaped", `{"jsonrpc":"\u0032.0","id":1` + tail, true},
		{"key escaped", `{"json\u0072pc":"2.0","\u0069d":1` + tail, true},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2` + tail, false},
		{"id twice, escaped", `{"jsonrpc":"2.0","id":1,"\u0069d":2` + tail, false},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"ping"` + tail, false},
		{"params twice", `{"jsonrpc":"2.0","id":1,"params":{}` + tail, false},
		{"key in other case", `{"jsonrpc":"2.0","ID":1` + tail, false},
		{"unknown key", `{"jsonrpc":"2.0","id":1,"x":[{"y":null}]` + tail, true},
		{"unknown key twice", `{"jsonrpc":"2.0","id":1,"x":1,"x":2` + tail, true},
		{"with result", `{"jsonrpc":"2.0","id":1,"result":{}` + tail, true},
		{"result only", `{"jsonrpc":"2.0","id":1,"result":{}}`, false},
		{"error only", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, false},
		{"neither", `{"jsonrpc":"2.0","id":1}`, false},
		{"space everywhere", " \r\n\t{ \"params\" : {\t\"uri\" : \"test://text\" , <m> } , \"method\":\"resources/read\" , \"id\" : 9 ,\n\"jsonrpc\":\"2.0\" } \r\n ", true},
		{"trailing word", `{"jsonrpc":"2.0","id":1` + tail + ` x`, false},
		{"trailing brace", `{"jsonrpc":"2.0","id":1` + tail + `}`, false},
		{"two", `{"jsonrpc":"2.0","id":1` + tail + `{"jsonrpc":"2.0","id":2` + tail, false},
		{"trailing NUL", `{"jsonrpc":"2.0","id":1` + tail + "\x00", false},
		{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"test://text",<m>},}`, false},
		{"comment", `{"jsonrpc":"2.0",/**/"id":1` + tail, false},
		{"BOM", "\ufeff" + `{"jsonrpc":"2.0","id":1` + tail, false},
		{"UTF-16", "{\x00\"\x00", false},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"test://text"`, false},
		{"empty", ``, false}, {"space only", ` `, false}, {"null", `null`, false}, {"number", `1`, false}, {"string", `"x"`, false},
		{"empty object", `{}`, false}, {"empty array", `[]`, false}, {"open brace", `{`, false},
		{"batch of one", `[{"jsonrpc":"2.0","id":1` + tail + `]`, false},
		{"batch of two", `[{"jsonrpc":"2.0","id":1` + tail + `,{"jsonrpc":"2.0","id":2` + tail + `]`, false},
		{"deep but not too deep", `{"jsonrpc":"2.0","id":1,"x":` + strings.Repeat("[", 62) + strings.Repeat("]", 62) + tail, true},
		{"too deep", `{"jsonrpc":"2.0","id":1,"x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + tail, false},
		{"far too deep", strings.Repeat("[", 20_000), false},
		{"method escaped", `{"jsonrpc":"2.0","id":1,"method":"resources\/re\u0061d","params":{"uri":"test://text",<m>}}`, true},
		{"method in other case", `{"jsonrpc":"2.0","id":1,"method":"Resources/Read","params":{"uri":"test://text",<m>}}`, false},
		{"method with space", `{"jsonrpc":"2.0","id":1,"method":"resources/read ","params":{"uri":"test://text",<m>}}`, false},
		{"method unknown", `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{<m>}}`, false},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":"","params":{<m>}}`, false},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":7,"params":{<m>}}`, false},
		{"method of bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\xff\",\"params\":{<m>}}", false},
		{"ping", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{<m>}}`, false},
		{"bad UTF-8 in an unknown key", "{\"jsonrpc\":\"2.0\",\"\xff\":1,\"id\":1" + tail, false},
		{"bad UTF-8, overlong", "{\"jsonrpc\":\"2.0\",\"x\":\"\xc0\x80\",\"id\":1" + tail, false},
		{"bad UTF-8, surrogate", "{\"jsonrpc\":\"2.0\",\"x\":\"\xed\xa0\x80\",\"id\":1" + tail, false},
		{"padded to 20 KiB", `{"jsonrpc":"2.0","id":1` + tail + strings.Repeat(" ", 20<<10), true},
		{"padded to 30 KiB", `{"jsonrpc":"2.0","id":1` + tail + strings.Repeat(" ", 30<<10), false},
		{"padded to 40 KiB", `{"jsonrpc":"2.0","id":1` + tail + strings.Repeat(" ", 40<<10), false},
		{"padded beyond what is allowed", `{"jsonrpc":"2.0","id":1` + tail + strings.Repeat(" ", 100_001), false},
	}
	for _, b := range bodies {
		all = append(all, both(b.name, b.text, b.fast)...)
	}
	return all
}

// parameters are bodies with their parameters changed.
func parameters() (all []probe) {
	const head = `{"jsonrpc":"2.0","id":1,"method":"resources/read"`
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},`
	read := func(name, params string, fast bool) {
		all = append(all, both("read "+name, head+`,"params":{`+params+`}}`, fast)...)
	}
	read("usual", `"uri":"test://text",<m>`, true)
	read("uri escaped", `"uri":"test:\/\/te\u0078t",<m>`, false)
	read("uri twice", `"uri":"test://text","uri":"test://text",<m>`, false)
	read("uri twice, escaped", `"uri":"test://text","\u0075ri":"test://text",<m>`, false)
	read("uri a number", `"uri":7,<m>`, false)
	read("uri null", `"uri":null,<m>`, false)
	read("uri empty", `"uri":"",<m>`, false)
	read("no uri", `<m>`, false)
	read("unknown parameter", `"uri":"test://text","x":1,<m>`, false)
	read("cursor", `"uri":"test://text","cursor":"x",<m>`, false)
	read("meta twice", `"uri":"test://text","_meta":{},<m>`, false)
	all = append(all,
		both("no params", head+`}`, false)[0], both("no params", head+`}`, false)[1],
		both("params null", head+`,"params":null}`, false)[0], both("params null", head+`,"params":null}`, false)[1],
		both("params an array", head+`,"params":["test://text"]}`, false)[0], both("params an array", head+`,"params":["test://text"]}`, false)[1],
		both("params a string", head+`,"params":"x"}`, false)[0], both("params a string", head+`,"params":"x"}`, false)[1])
	metas := []struct {
		name, members string
		fast          bool
	}{
		{"unknown", `"x":{"y":[1,2]}`, true}, {"unknown twice", `"x":1,"x":2`, true}, {"trace", `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`, true},
		{"progress token", `"progressToken":"t"`, false}, {"progress number", `"progressToken":12345678901234567890`, false},
		{"progress null", `"progressToken":null`, false}, {"progress object", `"progressToken":{}`, false}, {"progress twice", `"progressToken":1,"progressToken":2`, false},
		{"window", `"io.github.wasmres/window":{"offset":1,"length":2}`, true}, {"window null", `"io.github.wasmres/window":null`, true},
		{"window beyond", `"io.github.wasmres/window":{"offset":1000}`, true}, {"window wrong", `"io.github.wasmres/window":{"offset":-1}`, true},
		{"window no object", `"io.github.wasmres/window":7`, true}, {"window twice", `"io.github.wasmres/window":{},"io.github.wasmres/window":{}`, false},
		{"window key escaped", `"io.github.wasmres\/window":{"length":1}`, true},
	}
	for _, m := range metas {
		text := head + `,"params":{"uri":"test://text",` + meta + m.members + `}}}`
		all = append(all, probe{name: "modern meta " + m.name, request: modern("resources/read", "test://text", text), fast: m.fast})
		text = head + `,"params":{"uri":"test://text","_meta":{` + m.members + `}}}`
		all = append(all, probe{name: "session meta " + m.name, request: inSession(text), fast: m.fast})
	}
	for _, m := range []string{`null`, `7`, `[]`, `"x"`, `{}`} {
		text := head + `,"params":{"uri":"test://text","_meta":` + m + `}}`
		all = append(all, probe{name: "modern meta is " + m, request: modern("resources/read", "test://text", text)})
		all = append(all, probe{name: "session meta is " + m, request: inSession(text), fast: m == "{}"})
	}
	return append(all, methods()...)
}

// methods are requests of all there are, and of some there are not.
func methods() (all []probe) {
	for _, uri := range []string{"test://1m", "test://blob", "test://trap", "test://panic", "test://slow", "test://nope", "greeting://Ada", "nope", "test:// ", "\\u0000", "http://[::1"} {
		text := `"uri":"` + uri + `"`
		header := uri
		if strings.HasPrefix(uri, "\\") {
			header = "=?base64?AA==?="
		}
		all = append(all, probe{name: "modern of " + uri, request: modern("resources/read", header, streamtest.Body("1", "resources/read", text)), fast: !strings.HasSuffix(uri, " ") && header == uri})
		all = append(all, probe{name: "session of " + uri, request: inSession(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{` + text + `}}`), fast: true})
	}
	calls := []struct {
		name, method, params string
		modern, session      bool // fast
	}{
		{"list", "resources/list", ``, true, true}, {"second page", "resources/list", `"cursor":"3"`, true, true}, {"empty cursor", "resources/list", `"cursor":""`, true, true},
		{"bad cursor", "resources/list", `"cursor":"x"`, true, true}, {"cursor a number", "resources/list", `"cursor":3`, false, false}, {"cursor null", "resources/list", `"cursor":null`, false, false},
		{"list with uri", "resources/list", `"uri":"test://text"`, false, false}, {"templates", "resources/templates/list", ``, true, true},
		{"templates with cursor", "resources/templates/list", `"cursor":"x"`, true, true}, {"discover", "server/discover", ``, true, false},
		{"completion", "completion/complete", `"ref":{"type":"ref/resource","uri":"greeting://{name}"},"argument":{"name":"name","value":"A"}`, true, false},
		{"bad completion", "completion/complete", `"ref":7`, true, false}, {"completion of nothing", "completion/complete", ``, true, false},
		{"tools", "tools/list", ``, false, false}, {"tool", "tools/call", `"name":"list_resources"`, false, false}, {"no tool", "tools/call", `"name":"x"`, false, false},
		{"prompts", "prompts/list", ``, false, false}, {"logging", "logging/setLevel", `"level":"debug"`, false, false}, {"subscribe", "resources/subscribe", `"uri":"test://text"`, false, false},
	}
	for _, c := range calls {
		var target []string
		if c.method == "tools/call" {
			target = []string{"Mcp-Name", strings.Trim(c.params[len(`"name":`):], `"`)}
		}
		all = append(all, probe{name: "modern " + c.name, request: modern(c.method, "", streamtest.Body("1", c.method, c.params), target...), fast: c.modern})
		text := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, c.method, c.params)
		all = append(all, probe{name: "session " + c.name, request: inSession(text), fast: c.session})
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`
	listen := streamtest.Body("1", "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`)
	return append(all,
		probe{name: "session list without params", request: inSession(list), fast: true},
		probe{name: "session notification", request: inSession(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)},
		probe{name: "session cancels nothing", request: inSession(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)},
		probe{name: "modern notification", request: modern("notifications/cancelled", "", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)},
		probe{name: "modern subscription", request: modern("subscriptions/listen", "", listen), head: true},
		probe{name: "initialize", request: raw(postLine, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)},
		probe{name: "initialize in a session", request: inSession(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)},
		probe{name: "without session or revision", request: raw(postLine, list)},
		probe{name: "discover without meta", request: raw(postLine, `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)},
		probe{name: "modern in a session", request: modernRead("test://text", "Mcp-Session-Id", sessionMark)},
		probe{name: "modern in an unknown session", request: modernRead("test://text", "Mcp-Session-Id", "unknown")},
	)
}

// modernHeaders are headers only revision 2026-07-28 has rules for.
func modernHeaders() (all []probe) {
	add := func(name string, fast bool, headers ...string) {
		all = append(all, probe{name: "modern header " + name, request: modernRead("test://text", headers...), fast: fast})
	}
	sentinel := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	add("no version", false, "MCP-Protocol-Version", "")
	add("version empty", false, "MCP-Protocol-Version", " ")
	add("version twice", false, "+MCP-Protocol-Version", streamtest.Revision)
	add("version twice, errorID", false, "+MCP-Protocol-Version", streamtest.OldRevision)
	add("version of old", false, "MCP-Protocol-Version", streamtest.OldRevision)
	add("unknown version", false, "MCP-Protocol-Version", "1999-01-01")
	add("version name in other case", true, "mCP-pROTOCOL-vERSION", streamtest.Revision)
	add("version with space around", true, "MCP-Protocol-Version", " \t"+streamtest.Revision+"  ")
	add("no method", false, "Mcp-Method", "")
	add("method twice", false, "+Mcp-Method", "resources/read")
	add("other method", false, "Mcp-Method", "tools/call")
	add("method in other case", false, "Mcp-Method", "Resources/Read")
	add("no name", false, "Mcp-Name", "")
	add("name empty", false, "Mcp-Name", " ")
	add("name empty twice", false, "Mcp-Name", " ", "+Mcp-Name", "test://text")
	add("other name", false, "Mcp-Name", "test://other")
	add("name twice", false, "+Mcp-Name", "test://text")
	add("name encoded", false, "Mcp-Name", sentinel("test://text"))
	add("other name encoded", false, "Mcp-Name", sentinel("test://other"))
	add("name encoded in other case", false, "Mcp-Name", "=?BASE64?"+sentinel("test://text")[9:])
	add("name encoded without padding", false, "Mcp-Name", strings.ReplaceAll(sentinel("test://text"), "=?=", "?="))
	add("name encoded with bad UTF-8", false, "Mcp-Name", sentinel("test://\xff"))
	add("name with an empty code", false, "Mcp-Name", "=?base64??=")
	add("name beyond ASCII", false, "Mcp-Name", "test://té")
	add("name with a control", false, "Mcp-Name", "test://te\x01t")
	add("name with a tab", false, "Mcp-Name", "test://te\txt")
	coffee := streamtest.Body("1", "resources/read", `"uri":"test://café"`)
	all = append(all,
		probe{name: "modern name that needs encoding", request: modern("resources/read", sentinel("test://café"), coffee)},
		probe{name: "modern name that needs encoding and is not", request: modern("resources/read", "test://café", coffee)},
		probe{name: "modern name of a list", request: modern("resources/list", "stray", streamtest.Body("1", "resources/list", "")), fast: true},
		probe{name: "modern no name of an empty uri", request: modern("resources/read", "", streamtest.Body("1", "resources/read", `"uri":""`))},
		probe{name: "modern empty name of an empty uri", request: modern("resources/read", " ", streamtest.Body("1", "resources/read", `"uri":""`)), fast: true},
	)
	version := func(name, in string, headers ...string) {
		text := strings.Replace(streamtest.Body("1", "resources/read", `"uri":"test://text"`), `"`+streamtest.Revision+`"`, in, 1)
		all = append(all, probe{name: "modern body version " + name, request: modern("resources/read", "test://text", text, headers...), fast: name == "escaped"})
	}
	version("old", `"2025-11-25"`)
	version("old in both", `"2025-11-25"`, "MCP-Protocol-Version", "2025-11-25")
	version("unknown in both", `"v9"`, "MCP-Protocol-Version", "v9")
	version("a number", `7`)
	version("null", `null`)
	version("empty", `""`, "MCP-Protocol-Version", " ")
	version("escaped", `"2026-07-2\u0038"`)
	text := streamtest.Body("1", "resources/read", `"uri":"test://text"`)
	for _, capabilities := range []string{`null`, `7`, `[]`, `{"a":{}}`} {
		request := modern("resources/read", "test://text", strings.Replace(text, `Capabilities":{}`, `Capabilities":`+capabilities, 1))
		all = append(all, probe{name: "modern capabilities " + capabilities, request: request, fast: capabilities[0] == '{'})
	}
	return all
}

// sessionHeaders are headers only the older revisions have rules for.
func sessionHeaders() (all []probe) {
	add := func(name string, fast bool, headers ...string) {
		all = append(all, probe{name: "session header " + name, request: sessionRead("1", "test://text", headers...), fast: fast})
	}
	add("no version", true, "MCP-Protocol-Version", "")
	add("version empty", true, "MCP-Protocol-Version", " ")
	add("version of another", false, "MCP-Protocol-Version", "2025-06-18")
	add("unknown version", false, "MCP-Protocol-Version", "1999-01-01")
	add("version modern", false, "MCP-Protocol-Version", streamtest.Revision)
	add("version twice", false, "+MCP-Protocol-Version", streamtest.OldRevision)
	add("no session", false, "Mcp-Session-Id", "")
	add("session empty", false, "Mcp-Session-Id", " ")
	add("session unknown", false, "Mcp-Session-Id", "unknown")
	add("session twice", false, "+Mcp-Session-Id", sessionMark)
	add("session twice, first unknown", false, "Mcp-Session-Id", "unknown", "+Mcp-Session-Id", sessionMark)
	add("session twice, first empty", false, "Mcp-Session-Id", " ", "+Mcp-Session-Id", sessionMark)
	add("session in other case", false, "Mcp-Session-Id", strings.ToLower(sessionMark)+"x")
	add("stray method", true, "Mcp-Method", "tools/call")
	add("stray name", true, "Mcp-Name", "test://other")
	return all
}

// transport are headers both eras have the same rules for, and framing.
func transport() (all []probe) {
	add := func(name string, fast bool, headers ...string) {
		all = append(all, probe{name: "modern with " + name, request: modernRead("test://text", headers...), fast: fast})
		all = append(all, probe{name: "session with " + name, request: sessionRead("1", "test://text", headers...), fast: fast})
	}
	add("a version of a provider", false, "wasmres-version", "7")
	add("no host", false, "Host", "")
	add("empty host", false, "Host", " ")
	add("empty host, then another", false, "Host", " ", "+Host", "localhost")
	for _, host := range []string{"localhost:80", "LOCALHOST", "127.0.0.1", "127.0.0.1:7", "[::1]", "[::1]:80", "mcp.test", "MCP.test:443", "localhost:", "localhost:port"} {
		add("host "+host, true, "Host", host)
	}
	for _, host := range []string{"evil.example", "localhost.", "localhost:1:2", "localhost, evil", "localhost:<", "localhost:\"", "localhost: 80", "localhost:\\", "localhost:{}",
		"localhost:/", "localhost:%zz", "localhost:@x", "user@localhost", "127.1", "[::1", "local\thost", "localhost:é"} {
		add("host "+host, false, "Host", host)
	}
	add("host twice", false, "+Host", "localhost")
	for _, kind := range []string{"application/json; charset=utf-8", "Application/JSON", "application/json;charset=utf-8", "application/json;charset=UTF-8"} {
		add("type "+kind, true, "Content-Type", kind)
	}
	for _, kind := range []string{"application/json ; charset=utf-8", "text/plain", "application/json;", "application/json; charset", "application/json; charset=latin1", "application/jsonx",
		"application/json; a=1; a=2", "application/json, text/plain", "\"application/json\"", ""} {
		add("type "+kind, false, "Content-Type", kind)
	}
	add("type twice", false, "+Content-Type", "text/plain")
	add("type empty, then another", false, "Content-Type", " ", "+Content-Type", "application/json")
	for _, accept := range []string{"*/*", "text/event-stream,application/json", "application/*, text/*", "application/json;q=0.1, text/event-stream;q=1", "APPLICATION/JSON, TEXT/EVENT-STREAM", "a,b,*/*"} {
		add("accept "+accept, true, "Accept", accept)
	}
	for _, accept := range []string{"", " ", "application/json", "text/event-stream", "*/*;q=0", "*/*;q=0.0", "application/json;q=0, text/event-stream", "application/json; q=0 , */*;q=0", "text/html", "application/json text/event-stream"} {
		add("accept "+accept, false, "Accept", accept)
	}
	add("accept in two", false, "Accept", "application/json", "+Accept", "text/event-stream")
	add("accept empty, then another", false, "Accept", " ", "+Accept", "*/*")
	for _, origin := range []string{"http://localhost", "http://localhost:3000", "http://evil.example", "null", " "} {
		add("origin "+origin, false, "Origin", origin)
	}
	add("encoding", true, "Accept-Encoding", "gzip, zstd")
	add("authorization", false, "Authorization", "Bearer x")
	add("cookie and so on", true, "Cookie", "a=b", "User-Agent", "x", "X-Forwarded-For", "1.2.3.4", "Last-Event-Id", "7", "X-9", "", "9", "x")
	add("odd but legal names", false, "x_y", "1", "x!", "2", "x'y", "3")
	add("a value beyond ASCII", false, "X-Name", "é")
	add("range and conditions", true, "Range", "bytes=0-1", "If-None-Match", "*")
	add("keep-alive", true, "Connection", "keep-alive")
	add("Keep-Alive", true, "Connection", "Keep-Alive")
	add("connection close", false, "Connection", "close")
	add("connection close in other case", false, "Connection", "Close")
	add("connection of both", false, "Connection", "keep-alive, close")
	add("connection keep-alive, then close", false, "Connection", "keep-alive", "+Connection", "close")
	add("connection upgrade", false, "Connection", "Upgrade", "Upgrade", "websocket")
	add("h2c", false, "Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "HTTP2-Settings", "x")
	add("expect", false, "Expect", "100-continue")
	add("expect the impossible", false, "Expect", "x")
	add("te", false, "TE", "trailers")
	add("trailer", false, "Trailer", "X")
	add("content encoding", false, "Content-Encoding", "identity")
	add("method override", true, "X-HTTP-Method-Override", "GET")
	return append(all, framing()...)
}

// framing are requests whose length or head is in doubt.
func framing() (all []probe) {
	read := modernRead("test://text")
	text := streamtest.Body("1", "resources/read", `"uri":"test://text"`)
	length := fmt.Sprint(len(text))
	add := func(name, request string, fast bool) {
		all = append(all, probe{name: "framing " + name, request: request, fast: fast})
	}
	cut := func(name, request string) {
		all = append(all, probe{name: "framing " + name, request: request, cut: true})
	}
	sized := func(value string) string { return modernRead("test://text", "Content-Length", value) }
	add("length with a plus", sized("+"+length), false)
	add("length with a zero before", sized("0"+length), true)
	add("length with many zeros before", sized(strings.Repeat("0", 30)+length), false)
	add("length with a minus", sized("-"+length), false)
	add("length with a fraction", sized(length+".0"), false)
	add("length hexadecimal", sized("0x"+length), false)
	add("length with words", sized(length+" bytes"), false)
	add("length in a list", sized(length+", "+length), false)
	add("length empty", sized(" "), false)
	add("length huge", sized("99999999999999999999"), false)
	cut("length large", sized("9999999999"))
	add("length with spaces around", sized("  "+length+"\t "), true)
	add("length twice", modernRead("test://text", "+Content-Length", length), false)
	add("length twice, errorID", modernRead("test://text", "+Content-Length", "0"), false)
	add("length empty, then another", modernRead("test://text", "Content-Length", " ", "+Content-Length", length), false)
	add("length, then another empty", modernRead("test://text", "+Content-Length", " "), false)
	add("no length", modern("resources/list", "", "", "Content-Length", ""), false)
	add("length none", modern("resources/list", "", ""), false)
	cut("length too long", modernRead("test://text", "Content-Length", fmt.Sprint(len(text)+1)))
	cut("length far too long", modernRead("test://text", "Content-Length", "40000"))
	cut("no end of the head", read[:strings.Index(read, "\r\n\r\n")+2])
	cut("half a head", read[:100])
	cut("half a line", read[:10])
	cut("nothing", "")
	cut("a line end", "\r\n")
	chunked := func(parts string) string {
		return raw(postLine, "", "MCP-Protocol-Version", streamtest.Revision, "Mcp-Method", "resources/read", "Mcp-Name", "test://text", "Content-Length", "", "Transfer-Encoding", "chunked") + parts
	}
	add("chunked", chunked(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(text), text)), false)
	add("chunked in two", chunked(fmt.Sprintf("1\r\n{\r\n%x;x=y\r\n%s\r\n0\r\nX: y\r\n\r\n", len(text)-1, text[1:])), false)
	add("chunked, malformed", chunked("zz\r\n"+text), false)
	cut("chunked, and a length", modernRead("test://text", "Transfer-Encoding", "chunked"))
	add("transfer of identity", modernRead("test://text", "Transfer-Encoding", "identity"), false)
	add("transfer of gzip", modernRead("test://text", "Transfer-Encoding", "gzip, chunked"), false)
	add("transfer empty", modernRead("test://text", "Transfer-Encoding", " "), false)
	line := func(name, line string) { add("line "+name, strings.Replace(read, postLine, line, 1), false) }
	line("HTTP/1.0", "POST /mcp HTTP/1.0")
	line("HTTP/1.2", "POST /mcp HTTP/1.2")
	line("HTTP/2.0", "POST /mcp HTTP/2.0")
	line("HTTP/0.9", "POST /mcp")
	line("http/1.1", "POST /mcp http/1.1")
	line("HTTP/1.10", "POST /mcp HTTP/1.10")
	line("post", "post /mcp HTTP/1.1")
	line("two spaces", "POST  /mcp HTTP/1.1")
	line("space at the end", "POST /mcp HTTP/1.1 ")
	line("tab", "POST\t/mcp\tHTTP/1.1")
	line("space in front", " POST /mcp HTTP/1.1")
	line("query", "POST /mcp?a=b HTTP/1.1")
	line("fragment", "POST /mcp#a HTTP/1.1")
	line("slash", "POST /mcp/ HTTP/1.1")
	line("two slashes", "POST //mcp HTTP/1.1")
	line("dots", "POST /x/../mcp HTTP/1.1")
	line("escaped", "POST /mc%70 HTTP/1.1")
	line("bad escape", "POST /mc%zz HTTP/1.1")
	line("absolute", "POST http://localhost/mcp HTTP/1.1")
	line("absolute, of another host", "POST http://evil.example/mcp HTTP/1.1")
	line("asterisk", "OPTIONS * HTTP/1.1")
	line("other path", "POST /other HTTP/1.1")
	line("beyond ASCII", "POST /mcé HTTP/1.1")
	line("no target", "POST  HTTP/1.1")
	line("garbage", "hello")
	line("binary", "\x16\x03\x01\x02\x00")
	line("NUL", "POST /mcp\x00 HTTP/1.1")
	head := func(name, extra string) {
		add("head "+name, strings.Replace(read, "Accept:", extra+"Accept:", 1), false)
	}
	head("folded", "X-A: b\r\n c\r\n")
	head("folded with a tab", "X-A: b\r\n\tc\r\n")
	head("first line folded", " X: y\r\n")
	head("space before the colon", "X-A : b\r\n")
	head("no colon", "X-A\r\n")
	head("no name", ": b\r\n")
	head("name with a space", "X A: b\r\n")
	head("name with a tab", "X\tA: b\r\n")
	head("name beyond ASCII", "Xé: b\r\n")
	head("name of bad UTF-8", "X\xff: b\r\n")
	head("value of bad UTF-8", "X: \xff\r\n")
	head("NUL in a value", "X: a\x00b\r\n")
	head("control in a value", "X: a\x07b\r\n")
	head("DEL in a value", "X: a\x7fb\r\n")
	head("carriage return in a value", "X: a\rb\r\n")
	head("carriage returns before the line end", "X: a\r\r\n")
	head("one bare line feed", "X: a\n")
	head("length hidden after a line feed", "X: a\nContent-Length: 3\r\n")
	head("length hidden by a space", "Content-Length : 3\r\n")
	head("transfer hidden by a fold", "X: a\r\n Transfer-Encoding: chunked\r\n")
	head("transfer hidden by an underscore", "Transfer_Encoding: chunked\r\n")
	head("very long", "X-A: "+strings.Repeat("a", 10_000)+"\r\n")
	head("too long", "X-A: "+strings.Repeat("a", 80_000)+"\r\n")
	head("of many lines", strings.Repeat("X-A: b\r\n", 500))
	headEnd := strings.Index(read, "\r\n\r\n") + 4
	add("bare line feeds", strings.ReplaceAll(read[:headEnd], "\r\n", "\n")+read[headEnd:], false)
	add("bare line feed at the end", strings.Replace(read, "\r\n\r\n", "\r\n\n", 1), false)
	add("two bare line feeds at the end", strings.Replace(read, "\r\n\r\n", "\n\n", 1), false)
	add("line end in front", "\r\n"+read, false)
	add("names in lower case", strings.ToLower(read[:headEnd][len(postLine):]), false)
	add("names in upper case", postLine+strings.NewReplacer("HOST: LOCALHOST", "HOST: localhost", "TEST://TEXT", "test://text", "RESOURCES/READ", "resources/read").
		Replace(strings.ToUpper(read[len(postLine):headEnd]))+read[headEnd:], true)
	add("no space after colons", strings.ReplaceAll(read[:headEnd], ": ", ":")+read[headEnd:], true)
	return all
}

// others are requests that are no POST of JSON.
func others() (all []probe) {
	add := func(name, line string, headers ...string) {
		all = append(all, probe{name: name, request: raw(line, "", headers...)})
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW"} {
		add(method+" of the endpoint", method+" /mcp HTTP/1.1")
		add(method+" of the root", method+" / HTTP/1.1")
		all = append(all, probe{name: method + " with a body", request: raw(method+" /mcp HTTP/1.1", "some body")})
	}
	add("preflight", "OPTIONS /mcp HTTP/1.1", "Origin", "http://localhost:3000", "Access-Control-Request-Method", "POST")
	add("download", "GET /mcp?uri=test%3A%2F%2Ftext HTTP/1.1")
	add("download of a part", "GET /mcp?uri=test%3A%2F%2Ftext HTTP/1.1", "Range", "bytes=1-2")
	add("download of nothing", "GET /mcp?uri=test%3A%2F%2Fnope HTTP/1.1")
	add("head of a download", "HEAD /mcp?uri=test%3A%2F%2Ftext HTTP/1.1")
	add("end of an unknown session", "DELETE /mcp HTTP/1.1", "Mcp-Session-Id", "unknown")
	add("end of a session", "DELETE /mcp HTTP/1.1", "Mcp-Session-Id", spareMark, "MCP-Protocol-Version", streamtest.OldRevision)
	all = append(all,
		probe{name: "stream of a session", request: raw("GET /mcp HTTP/1.1", "", "Mcp-Session-Id", spareMark, "MCP-Protocol-Version", streamtest.OldRevision, "Accept", "text/event-stream"), head: true},
		probe{name: "stream of an unknown session", request: raw("GET /mcp HTTP/1.1", "", "Mcp-Session-Id", "unknown", "Accept", "text/event-stream")},
		probe{name: "large body of a refused host", request: raw(postLine, string(bytes.Repeat([]byte("x"), 50_000)), "Host", "evil.example")},
		probe{name: "very large body of a refused host", request: raw(postLine, string(bytes.Repeat([]byte("x"), 600_000)), "Host", "evil.example")},
	)
	return all
}
