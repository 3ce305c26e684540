package httpcap_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// rawOrigin serves each connection with answer, after the head of a request. It gives the port, and closed, which receives
// whenever answer has returned: most return when the client has closed the connection.
func rawOrigin(t *testing.T, answer func(c net.Conn)) (port uint16, closed <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 100)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					answer(c)
					ended <- struct{}{}
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return portOf(t, l), ended
}

// say writes text and waits until the client closes the connection.
func say(text string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, text)
		_, _ = io.Copy(io.Discard, c)
	}
}

// flood writes head, and then text until the client closes the connection; each time after a pause.
func flood(head, text string, pause time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = io.Copy(io.Discard, c)
		}()
		_, err := io.WriteString(c, head)
		for err == nil {
			select {
			case <-gone:
				return
			case <-time.After(pause):
				_, err = io.WriteString(c, text)
			}
		}
		<-gone
	}
}

// zeros is gzip of 8 MiB of zeros, as a whole body with its head.
func zeros(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	block := make([]byte, 1<<20)
	for range 8 {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", b.Len(), b.String())
}

// An exchange ends with its call, whatever the server sends, and leaves no connection. Malformed answers are refused at
// once: those calls have no deadline that a test waits for.
func TestAnExchangeEndsWhateverTheServerSends(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
	const limit = 1 << 20
	const pause = 5 * time.Millisecond
	const long, short = time.Minute, 300 * time.Millisecond
	for name, tt := range map[string]struct {
		answer  func(net.Conn)
		timeout time.Duration
		code    abi.Code
	}{
		"101 and silence":          {say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), long, abi.CodeUnavailable},
		"101 without a protocol":   {say("HTTP/1.1 101 Switching Protocols\r\n\r\n"), long, abi.CodeUnavailable},
		"101 and a flood":          {flood("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "x", 0), long, abi.CodeUnavailable},
		"silence":                  {say(""), short, abi.CodeDeadline},
		"half a status line":       {say("HTTP/1.1 20"), short, abi.CodeDeadline},
		"a header that trickles":   {flood("HTTP/1.1 200 OK\r\n", "A: b\r\n", pause), short, abi.CodeDeadline},
		"a field that trickles":    {flood("HTTP/1.1 200 OK\r\nA: ", "a", pause), short, abi.CodeDeadline},
		"an endless header":        {flood("HTTP/1.1 200 OK\r\n", "A: "+strings.Repeat("a", 1000)+"\r\n", 0), long, abi.CodeUnavailable},
		"an endless field":         {flood("HTTP/1.1 200 OK\r\nA: ", strings.Repeat("a", 1000), 0), long, abi.CodeUnavailable},
		"a flood of 1xx":           {flood("", "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", 0), long, abi.CodeUnavailable},
		"1xx that trickle":         {flood("", "HTTP/1.1 100 Continue\r\n\r\n", 200*time.Millisecond), short, abi.CodeDeadline},
		"a body that never begins": {say(ok), short, abi.CodeDeadline},
		"a body that trickles":     {flood(ok, "x", pause), short, abi.CodeDeadline},
		"a body without end":       {flood("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 64<<10), 0), long, abi.CodeTooLarge},
		"a chunk that trickles":    {flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n", "x", pause), short, abi.CodeDeadline},
		"endless chunk extensions": {flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1;"+strings.Repeat("x", 1000)+"\r\nx\r\n", 0), long, abi.CodeUnavailable},
		"an endless trailer":       {flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: "+strings.Repeat("a", 1000)+"\r\n", 0), long, abi.CodeUnavailable},
		"a compressed bomb":        {say(zeros(t)), long, abi.CodeTooLarge},
		"compressed and silent":    {say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08"), short, abi.CodeDeadline},
		"a redirect that trickles": {flood("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 4000\r\n\r\n", "x", pause), short, abi.CodeDeadline},
		"the end amid the header":  {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nA:") }, long, abi.CodeUnavailable},
		"the end amid the body":    {func(c net.Conn) { _, _ = io.WriteString(c, ok+"half") }, long, abi.CodeUnavailable},
		"the end amid a chunk": {func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nx")
		}, long, abi.CodeUnavailable},
		"an answer to another call": {say(strings.Repeat("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", 3)), short, abi.CodeDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, closed := rawOrigin(t, tt.answer)
			g := open(t, nil, httpcap.Config{Rules: []httpcap.Rule{{
				Scheme: "http", Host: "127.0.0.1", Ports: []uint16{port}, Private: true,
			}}, Limits: httpcap.Limits{Response: limit}})
			ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
			defer cancel()
			_, body, err := g.read(ctx, abi.HTTPRequest{URL: fmt.Sprintf("http://127.0.0.1:%d/", port)})
			if abi.CodeOf(err) != tt.code || len(body) > limit {
				t.Errorf("got %d bytes, %v (%v), want %v", len(body), abi.CodeOf(err), err, tt.code)
			}
			<-closed
		})
	}
}
