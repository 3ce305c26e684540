//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
)

// endOfRun waits until the program has ended, a minute at most, and gives its exit status and the rest of what it says.
func endOfRun(t *testing.T, cmd *exec.Cmd, d *devRun) (status int, said string) {
	t.Helper()
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	for line := range d.lines { // until it has ended
		d.said = append(d.said, line)
	}
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), d.String()
}

// stopReasons returns the reasons of all log lines that say the server has stopped.
func stopReasons(said string) string {
	var reasons []string
	for _, m := range regexp.MustCompile(`msg="server stopped" reason=("[^"]*"|\S+)`).FindAllStringSubmatch(said, -1) {
		reasons = append(reasons, m[1])
	}
	return strings.Join(reasons, " ")
}

func TestRunLogsWhyItStops(t *testing.T) {
	for name, tt := range map[string]struct {
		signal syscall.Signal // 0: the input ends
		reason string
	}{
		"end of input": {0, `"end of input"`},
		"SIGTERM":      {syscall.SIGTERM, `"signal: terminated"`},
		"SIGINT":       {syscall.SIGINT, `"signal: interrupt"`},
		"SIGHUP":       {syscall.SIGHUP, `"signal: hangup"`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("wasmres", "run", "--cache-dir", guesttest.CacheDir(t), guesttest.File(t, "hello"))
			if tt.signal != 0 && signal.Ignored(tt.signal) {
				t.Skip("the test was started with this signal ignored, as by nohup, and so is the program")
			}
			in, out, d := startRun(t, cmd)
			answered := make([]byte, 1)
			if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(out, answered); err != nil { // it serves
				t.Fatal(err)
			}
			go io.Copy(io.Discard, out)
			if tt.signal == 0 {
				in.Close()
			} else if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			if status, said := endOfRun(t, cmd, d); status != 0 || stopReasons(said) != tt.reason {
				t.Errorf("it ends with %d, and says\n%s", status, said)
			}
		})
	}
}

// startRun starts the program and gives its standard streams.
func startRun(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.Reader, d *devRun) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err = cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // or it may write to a folder that is being removed
	})
	return in, out, startReading(stderr)
}

// While a request is under way the first signal waits for it, and the second does not.
func TestASecondSignalEndsRunAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second syscall.Signal
		status        int
	}{
		"SIGTERM": {syscall.SIGTERM, syscall.SIGTERM, 143},
		"SIGINT":  {syscall.SIGTERM, syscall.SIGINT, 130},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("wasmres", "run", "--http", "127.0.0.1:0", "--cache-dir", guesttest.CacheDir(t), guesttest.File(t, "hello"))
			_, _, d := startRun(t, cmd)
			c := dialRun(t, d)
			defer c.Close()
			address := c.RemoteAddr().String()
			beginRequest(t, c)
			if err := cmd.Process.Signal(tt.first); err != nil {
				t.Fatal(err)
			}
			for {
				again, err := net.Dial("tcp", address)
				if err != nil {
					break // the first signal has arrived
				}
				again.Close()
			}
			if err := cmd.Process.Signal(tt.second); err != nil {
				t.Fatal(err)
			}
			if status, said := endOfRun(t, cmd, d); status != tt.status || !strings.Contains(said, "by a second signal") {
				t.Errorf("it ends with %d, want %d, and says\n%s", status, tt.status, said)
			}
		})
	}
}

// A request that waits for a server that does not answer ends with the time that requests have after a signal: the
// process need not be stopped at once for it.
func TestRunEndsWhileAServiceHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the time that requests have after a signal")
	}
	t.Parallel()
	module, cache := guesttest.File(t, "web"), guesttest.CacheDir(t)
	for _, front := range []string{"stdio", "http"} {
		t.Run(front, func(t *testing.T) {
			t.Parallel()
			origin, asked := silentServer(t)
			args := []string{"run", "--cache-dir", cache, "--timeout", "60s", "--net", origin, "--config", "origin=" + origin, module}
			if front == "http" {
				args = append(args, "--http", "127.0.0.1:0")
			}
			cmd := exec.Command("wasmres", args...)
			in, out, d := startRun(t, cmd)
			go io.Copy(io.Discard, out)
			request := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"web://page","_meta":{` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
				`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}}}`
			if front == "http" {
				c := dialRun(t, d)
				defer c.Close()
				_, err := io.WriteString(c, "GET /mcp?uri=web://page HTTP/1.1\r\nHost: "+c.RemoteAddr().String()+"\r\n\r\n")
				if err != nil {
					t.Fatal(err)
				}
			} else if _, err := io.WriteString(in, request+"\n"); err != nil {
				t.Fatal(err)
			}
			select {
			case <-asked:
			case <-time.After(time.Minute):
				t.Fatal("the server was not asked")
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if status, said := endOfRun(t, cmd, d); status > 1 || stopReasons(said) != `"signal: terminated"` {
				t.Errorf("it ends with %d, and says\n%s", status, said)
			}
		})
	}
}

// silentServer accepts connections, reads, and answers nothing. asked is closed when a connection was made.
func silentServer(t *testing.T) (origin string, asked <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	first := make(chan struct{})
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Read(make([]byte, 1))
		close(first)
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
	}()
	return "https://" + l.Addr().String(), first
}

// dialRun connects to the program, which has just been started.
func dialRun(t *testing.T, d *devRun) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", d.await(t, "Serving MCP at http://([0-9.:]+)/mcp")[1])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// requestBody is the length of what follows beginRequest.
const requestBody = 1000

// beginRequest sends a request but for its body, and waits until the server asks for that.
func beginRequest(t *testing.T, c net.Conn) {
	t.Helper()
	head := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n", c.RemoteAddr(), requestBody)
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))); err != nil {
		t.Fatal(err)
	}
}

// After a signal the server closes a silent connection while it still waits for the rest of a request, and answers that.
func TestRunClosesSilentConnectionsFirst(t *testing.T) {
	cmd := exec.Command("wasmres", "run", "--http", "127.0.0.1:0", "--cache-dir", guesttest.CacheDir(t), guesttest.File(t, "hello"))
	_, _, d := startRun(t, cmd)
	busy := dialRun(t, d)
	defer busy.Close()
	silent, err := net.Dial("tcp", busy.RemoteAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	beginRequest(t, busy)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if n, err := silent.Read(make([]byte, 1)); err == nil {
		t.Errorf("the silent connection got %d bytes", n)
	}
	if _, err := busy.Write(make([]byte, requestBody)); err != nil {
		t.Fatal(err)
	}
	if answer, _ := io.ReadAll(busy); !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
		t.Errorf("the request got %q", answer)
	}
	if status, said := endOfRun(t, cmd, d); status != 0 || stopReasons(said) != `"signal: terminated"` {
		t.Errorf("it ends with %d, and says\n%s", status, said)
	}
}

// A client may close all streams at once.
func TestRunEndsWellWithoutItsStandardError(t *testing.T) {
	cmd := exec.Command("wasmres", "run", "--cache-dir", guesttest.CacheDir(t), guesttest.File(t, "hello"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // it serves
		t.Fatal(err)
	}
	for _, stream := range []io.Closer{stderr, out, in} {
		stream.Close()
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
