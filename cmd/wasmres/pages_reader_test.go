package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/registryserver"
)

const (
	pageAddress   = "127.0.0.1:8080" // of servers, in pages
	pageHome      = "/home/me"       // the folder in which a page begins, in pages
	pageRegistry  = "ghcr.io"        // in pages: a registry of the test
	patience      = 5 * time.Minute  // with a command, and with what a running one prints
	exitNoCommand = 127              // the exit status of sh where there is no such command
)

// goesOn matches commands that do not end.
var goesOn = regexp.MustCompile(`^(wasmres run --(?:http|ui)|wasmres serve|wasmres dev|api/api|sh listen)\b`)

// A reader does what a page says.
type reader struct {
	t       *testing.T
	page    string
	bin     string // the folder of wasmres
	root    string
	dir     string            // where the next command runs
	address string            // for pageAddress
	names   map[string]string // for what else pages have in their place
	env     []string          // that a page adds
	exports string            // a file with what commands have exported
	path    string            // what precedes PATH; empty for nothing
	printed map[string]string // by commands that have ended: what the last of each kind printed
	running []*program
}

func newReader(t *testing.T, page, bin string) *reader {
	root := t.TempDir()
	r := &reader{
		t: t, page: page, bin: bin, root: root, dir: root, address: freeAddress(t), printed: map[string]string{},
		names: map[string]string{pageHome: root}, exports: filepath.Join(t.TempDir(), "exports"),
		env: []string{
			"XDG_STATE_HOME=" + root + "/.local/state", "XDG_DATA_HOME=" + root + "/.local/share", "DOCKER_CONFIG=" + root + "/.docker",
		},
	}
	switch filepath.Base(page) {
	case "README.md":
		readmeFiles(t, root)
	case "rust.md": // the profile of a project takes most of the time: examples/wasm/logs and the conformance kit have the same one
		r.env = append(r.env, "CARGO_PROFILE_RELEASE_LTO=off", "CARGO_PROFILE_RELEASE_OPT_LEVEL=0")
	case "python.md":
		r.path = pythonPath(t)
	case "operating.md", "check.md":
		r.addModule("hello", "notes.wasm")
	case "testing.md":
		r.addModule("hello", "provider.wasm")
		r.addModule("project", "project.wasm")
	case "capabilities.md":
		r.addModule("project", "notes.wasm")
		r.addHome()
	case "registry.md":
		r.names[pageRegistry], _ = registryserver.Start(t, registryserver.Options{})
		r.names["registry.example.org"] = strings.Replace(r.names[pageRegistry], "127.0.0.1", "localhost", 1)
	case "clients.md":
		r.addModule("hello", "notes.wasm")
		r.addClients()
	}
	t.Cleanup(r.stop)
	return r
}

// addModule gives the reader an example provider.
func (r *reader) addModule(example, name string) {
	r.t.Helper()
	if err := os.Symlink(guesttest.File(r.t, example), filepath.Join(r.root, name)); err != nil {
		r.t.Fatal(err)
	}
}

// addClients gives the reader a home with MCP clients.
func (r *reader) addClients() {
	r.t.Helper()
	for _, dir := range []string{".cursor", ".codex"} {
		if err := os.Mkdir(filepath.Join(r.root, dir), 0o700); err != nil {
			r.t.Fatal(err)
		}
	}
	r.addHome()
}

// addHome makes the folder in which a page begins the home of the reader.
func (r *reader) addHome() {
	r.env = append(r.env, "HOME="+r.root, "XDG_CONFIG_HOME="+r.root+"/.config")
}

// pythonPath returns the beginning of a PATH on which python3 has pytest.
func pythonPath(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(guesttest.Python(t, "pytest"), filepath.Join(dir, "python3")); err != nil {
		t.Fatal(err)
	}
	return dir + string(os.PathListSeparator)
}

