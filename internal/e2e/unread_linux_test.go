package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
)

const (
	unreadClients = 1000
	unreadFlight  = 256 << 20 // bytes: the default of --max-in-flight
	unreadPace    = 10 * time.Millisecond
)

// BenchmarkUnread has 1,000 clients that read nothing of what they ask for, and one that reads what it asks for. The
// server is the built program, in its default configuration. WASMRES_BIN names another one to measure.
func BenchmarkUnread(b *testing.B) {
	bin, module := os.Getenv("WASMRES_BIN"), buildUnread(b)
	if bin == "" {
		bin = guesttest.Program(b)
	}
	for _, kind := range []struct{ name, request string }{
		{"list", unreadPost("resources/list", "", "")},
		{"read=1MiB", unreadPost("resources/read", "unread://bytes/1048576", `"uri":"unread://bytes/1048576"`)},
		{"read=40MB", unreadPost("resources/read", "unread://bytes/40000000", `"uri":"unread://bytes/40000000"`)},
		{"tools/list", unreadPost("tools/call", "list_resources", `"name":"list_resources"`)},
		{"tools/read", unreadPost("tools/call", "read_resource", `"name":"read_resource","arguments":{"uri":"unread://bytes/40000000"}`)},
		{"download", "GET /mcp?uri=" + url.QueryEscape("unread://bytes/40000000") + " HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		{"listen", unreadPost("subscriptions/listen", "", `"notifications":{"resourceSubscriptions":[`+manyURIs(1024, 2048)+`]}`)},
	} {
		b.Run(kind.name, func(b *testing.B) {
			for b.Loop() {
				measureUnread(b, bin, module, kind.request)
			}
		})
	}
}

// measureUnread reports what one kind of request does to the server.
func measureUnread(b *testing.B, bin, module, request string) {
	server := startUnread(b, bin, module)
	defer server.stop()
	honest := newHonest(b, server.addr)
	honest.ask(b, time.Second) // first, what is made once
	quiet, _ := honest.ask(b, 4*time.Second)
	idle := server.memory(b, "VmRSS:")
	server.resetPeak(b)
	began := time.Now()
	clients := floodUnread(b, server.addr, request)
	joined := time.Since(began)
	arriving, _ := honest.ask(b, 5*time.Second)
	loud, failed := honest.ask(b, 10*time.Second)
	peak := server.memory(b, "VmHWM:")
	b.ReportMetric(served(clients), "served")
	mib := func(n int) float64 { return float64(n) / (1 << 20) }
	b.ReportMetric(mib(idle), "MiB-idle")
	b.ReportMetric(mib(peak), "MiB-peak")
	b.ReportMetric(mib(idle+unreadFlight+unreadClients*64<<10), "MiB-bound")
	b.ReportMetric(float64(quiet)/1e3, "µs-p99-quiet")
	b.ReportMetric(float64(arriving)/1e3, "µs-p99-arriving")
	b.ReportMetric(float64(loud)/1e3, "µs-p99")
	b.ReportMetric(failed, "failed")
	b.ReportMetric(joined.Seconds(), "s-joining")
	b.ReportMetric(0, "ns/op")
}

// An honestClient reads what it asks for.
type honestClient struct {
	url    string
	client *http.Client
}

func newHonest(b *testing.B, addr string) *honestClient {
	c := &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}
	b.Cleanup(c.CloseIdleConnections)
	return &honestClient{"http://" + addr + "/mcp", c}
}

// ask reads a small resource again and again, and gives the time that 99 of 100 reads take at most, and the share of
// those that fail.
func (h *honestClient) ask(b *testing.B, lasting time.Duration) (p99 time.Duration, failed float64) {
	var took []time.Duration
	failures := 0
	for end := time.Now().Add(lasting); time.Now().Before(end); time.Sleep(time.Millisecond) {
		began := time.Now()
		r, err := http.NewRequest(http.MethodPost, h.url, strings.NewReader(unreadBody("resources/read", `"uri":"unread://small"`)))
		if err != nil {
			b.Fatal(err)
		}
		for name, value := range unreadHeaders("resources/read", "unread://small") {
			r.Header.Set(name, value)
		}
		response, err := h.client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if !bytes.Contains(text, []byte(`"small"`)) {
			failures++
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)*99/100], float64(failures) / float64(len(took))
}

