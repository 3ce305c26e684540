package e2e

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/ptytest"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

var newcomerCast = flag.Bool("newcomer.cast", false, "write the recording of TestNewcomer to docs/casts")

// The programs of MCP clients in their npm packages. Both are whole programs that need no Node.js.
const (
	codexProgram  = "newcomer/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
	claudeProgram = "newcomer/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
)

// askCodex asks Codex CLI for what it has got from its servers, as the editors do that are built on it.
const askCodex = `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"newcomer","title":"newcomer","version":"1"}}}
{"method":"initialized"}
{"id":2,"method":"mcpServerStatus/list","params":{}}
`

// TestNewcomer installs the Debian package of a release in a bare Debian without a network, and a provider in two MCP clients. Both
// clients then connect to it. Then it makes a provider with the program alone, and installs that. It runs in 'make newcomer': WASMRES_NEWCOMER is the folder of the Debian.
func TestNewcomer(t *testing.T) {
	debian := os.Getenv("WASMRES_NEWCOMER")
	if debian == "" {
		t.Skip("SKIPPED: this needs a Debian and large MCP clients: 'make newcomer' installs and runs them")
	}
	n := newNewcomer(t, debian)
	n.command("dpkg -i wasmres_1.2.3_*.deb", "Setting up wasmres (1.2.3)")
	n.withoutProc()
	n.command("wasmres version", "wasmres 1.2.3")
	n.command("wasmres install hello.wasm --client codex --client claude-code --yes", "Claude Code: written")
	n.command("claude mcp list | cat", "hello: /usr/bin/wasmres run /root/hello.wasm - ✔ Connected")
	n.command("codex mcp list", "/usr/bin/wasmres  run --tools /root/hello.wasm")
	n.command(`(cat ask.jsonl; sleep 5) | codex app-server 2>/dev/null | grep -o '"resources":\[.*'`, `"uri":"hello://about"`)
	n.command("wasmres read hello.wasm greeting://Ada", "Hello, Ada!")
	n.command("wasmres new notes --lang javascript && cd notes && wasmres build", "built     notes.wasm")
	n.command("wasmres install notes/notes.wasm --client claude-code --yes", "Claude Code: written")
	n.command("claude mcp list | cat", "notes: /usr/bin/wasmres run /root/notes/notes.wasm - ✔ Connected")
	n.command("codex mcp add notes -- wasmres run /root/notes/notes.wasm", "notes")
	n.command(`(cat ask.jsonl; sleep 5) | codex app-server 2>/dev/null | grep -o '"name":"notes".*'`, `"uri":"notes://about"`)
	t.Logf("all commands: %v", n.total)
	if *newcomerCast {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "casts", "newcomer.cast"), n.Cast(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A newcomer works at a terminal in a root of their own.
type newcomer struct {
	ptytest.Recording
	t     *testing.T
	root  string
	total time.Duration
}

func newNewcomer(t *testing.T, debian string) *newcomer {
	t.Helper()
	n := &newcomer{Recording: ptytest.Recording{Columns: 100, Lines: 50, Title: "Install wasmres in a bare Debian"}, t: t, root: filepath.Join(t.TempDir(), "debian")}
	n.do("cp", "-a", debian, n.root)
	home := filepath.Join(n.root, "root")
	release := exec.CommandContext(t.Context(), ".ci/release", "1.2.3", home)
	release.Dir, release.Env = sourcetree.Root(), append(os.Environ(), "PLATFORMS=linux/amd64")
	if out, err := release.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n.do("cp", "-L", guesttest.File(t, "hello"), filepath.Join(home, "hello.wasm"))
	n.do("cp", codexProgram, filepath.Join(n.root, "usr", "local", "bin", "codex"))
	n.do("cp", claudeProgram, filepath.Join(n.root, "usr", "local", "bin", "claude"))
	for _, dir := range []string{".codex", ".claude"} { // as a client leaves them
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "ask.jsonl"), []byte(askCodex), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *newcomer) do(name string, args ...string) {
	n.t.Helper()
	if out, err := exec.CommandContext(n.t.Context(), name, args...).CombinedOutput(); err != nil {
		n.t.Fatalf("%s %s: %v\n%s", name, args, err, out)
	}
}

// shell returns a command line in the root, with processes, mounts and a network of its own.
func (n *newcomer) shell(before, line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", before+`exec chroot "$0" /usr/bin/env -C /root /bin/sh -c "$1"`, n.root, line)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=1",
		"MCP_TIMEOUT=60000"} // for Claude Code on a busy machine
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET, Unshareflags: syscall.CLONE_NEWNS}
	return cmd
}

// withoutProc looks at what wasmres says in a root where nothing is mounted.
func (n *newcomer) withoutProc() {
	n.t.Helper()
	for _, line := range []string{"read hello.wasm greeting://Ada", "install hello.wasm --client codex --yes"} {
		out, err := n.shell("", "wasmres "+line).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "mount /proc") {
			n.t.Errorf("without /proc, wasmres %s: %v: %s", line, err, out)
		}
	}
}

var (
	steers  = regexp.MustCompile(`\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b\][^\a]*\a|\x1b[78]|\x1b\([A-Z]`)
	ends    = regexp.MustCompile(`\r+\n`)
	redrawn = regexp.MustCompile(`(?m)^.*\r`)
)

// command types a command, records what it prints, and wants a text in it.
func (n *newcomer) command(line, want string) {
	n.t.Helper()
	cmd := n.shell(`mount -t proc proc "$0/proc" && `, line)
	start := time.Now()
	term := ptytest.Start(n.t, cmd, n.Columns, n.Lines)
	err := term.Wait()
	took := time.Since(start)
	text := redrawn.ReplaceAllString(steers.ReplaceAllString(ends.ReplaceAllString(term.Output(), "\n"), ""), "")
	if err != nil || !strings.Contains(text, want) {
		n.t.Fatalf("%s: %v: want %q in\n%s", line, err, want, text)
	}
	n.t.Logf("%s: %v", line, took.Round(time.Millisecond))
	n.total += took
	n.Type(line)
	n.Print(text)
}