// lastPort is below the ports that the system chooses by itself, and below those of internal/e2e: nothing else takes a port before a
// page starts its server.
var lastPort = func() *atomic.Uint32 {
	n := &atomic.Uint32{}
	n.Store(rand.Uint32N(10_000))
	return n
}()

// freeAddress returns an address without a listener, and that it has not returned before.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprint("127.0.0.1:", 10_000+lastPort.Add(1)%10_000)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("of the ports from 10000 to 19999, a hundred in a row are in use")
	return ""
}

func (r *reader) do(b block) {
	r.t.Helper()
	switch {
	case b.file != "":
		r.write(b.file, b.text)
	case len(b.runs) == 0:
		r.await(b.line, b.text)
	}
	for _, run := range b.runs {
		r.run(run)
	}
}

func (r *reader) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	if inHome, ok := strings.CutPrefix(name, "~/"); ok {
		file = filepath.Join(r.root, filepath.FromSlash(inHome))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(r.real(text)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reader) run(run commandLine) {
	r.t.Helper()
	switch {
	case strings.HasPrefix(run.shell, "npm install"): // which would ask the registry
		lang, err := project.Detect(r.dir)
		if err != nil {
			r.t.Fatal(err)
		}
		if err := os.Symlink(guesttest.NodeModules(r.t, lang), filepath.Join(r.dir, "node_modules")); err != nil {
			r.t.Fatal(err)
		}
		r.printed[run.shell] = ""
		return
	case goesOn.MatchString(run.shell):
		r.start(run.shell)
		r.await(run.line, run.output)
		return
	case strings.HasPrefix(run.shell, "wasmres build"):
		r.stopDev()
	}
	printed, status := r.shell(run.shell)
	r.printed[run.shell] = printed
	missing := status == cli.StatusMissing || status == exitNoCommand || strings.Contains(printed, "No module named pytest")
	if status != run.status && missing {
		guesttest.Missing(r.t, "%s:%d: %s", r.page, run.line, printed)
	}
	if status != run.status {
		r.t.Fatalf("%s:%d: exit status %d, want %d\n%s\n%s", r.page, run.line, status, run.status, run.shell, printed)
	}
	names, ok := prints(run.output, printed)
	if !ok {
		r.t.Fatalf("%s:%d: %s\n-- is shown to print --\n%s\n-- and prints --\n%s",
			r.page, run.line, run.shell, run.output, printed)
	}
	maps.Copy(r.names, names)
}

// shell runs a command, and keeps the folder it has gone to.
func (r *reader) shell(line string) (printed string, status int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	folder, told, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	defer folder.Close()
	keep := ""
	if strings.HasPrefix(line, "export ") {
		keep = "export -p >'" + r.exports + "'; "
	}
	cmd := r.command(ctx, line+"\nstatus=$?; "+keep+"pwd >&3; exit $status")
	cmd.ExtraFiles = []*os.File{told}
	out, err := cmd.CombinedOutput()
	if err := told.Close(); err != nil {
		r.t.Error(err)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		r.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	dir, err := io.ReadAll(folder)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.dir = strings.TrimSpace(string(dir)); !strings.HasPrefix(r.dir, r.root) {
		r.t.Fatalf("%s leads to %s, out of %s", line, r.dir, r.root)
	}
	return r.shown(string(out)), cmd.ProcessState.ExitCode()
}

// command makes a command that finds compilers, but no network.
func (r *reader) command(ctx context.Context, line string) *exec.Cmd {
	if _, err := os.Stat(r.exports); err == nil {
		line = ". '" + r.exports + "'; " + line
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", r.real(line))
	cmd.Dir = r.dir
	cmd.Env = append(cmd.Environ(), "PATH="+r.path+r.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+r.t.TempDir(),
		"WASMRES_CACHE_DIR="+guesttest.CacheDir(r.t), "WASMRES_LOG_LEVEL=info", "GOFLAGS=-trimpath", "GOPROXY=off",
		"GOTOOLCHAIN=local", "CARGO_NET_OFFLINE=true", "CARGO_TARGET_DIR=target", "RUSTFLAGS=",
		"CARGO_PROFILE_DEV_DEBUG=0", "CARGO_INCREMENTAL=0") // what only debuggers and later builds read takes half of the time
	cmd.Env = append(cmd.Env, r.env...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// shown returns what was printed as a page shows it.
func (r *reader) shown(printed string) string {
	for name, is := range r.names {
		if _, ok := standIns[name]; !ok {
			printed = strings.ReplaceAll(printed, is, name)
		}
	}
	return strings.ReplaceAll(printed, r.address, pageAddress)
}

// real returns a text of a page with what its names stand for.
func (r *reader) real(text string) string {
	for name, is := range r.names {
		text = strings.ReplaceAll(text, name, is)
	}
	return strings.ReplaceAll(text, pageAddress, r.address)
}

// A program is a command that keeps running.
type program struct {
	cmd       *exec.Cmd
	interrupt func()
	more      chan struct{} // has room for one
	ended     chan struct{} // closed

	mu      sync.Mutex
	printed bytes.Buffer // since what was awaited; guarded by mu
}

// Write implements [io.Writer].
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
	return p.printed.Write(b)
}

// take forgets what was printed if that is all right with the caller.
func (p *program) take(right func(printed string) bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	ok := right(p.printed.String())
	if ok {
		p.printed.Reset()
	}
	return ok
}

// start starts a command that runs until the test ends, or until the next server starts.
func (r *reader) start(line string) {
	r.t.Helper()
	if strings.HasPrefix(line, "wasmres ") {
		r.stop()
	}
	if strings.HasPrefix(line, "wasmres dev") || line == "wasmres serve" {
		line += " --http " + pageAddress // which is where it serves anyhow
	}
	ctx, interrupt := context.WithCancel(r.t.Context())
	p := &program{
		cmd: r.command(ctx, "exec "+line), interrupt: interrupt, more: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	if err := p.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the state says how it ended
	}()
	r.running = append(r.running, p)
}

// await waits until the program started last has printed what the page shows.
func (r *reader) await(line int, shown string) {
	r.t.Helper()
	if len(r.running) == 0 {
		r.t.Fatalf("%s:%d: no command is running that could print this", r.page, line)
	}
	p := r.running[len(r.running)-1]
	var printed string
	right := func(all string) bool {
		printed = r.shown(all)
		_, ok := prints(shown, printed)
		return ok
	}
	late := time.After(patience)
	for !p.take(right) {
		select {
		case <-p.more:
			continue
		case <-p.ended:
			if p.cmd.ProcessState.ExitCode() == exitNoCommand {
				guesttest.Missing(r.t, "%s:%d: %s", r.page, line, printed)
			}
		case <-late:
		}
		r.t.Fatalf("%s:%d: this is shown to be printed\n%s\n-- by %s, which has printed --\n%s",
			r.page, line, shown, p.cmd, printed)
	}
}

// stopDev ends "wasmres dev", which compiles again whenever a command of the page writes a file. On the page about JavaScript, which
// has no compiler, it goes on beside the commands.
func (r *reader) stopDev() {
	r.t.Helper()
	last := len(r.running) - 1
	if last >= 0 && strings.Contains(r.running[last].cmd.String(), "exec wasmres dev") && filepath.Base(r.page) != "javascript.md" {
		r.stop()
	}
}

// stop ends what is running.
func (r *reader) stop() {
	r.t.Helper()
	for _, p := range r.running {
		p.interrupt()
		<-p.ended
		if state := p.cmd.ProcessState; !state.Success() && !interrupted(state) {
			r.t.Errorf("%s: %s: %v", r.page, p.cmd, state)
		}
	}
	r.running = nil
}

// interrupted reports whether a program has ended by the signal that stops it.
func interrupted(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT
}
