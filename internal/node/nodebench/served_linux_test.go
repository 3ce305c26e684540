package nodebench

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/sourcetree"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A language is that of a provider, with a small resource of it.
type language struct {
	name, uri, template string // template has a verb for a number
	binary              func(b testing.TB) []byte
}

var (
	inC = language{"c", "kit://text", "kit://echo/%d", func(b testing.TB) []byte {
		binary, err := os.ReadFile(guesttest.Kit(b, project.C))
		if err != nil {
			b.Fatal(err)
		}
		return binary
	}}
	inJavaScript = language{"javascript", "kit://text", "kit://echo/%d", func(b testing.TB) []byte {
		binary, err := os.ReadFile(guesttest.Kit(b, project.JavaScript))
		if err != nil {
			b.Fatal(err)
		}
		return binary
	}}
	inGo = language{"go", "hello://about", "greeting://%d", func(b testing.TB) []byte { return guesttest.Binary(b, "hello") }}
)

// Roles of the tenants of a farm: either clients need a key, or they do not.
const (
	keyed     = `{roles: {all: [{uris: ["**"]}]}}`
	anonymous = `{roles: {all: [{uris: ["**"]}]}, auth: {anonymous: [all]}}`
)

// A farm is the files of a server.
type farm struct{ dir string }

// newFarm writes serve.yaml, with more settings.
func newFarm(b testing.TB, settings string) *farm {
	b.Helper()
	f := &farm{b.TempDir()}
	for _, dir := range []string{"tenants", "modules"} {
		if err := os.Mkdir(filepath.Join(f.dir, dir), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	f.write(b, "serve.yaml", "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\n"+settings)
	return f
}

// write replaces a file in one step.
func (f *farm) write(b testing.TB, name, text string) {
	b.Helper()
	file := filepath.Join(f.dir, name)
	if err := errors.Join(os.WriteFile(file+".new", []byte(text), 0o600), os.Rename(file+".new", file)); err != nil {
		b.Fatal(err)
	}
}

// modules writes modules of one code and different digests.
func (f *farm) modules(b testing.TB, l language, n int) {
	b.Helper()
	binary := l.binary(b)
	for i := range n {
		other, err := wasm.WithCustom(binary, "number", fmt.Append(nil, i))
		if err != nil {
			b.Fatal(err)
		}
		f.write(b, moduleName(l, i), string(other))
	}
}

func moduleName(l language, i int) string { return fmt.Sprintf("modules/%s%d.wasm", l.name, i) }

// tenant writes the file of a tenant with one provider. access is keyed or anonymous, settings are further lines.
func (f *farm) tenant(b testing.TB, id string, l language, module int, access, settings string) {
	b.Helper()
	f.write(b, "tenants/"+id+".yaml", fmt.Sprintf("%sproviders: {p: {module: ../%s}}\n%s\n", settings, moduleName(l, module),
		strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(access, "}, auth", "}\nauth"), "{"), "}")))
}

func idOf(i int) string { return fmt.Sprintf("t%05d", i) }

// many writes the files of n tenants, one in four with a provider in Go.
func (f *farm) many(b testing.TB, n, digests int, access string) {
	b.Helper()
	f.modules(b, inC, digests)
	f.modules(b, inGo, digests)
	for i := range n {
		f.tenant(b, idOf(i), languageOf(i), i%digests, access, "")
	}
}

// languageOf is that of a tenant that many has made.
func languageOf(i int) language {
	if i%4 == 0 {
		return inGo
	}
	return inC
}

var buildProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "wasmres-hosting-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-o", filepath.Join(dir, "wasmres"), "./cmd/wasmres")
	build.Dir = sourcetree.Root()
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build wasmres: %w\n%s", err, out)
	}
	return filepath.Join(dir, "wasmres"), nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if built {
		if bin, err := buildProgram(); err == nil {
			os.RemoveAll(filepath.Dir(bin))
		}
	}
	os.Exit(status)
}

var built bool // whether there is a program to remove

// A server is a running wasmres.
type server struct {
	b       testing.TB
	cmd     *exec.Cmd
	address string
	ready   time.Duration // from its start until it listened
	admin   *admin.Client // of wasmres serve
	socket  string
	drained chan struct{}

	mu  sync.Mutex
	log []string // last lines; guarded by mu
}

// text returns the last lines of the log.
func (s *server) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// serve starts wasmres serve. It ends with the benchmark, or by stop.
func (f *farm) serve(b testing.TB) *server {
	b.Helper()
	s := start(b, "serve", "--config", filepath.Join(f.dir, "serve.yaml"), "--cache-dir", guesttest.CacheDir(b))
	s.socket = filepath.Join(f.dir, "data", admin.SocketName)
	if _, measures := b.(*testing.B); measures {
		s.admin = admin.NewClient(s.socket)
		b.Cleanup(s.admin.Close)
	} else {
		s.admin = admintest.Client(b, s.socket)
	}
	for until := time.Now().Add(time.Minute); ; {
		_, err := s.admin.Node(b.Context())
		if err == nil {
			return s
		}
		if time.Now().After(until) {
			b.Fatalf("operators cannot connect: %v", err)
		}
		time.Sleep(time.Millisecond)
	}
}

// start starts the program, and waits until it listens.
func start(b testing.TB, args ...string) *server {
	b.Helper()
	return startWith(b, func(*exec.Cmd) {}, args...)
}

// startWith starts the program as a command that prepare has changed, and waits until it listens.
func startWith(b testing.TB, prepare func(*exec.Cmd), args ...string) *server {
	b.Helper()
	built = true
	bin, err := buildProgram()
	if err != nil {
		b.Fatal(err)
	}
	s := &server{b: b, cmd: exec.Command(bin, args...), drained: make(chan struct{})}
	prepare(s.cmd)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.stop)
	said := make(chan string, 1)
	go func() {
		defer close(s.drained)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			s.mu.Lock()
			if s.log = append(s.log, lines.Text()); len(s.log) > 100 {
				s.log = s.log[50:]
			}
			s.mu.Unlock()
			if _, at, ok := strings.Cut(lines.Text(), "http://"); ok && len(said) == 0 {
				address, _, _ := strings.Cut(at, "/")
				said <- address
			}
		}
	}()
	select {
	case s.address = <-said:
		s.ready = time.Since(began)
	case <-s.drained:
		b.Fatalf("the server has ended:\n%s", s.text())
	case <-time.After(time.Minute):
		b.Fatal("the server does not listen after a minute")
	}
	return s
}

// stop ends the server. It is idempotent.
func (s *server) stop() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(os.Interrupt)
	<-s.drained
	if err := s.cmd.Wait(); err != nil {
		s.b.Errorf("the server did not end well: %v\n%s", err, s.text())
	}
}

// key makes a key of a tenant for everything.
func (s *server) key(tenantID string) string {
	s.b.Helper()
	k, err := s.admin.CreateKey(s.b.Context(), tenantID, admin.NewKey{Name: "bench", Roles: []string{"all"}})
	if err != nil {
		s.b.Fatal(err)
	}
	return k.Text
}

// awaitNoneLive waits until no provider has a process.
func (s *server) awaitNoneLive() {
	s.b.Helper()
	for until := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		n, err := s.admin.Node(s.b.Context())
		if err != nil {
			s.b.Fatal(err)
		}
		if n.Live == 0 {
			return
		}
		if time.Now().After(until) {
			s.b.Fatalf("%d providers still have a process", n.Live)
		}
	}
}
