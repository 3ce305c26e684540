package subscription_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

const (
	servesSubscribers = "WASMRES_SERVES_SUBSCRIBERS" // set in the child
	subscribers       = 10_000
	stallingAddress   = "127.0.0.9" // clients from there have small buffers, so that they stall soon
)

// BenchmarkSubscribers has a server in another process notify 10,000 clients of a change, again and again. Each of the two
// processes needs 10,000 open files.
func BenchmarkSubscribers(b *testing.B) {
	if os.Getenv(servesSubscribers) != "" {
		serveSubscribers(b)
		return
	}
	for _, stalled := range []int{0, 1, 20} {
		b.Run(fmt.Sprint("stalled=", stalled), func(b *testing.B) { benchmarkSubscribers(b, stalled) })
	}
}

func benchmarkSubscribers(b *testing.B, stalled int) {
	server := startSubscribed(b)
	empty := server.ask(b, "idle")
	crowd := newCrowd(b)
	for range subscribers {
		crowd.join(b, server.addr, "127.0.0.1")
	}
	for range stalled {
		newCrowd(b).join(b, server.addr, stallingAddress)
	}
	server.ask(b, "wait "+strconv.Itoa(subscribers+stalled))
	asItIs, full := server.ask(b, "state"), server.ask(b, "idle")
	for range 60 * min(stalled, 1) {
		crowd.hear(b, server)
	}
	crowd.hear(b, server)
	before := server.ask(b, "state")
	var delays []time.Duration
	var slowest []time.Duration
	for b.Loop() {
		round := crowd.hear(b, server)
		slowest = append(slowest, slices.Max(round))
		delays = append(delays, round...)
	}
	used, after := server.ask(b, "state"), server.ask(b, "idle")
	slices.Sort(delays)
	slices.Sort(slowest)
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	kib := func(s state) float64 { return float64(s.RSS-empty.RSS) / float64(subscribers+stalled) / 1024 }
	b.ReportMetric(kib(asItIs), "KiB/sub-fresh")
	b.ReportMetric(kib(full), "KiB/sub-idle")
	b.ReportMetric(kib(used), "KiB/sub-told")
	b.ReportMetric(kib(after), "KiB/sub-told-idle")
	b.ReportMetric(float64(full.Heap-empty.Heap)/float64(subscribers+stalled)/1024, "heapKiB/sub")
	b.ReportMetric(float64(full.Stack-empty.Stack)/float64(subscribers+stalled)/1024, "stackKiB/sub")
	b.ReportMetric(float64(full.Goroutines-empty.Goroutines)/float64(subscribers+stalled), "goroutines/sub")
	b.ReportMetric(ms(delays[len(delays)/2]), "ms-p50")
	b.ReportMetric(ms(delays[len(delays)*99/100]), "ms-p99")
	b.ReportMetric(ms(slowest[len(slowest)/2]), "ms-all")
	b.ReportMetric(ms(slowest[len(slowest)-1]), "ms-all-worst")
	b.ReportMetric(float64(used.CPU-before.CPU)/1e6/float64(len(slowest)), "server-CPU-ms/update")
}

// A state is the resource usage of the server's process.
type state struct {
	RSS, Heap, Stack, Goroutines int
	CPU                          time.Duration
	At                           int64 // when a change was published, in nanoseconds since 1970
	Telling                      time.Duration
}

func stateNow() (s state) {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			s.RSS, _ = strconv.Atoi(strings.Fields(kib)[0])
			s.RSS *= 1024
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Heap, s.Stack, s.Goroutines = int(m.HeapAlloc), int(m.StackInuse), runtime.NumGoroutine()
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	s.CPU = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	return s
}

// serveSubscribers is the server. It reads commands from file 3, one on each line, and answers on file 4.
func serveSubscribers(b *testing.B) {
	p := openChanging(b)
	core, err := mcp.New(mcp.Config{Source: p, Name: "test", Version: "1", MaxSubscriptions: 2 * subscribers})
	if err != nil {
		b.Fatal(err)
	}
	h, err := streamable.New(streamable.Config{Core: core, AllowedHosts: streamtest.Hosts()})
	if err != nil {
		b.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server, err := fastpath.NewServer(h, fastpath.Config{})
	if err != nil {
		b.Fatal(err)
	}
	go server.Serve(stallingListener{listener})
	defer server.Shutdown(context.Background())
	commands, answers := bufio.NewScanner(os.NewFile(3, "commands")), json.NewEncoder(os.NewFile(4, "answers"))
	_ = answers.Encode(listener.Addr().String())
	for commands.Scan() {
		var at int64
		var telling time.Duration
		switch commands.Text() {
		case "change":
			at = time.Now().UnixNano()
			if _, err := p.Read(context.Background(), &resource.Request{URI: abi.MustParseURI("x:r")}, sink{}); err != nil {
				b.Fatal(err)
			}
			telling = time.Since(time.Unix(0, at))
		case "idle": // for long: the collector has run, and what it freed went back to the system
			debug.FreeOSMemory()
			time.Sleep(100 * time.Millisecond)
			debug.FreeOSMemory()
		default:
			time.Sleep(time.Second)
		}
		s := stateNow()
		s.At, s.Telling = at, telling
		_ = answers.Encode(s)
	}
}

type sink struct{}

func (sink) Content(*abi.Content) error { return nil }
func (sink) Body([]byte) error          { return nil }
func (sink) Progress(abi.Progress)      {}

// openChanging opens a provider that reports a change of x:w at each read.
func openChanging(b *testing.B) *provider.Provider {
	e, err := wazero.Open(wazero.Config{})
	if err != nil {
		b.Fatal(err)
	}
	puppet := &guesttest.Puppet{
		Manifest: abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead},
		Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
			switch n {
			case 0:
				return guesttest.Ask(abi.ServiceNotifyUpdated, (&abi.NotifyRequest{URI: "x:w"}).Append(nil))
			case 1:
				return guesttest.Emit((&abi.Content{URI: req.URI, Kind: abi.KindText, Inline: []byte("fine")}).Append(nil))
			}
			return guesttest.Return(abi.CodeOK)
		},
	}
	cfg := provider.Config{Runner: pool.InProcess{Engine: e}, Services: puppet.Services()}
	p, err := provider.Open(b.Context(), cfg, puppet.Binary(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close(); e.Close() })
	return p
}