// floodUnread opens the connections of clients that ask and do not read.
func floodUnread(b *testing.B, addr, request string) []net.Conn {
	clients := make([]net.Conn, unreadClients)
	var joining sync.WaitGroup
	turns := make(chan struct{}, 32)
	for i := range clients {
		time.Sleep(unreadPace) // or most would be refused, there being so many at once
		joining.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			c, err := net.Dial("tcp", addr)
			if err != nil {
				b.Error(err)
				return
			}
			_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
			if _, err := io.WriteString(c, request); err != nil {
				b.Error(err)
			}
			clients[i] = c
		})
	}
	joining.Wait()
	return slices.DeleteFunc(clients, func(c net.Conn) bool { return c == nil })
}

// served closes the connections, and gives the share of the clients that were answered with what they asked for, or the
// beginning of it.
func served(clients []net.Conn) float64 {
	n := 0
	for _, c := range clients {
		begin := make([]byte, 2048)
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		got, _ := io.ReadAtLeast(c, begin, len(begin))
		if got > 0 && !bytes.Contains(begin, []byte(`"error":`)) && !bytes.Contains(begin, []byte(`"isError":true`)) {
			n++
		}
		c.Close()
	}
	return float64(n) / float64(len(clients))
}

func unreadHeaders(method, name string) map[string]string {
	h := map[string]string{
		"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method,
	}
	if name != "" {
		h["Mcp-Name"] = name
	}
	return h
}

func unreadBody(method, params string) string {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	if params != "" {
		meta = "," + meta
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + meta + `}}`
}

func unreadPost(method, name, params string) string {
	text := unreadBody(method, params)
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + strconv.Itoa(len(text)) + "\r\n"
	for name, value := range unreadHeaders(method, name) {
		head += name + ": " + value + "\r\n"
	}
	return head + "\r\n" + text
}

// manyURIs returns the items of an array of so many URIs of that length.
func manyURIs(count, length int) string {
	items := make([]string, count)
	for i := range items {
		uri := fmt.Sprintf("unread://%04d/", i)
		items[i] = `"` + uri + strings.Repeat("x", length-len(uri)) + `"`
	}
	return strings.Join(items, ",")
}

// An unreadServer is the built program.
type unreadServer struct {
	cmd  *exec.Cmd
	addr string
}

func startUnread(b *testing.B, bin, module string) *unreadServer {
	cmd := exec.Command(bin, "run", "--http", "127.0.0.1:0", "--tools", module)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "http://"); ok {
			go io.Copy(io.Discard, stderr) // ends with the program
			return &unreadServer{cmd, strings.TrimSuffix(rest, "/mcp")}
		}
	}
	_ = cmd.Process.Kill()
	b.Fatal("the server says no address")
	return nil
}

func (s *unreadServer) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// memory returns what /proc says of the parent's memory, in bytes.
func (s *unreadServer) memory(b *testing.B, field string) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kib << 10
		}
	}
	b.Fatalf("no %s", field)
	return 0
}

func (s *unreadServer) resetPeak(b *testing.B) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.cmd.Process.Pid), []byte("5"), 0); err != nil {
		b.Fatal(err)
	}
}

// buildUnread builds the provider of testdata/unread.go.txt.
func buildUnread(b *testing.B) string {
	dir := b.TempDir()
	source, err := os.ReadFile("testdata/unread.go.txt")
	if err != nil {
		b.Fatal(err)
	}
	sdk, err := filepath.Abs("../../guest-sdk/go")
	if err != nil {
		b.Fatal(err)
	}
	const path = "github.com/wasmres/wasmres/guest-sdk/go"
	for name, text := range map[string]string{
		"main.go": string(source),
		"go.mod":  "module unread\n\ngo 1.24\n\nrequire " + path + " v0.0.0\n\nreplace " + path + " => " + sdk + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", "unread.wasm", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=-mod=mod -trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build the provider: %v\n%s", err, out)
	}
	return filepath.Join(dir, "unread.wasm")
}
