package stdio_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/stdio"
	"github.com/wasmres/wasmres/runtime/resource"
)

// request makes a modern request; params are members after _meta.
func request(id, method, params string) string {
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}%s}}`, id, method, params)
}

func read(id, uri string) string { return request(id, "resources/read", fmt.Sprintf(`"uri":%q`, uri)) }

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

// A conn is the client's side of a running server.
type conn struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string // what the server wrote; closed at its end
	done  chan error  // what Serve returned
}

// serve runs a server. cfg needs no Core, In and Out.
func serve(t *testing.T, ctx context.Context, source resource.Source, cfg stdio.Config) *conn {
	t.Helper()
	core, err := mcp.New(mcp.Config{Source: source, Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	cfg.Core, cfg.In, cfg.Out = core, in, out
	c := &conn{t: t, in: toServer, lines: make(chan string, 10_000), done: make(chan error, 1)}
	go func() {
		c.done <- stdio.Serve(ctx, cfg)
		out.Close()
	}()
	go func() {
		defer close(c.lines)
		scanner := bufio.NewScanner(fromServer)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			c.lines <- scanner.Text()
		}
	}()
	return c
}

func (c *conn) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

// next returns the next line from the server.
func (c *conn) next() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the server wrote no more")
		}
		return line
	case <-time.After(time.Minute):
		c.t.Fatal("no line from the server")
		return ""
	}
}

// end closes the input, and gives the lines written after that and the result of Serve.
func (c *conn) end() (rest []string, err error) {
	c.in.Close()
	for line := range c.lines {
		rest = append(rest, line)
	}
	return rest, <-c.done
}

// brief returns the id of an answer, and its code or text.
func brief(t *testing.T, line string) string {
	t.Helper()
	var m struct {
		ID     json.RawMessage
		Method string
		Error  *mcp.Error
		Result struct {
			Contents []struct{ Text, Blob string }
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("not JSON: %s", line)
	}
	switch {
	case m.Error != nil:
		return fmt.Sprintf("%s: error %d", m.ID, m.Error.Code)
	case m.Method != "":
		return m.Method
	case len(m.Result.Contents) > 0:
		return fmt.Sprintf("%s: %s", m.ID, m.Result.Contents[0].Text)
	}
	return fmt.Sprintf("%s: result", m.ID)
}

func briefs(t *testing.T, lines []string) []string {
	t.Helper()
	var out []string
	for _, line := range lines {
		out = append(out, brief(t, line))
	}
	return out
}

func source() *mcptest.Source {
	s := mcptest.New()
	s.Text("test://text", "hello")
	return s
}

func TestLines(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"read", read("1", "test://text"), "1: hello"},
		{"id as it came", read(`"\u0041"`, "test://text"), `"\u0041": hello`},
		{"discover", request("1", "server/discover", ""), "1: result"},
		{"discover without meta", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, "1: error -32602"},
		{"not found", read("1", "test://nope"), "1: error -32602"},
		{"unknown method", request("1", "x", ""), "1: error -32601"},
		{"other revision", strings.Replace(request("1", "resources/list", ""), "2026-07-28", "2027-01-01", 1), "1: error -32022"},
		{"no meta before initialize", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, "1: error -32602"},
		{"initialize without a legacy front", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, "1: error -32022"},
		{"not JSON", `{`, ": error -32700"},
		{"batch", `[]`, ": error -32600"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"x"}`, ": error -32600"},
		{"too long", strings.Repeat("x", 70_000), ": error -32600"},
		{"too long by one", `"` + strings.Repeat("x", 65_535), ": error -32600"},
		{"just fits", `"` + strings.Repeat("x", 65_534) + `"`, ": error -32600"},
	}
	c := serve(t, t.Context(), source(), stdio.Config{MaxLine: 65_536})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c.send("", " \r", tt.line+"\r")
			if got := brief(t, c.next()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	c.send(cancelled("99"), `{"jsonrpc":"2.0","method":"notifications/other"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	if rest, err := c.end(); len(rest) > 0 || err != nil {
		t.Errorf("got %q and error %v at the end, want nothing", rest, err)
	}
}

func TestLastLineNeedsNoEnd(t *testing.T) {
	core, err := mcp.New(mcp.Config{Source: source(), Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = stdio.Serve(t.Context(), stdio.Config{Core: core, In: strings.NewReader(read("1", "test://text")), Out: &out})
	if got := brief(t, out.String()); got != "1: hello" || err != nil {
		t.Errorf("got %s, %v, want the answer", got, err)
	}
}

// A gate is a resource whose reads wait until it is opened.
type gate struct {
	entered chan string
	open    chan struct{}
}

func (g *gate) read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	select {
	case g.entered <- req.URI.String():
	default:
	}
	select {
	case <-g.open:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, []byte("opened"))
}

func gated() (*mcptest.Source, *gate) {
	s, g := source(), &gate{entered: make(chan string, 100), open: make(chan struct{})}
	s.Handle(abi.Resource{URI: "test://gate", Name: "gate"}, g.read)
	return s, g
}

func TestSlowRequestsDelayNoOthers(t *testing.T) {
	s, g := gated()
	c := serve(t, t.Context(), s, stdio.Config{})
	c.send(read("1", "test://gate"), read("2", "test://text"))
	if got := brief(t, c.next()); got != "2: hello" {
		t.Errorf("got %s first, want the quick answer", got)
	}
	close(g.open)
	if got := brief(t, c.next()); got != "1: opened" {
		t.Errorf("got %s, want the slow answer", got)
	}
	if rest, err := c.end(); len(rest) > 0 || err != nil {
		t.Errorf("got %q, %v", rest, err)
	}
}

func TestExcessWaitsButCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := gated()
		c := serve(t, t.Context(), s, stdio.Config{MaxConcurrent: 2})
		for id := range 5 {
			c.send(read(fmt.Sprint(id), "test://gate"))
			synctest.Wait()
		}
		if n := len(g.entered); n != 2 {
			t.Errorf("%d requests run, want 2", n)
		}
		c.send(cancelled("0"), cancelled("3"))
		synctest.Wait()
		if n := len(g.entered); n != 3 {
			t.Errorf("%d requests have run, want one more", n)
		}
		close(g.open)
		rest, err := c.end()
		got := map[string]bool{}
		for _, line := range briefs(t, rest) {
			got[line] = true
		}
		want := map[string]bool{"1: opened": true, "2: opened": true, "4: opened": true}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v; answers (-want +got):\n%s", err, diff)
		}
	})
}

func TestCancelledRequestsGetNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := gated()
		s.Handle(abi.Resource{URI: "test://deaf", Name: "deaf"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
			<-g.open
			sink.Progress(abi.Progress{Done: 1})
			return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, nil)
		})
		c := serve(t, t.Context(), s, stdio.Config{})
		deaf := strings.Replace(read("7", "test://deaf"), `"_meta":{`, `"_meta":{"progressToken":1,`, 1)
		c.send(read("1", "test://gate"), deaf, cancelled("1"), cancelled("7"), read("1", "test://text"))
		synctest.Wait()
		close(g.open)
		rest, err := c.end()
		if diff := cmp.Diff([]string{"1: hello"}, briefs(t, rest)); diff != "" || err != nil {
			t.Errorf("error %v; answers (-want +got):\n%s", err, diff)
		}
	})
}

func TestIDInUseIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := gated()
		c := serve(t, t.Context(), s, stdio.Config{})
		c.send(read("1", "test://gate"), read("1", "test://text"), read(`"1"`, "test://text"))
		got := map[string]bool{brief(t, c.next()): true, brief(t, c.next()): true}
		if diff := cmp.Diff(map[string]bool{"1: error -32600": true, `"1": hello`: true}, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		close(g.open)
		if rest, _ := c.end(); len(rest) != 1 {
			t.Errorf("got %q, want one answer", rest)
		}
	})
}

func TestTooManyRequestsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := gated()
		c := serve(t, t.Context(), s, stdio.Config{})
		for id := range 1100 {
			c.send(read(fmt.Sprint(id), "test://gate"))
		}
		synctest.Wait()
		close(g.open)
		rest, err := c.end()
		busy := 0
		for _, line := range rest {
			if strings.HasSuffix(brief(t, line), ": error 429") {
				busy++
			}
		}
		if len(rest) != 1100 || busy != 1100-1024 || err != nil {
			t.Errorf("got %d answers, %d of them busy, error %v, want 1100 and %d", len(rest), busy, err, 1100-1024)
		}
	})
}

func TestProgressComesBeforeTheAnswer(t *testing.T) {
	s := source()
	s.Handle(abi.Resource{URI: "test://slow", Name: "slow"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		sink.Progress(abi.Progress{Done: 1, Total: 2})
		sink.Progress(abi.Progress{Done: 2, Total: 2})
		return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, []byte("done"))
	})
	c := serve(t, t.Context(), s, stdio.Config{})
	c.send(strings.Replace(read("1", "test://slow"), `"_meta":{`, `"_meta":{"progressToken":1,`, 1))
	rest, err := c.end()
	want := []string{"notifications/progress", "notifications/progress", "1: done"}
	if diff := cmp.Diff(want, briefs(t, rest)); diff != "" || err != nil {
		t.Errorf("error %v; lines (-want +got):\n%s", err, diff)
	}
}

// Of two subscriptions, each gets its own changes, and a cancelled one nothing. The end of the input ends the other with its
// result.
func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := source()
		c := serve(t, t.Context(), s, stdio.Config{})
		c.send(
			request(`"L1"`, "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`),
			request(`2`, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://text","test://nope"],"toolsListChanged":true}`),
		)
		acks := map[string]bool{c.next(): true, c.next(): true}
		const head = `{"jsonrpc":"2.0","method":"notifications/%s","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`
		want := map[string]bool{
			fmt.Sprintf(head+`,"notifications":{"resourcesListChanged":true}}}`, "subscriptions/acknowledged", `"L1"`):          true,
			fmt.Sprintf(head+`,"notifications":{"resourceSubscriptions":["test://text"]}}}`, "subscriptions/acknowledged", `2`): true,
		}
		if diff := cmp.Diff(want, acks); diff != "" {
			t.Fatalf("acknowledgments (-want +got):\n%s", diff)
		}
		s.Text("test://text", "new")
		if got, want := c.next(), fmt.Sprintf(head+`,"uri":"test://text"}}`, "resources/updated", `2`); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		s.Text("test://another", "")
		if got, want := c.next(), fmt.Sprintf(head+`}}`, "resources/list_changed", `"L1"`); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		c.send(cancelled("2"))
		synctest.Wait()
		if n := s.Watchers(); n != 1 {
			t.Errorf("%d watches are left, want 1", n)
		}
		s.Text("test://text", "newer")
		synctest.Wait()
		rest, err := c.end()
		end := `{"jsonrpc":"2.0","id":"L1","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":` +
			`{"name":"test","version":"1"},"io.modelcontextprotocol/subscriptionId":"L1"}}}`
		if diff := cmp.Diff([]string{end}, rest); diff != "" || err != nil {
			t.Errorf("error %v; at the end (-want +got):\n%s", err, diff)
		}
		if n := s.Watchers(); n != 0 {
			t.Errorf("%d watches are left, want none", n)
		}
	})
}

// A subscription, which lasts for hours, keeps no part of its line in memory.
func TestSubscriptionsKeepNoLines(t *testing.T) {
	const subscriptions, long = 16, 1 << 20
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, t.Context(), source(), stdio.Config{})
		listen := func(id int) {
			params := fmt.Sprintf(`"notifications":{"resourcesListChanged":true},"x":%q`, strings.Repeat("x", long))
			c.send(request(strconv.Itoa(id), "subscriptions/listen", params))
			if got := c.next(); !strings.Contains(got, "acknowledged") {
				t.Fatal(got)
			}
		}
		listen(0)
		before := heap()
		for i := range subscriptions {
			listen(i + 1)
		}
		if each := (heap() - before) / subscriptions; each > long/2 {
			t.Errorf("each subscription keeps %d KiB of a line of %d", each>>10, long>>10)
		}
		if _, err := c.end(); err != nil {
			t.Error(err)
		}
	})
}
