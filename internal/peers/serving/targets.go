package main

import (
	"path/filepath"
	"strconv"

	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

// A lane is a way to a server.
type lane int

const (
	stdio  lane = iota // 2025-11-25
	http               // 2025-11-25, a session for each connection
	modern             // 2026-07-28 over HTTP
)

// A role says what a server's figures are compared with.
type role int

const (
	ours   role = iota // the measure of the others
	walled             // ours with the worker process: a share of ours
	peer               // how many times as good ours is
	limit              // what share of it ours reaches; it speaks no MCP
)

// A target is a server to measure.
type target struct {
	name, title string
	role        role
	argv        func(l lane, bytes int) []string // bytes of contents, for those whose responses are fixed
	slowStart   bool                             // it becomes fast only after a while
}

func (t target) revision(l lane) load.Revision {
	switch {
	case t.role == limit:
		return load.Constant
	case l == modern:
		return load.Modern
	}
	return load.Sessions
}

// serves reports whether the workload makes sense for the target.
func (t target) serves(w workload) bool {
	return t.role != limit || w.constant && (w.lane != stdio || t.name == "fixed")
}

// The modules of the peers.
const (
	goSDK = "github.com/modelcontextprotocol/go-sdk"
	mcpGo = "github.com/mark3labs/mcp-go"
)

func targets(b *built) []target {
	all := []target{
		{name: "wasmres", title: "wasmres, in process", role: ours, argv: b.wasmresCommand("in-process")},
		{name: "wasmres-wall", title: "wasmres, worker process", role: walled, argv: b.wasmresCommand("process")},
		{name: "go-sdk", title: "go-sdk " + b.version("gosdk", goSDK), role: peer, argv: b.goCommand("gosdk")},
		{name: "mcp-go", title: "mcp-go " + b.version("mcpgo", mcpGo), role: peer, argv: b.goCommand("mcpgo")},
		{name: "typescript", title: "TypeScript " + b.scriptVersion(), role: peer, argv: b.nodeCommand, slowStart: true},
		{name: "fixed", title: "fixed reply: fasthttp, stdio", role: limit, argv: b.fixedCommand("fasthttp")},
		{name: "net-http", title: "fixed reply: net/http", role: limit, argv: b.fixedCommand("nethttp")},
	}
	if b.node == "" && b.dir != "" {
		all = append(all[:4], all[5:]...)
	}
	return all
}

func (b *built) wasmresCommand(isolation string) func(lane, int) []string {
	return func(l lane, _ int) []string {
		argv := []string{b.wasmres, "run", "--isolation", isolation, "--log-level", "error"}
		if l != stdio {
			argv = append(argv, "--http", "127.0.0.1:0")
		}
		return append(argv, b.provider)
	}
}

func mode(l lane) string {
	return map[lane]string{stdio: "stdio", http: "http", modern: "stateless"}[l]
}

func (b *built) goCommand(name string) func(lane, int) []string {
	return func(l lane, _ int) []string { return []string{filepath.Join(b.dir, name), "-mode", mode(l)} }
}

func (b *built) nodeCommand(l lane, _ int) []string {
	return []string{b.node, filepath.Join(b.peers(), "js", "server.mjs"), mode(l)}
}

func (b *built) fixedCommand(server string) func(lane, int) []string {
	return func(l lane, bytes int) []string {
		m := server
		if l == stdio {
			m = "stdio"
		}
		return []string{filepath.Join(b.dir, "fixed"), "-mode", m, "-size", strconv.Itoa(bytes)}
	}
}