// A stallingListener gives some connections small buffers.
type stallingListener struct{ net.Listener }

func (l stallingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok && strings.HasPrefix(tcp.RemoteAddr().String(), stallingAddress) {
		_ = tcp.SetWriteBuffer(4 << 10)
	}
	return conn, err
}

// A subscribed is the process of the server.
type subscribed struct {
	addr     *net.TCPAddr
	commands *os.File
	answers  *json.Decoder
}

func startSubscribed(b *testing.B) *subscribed {
	theirCommands, commands, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkSubscribers$", "-test.benchtime=1x")
	child.Env = append(os.Environ(), servesSubscribers+"=1")
	child.ExtraFiles = []*os.File{theirCommands, theirAnswers}
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	theirCommands.Close()
	theirAnswers.Close()
	s := &subscribed{commands: commands, answers: json.NewDecoder(answers)}
	b.Cleanup(func() {
		commands.Close()
		if err := child.Wait(); err != nil {
			b.Error(err)
		}
		answers.Close()
	})
	var addr string
	if err := s.answers.Decode(&addr); err != nil {
		b.Fatal(err)
	}
	if s.addr, err = net.ResolveTCPAddr("tcp", addr); err != nil {
		b.Fatal(err)
	}
	return s
}

func (s *subscribed) ask(b *testing.B, command string) (got state) {
	if _, err := fmt.Fprintln(s.commands, command); err != nil {
		b.Fatal(err)
	}
	if err := s.answers.Decode(&got); err != nil {
		b.Fatal(err)
	}
	return got
}

// A crowd is many clients in one goroutine.
type crowd struct {
	epoll int
	sks   []int
}

func newCrowd(b *testing.B) *crowd {
	epoll, err := syscall.EpollCreate1(0)
	if err != nil {
		b.Fatal(err)
	}
	c := &crowd{epoll: epoll}
	b.Cleanup(func() {
		for _, sk := range c.sks {
			syscall.Close(sk)
		}
		syscall.Close(epoll)
	})
	return c
}

// join adds a client and waits for its acknowledgment.
func (c *crowd) join(b *testing.B, server *net.TCPAddr, from string) {
	sk, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	c.sks = append(c.sks, sk)
	if from == stallingAddress {
		_ = syscall.SetsockoptInt(sk, syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2<<10)
	}
	_ = syscall.SetsockoptLinger(sk, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1}) // no port stays in use
	if err := syscall.Bind(sk, &syscall.SockaddrInet4{Addr: [4]byte(net.ParseIP(from).To4())}); err != nil {
		b.Fatal(err)
	}
	if err := syscall.Connect(sk, &syscall.SockaddrInet4{Port: server.Port, Addr: [4]byte(server.IP.To4())}); err != nil {
		b.Fatal(err)
	}
	text := streamtest.Body(strconv.Itoa(len(c.sks)), mcp.ListenMethod, `"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["x:w"]}`)
	request := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: %s\r\nMcp-Method: %s\r\nUser-Agent: crowd\r\nContent-Length: %d\r\n\r\n%s", server, streamtest.Revision, mcp.ListenMethod, len(text), text)
	if _, err := syscall.Write(sk, []byte(request)); err != nil {
		b.Fatal(err)
	}
	var got []byte
	for p := make([]byte, 4<<10); !strings.Contains(string(got), "}}}\n\n"); {
		n, err := syscall.Read(sk, p)
		if err != nil || n == 0 {
			b.Fatalf("got %v after %q", err, got)
		}
		got = append(got, p[:n]...)
	}
	_ = syscall.SetNonblock(sk, true)
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(sk)}
	if err := syscall.EpollCtl(c.epoll, syscall.EPOLL_CTL_ADD, sk, &event); err != nil {
		b.Fatal(err)
	}
}

// hear has the server report a change, and gives the time it took to reach each client.
func (c *crowd) hear(b *testing.B, server *subscribed) (delays []time.Duration) {
	if _, err := fmt.Fprintln(server.commands, "change"); err != nil {
		b.Fatal(err)
	}
	var heard []int64
	events, p := make([]syscall.EpollEvent, 256), make([]byte, 4<<10)
	for len(heard) < len(c.sks) {
		n, err := syscall.EpollWait(c.epoll, events, 10_000)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			b.Fatalf("%d clients were notified: %v", len(heard), err)
		}
		for _, event := range events[:n] {
			n, err := syscall.Read(int(event.Fd), p)
			if err != nil || n == 0 {
				b.Fatalf("a stream has ended: %v", err)
			}
			if strings.Contains(string(p[:n]), "resources/updated") {
				heard = append(heard, time.Now().UnixNano())
			}
		}
	}
	var s state
	if err := server.answers.Decode(&s); err != nil {
		b.Fatal(err)
	}
	for _, at := range heard {
		delays = append(delays, time.Duration(at-s.At))
	}
	return delays
}
