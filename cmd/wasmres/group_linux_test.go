package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/hosttest"
)

// newMemoryGroup returns the folder of a control group that bounds memory. It skips the test where there can be none.
func newMemoryGroup(t *testing.T, bytes int) string {
	t.Helper()
	group := hosttest.MemoryGroup(t, bytes)
	if group == "" {
		t.Skip("no control group can be made that bounds memory")
	}
	return group
}

// More providers are called at once than the memory of a control group holds: the server stops some of their processes, or the kernel
// does, and never the server. Each call is answered, and all tenants are served one after the other.
func TestProvidersExceedTheMemoryOfAGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	many := hosttest.Size(80, 640)
	s := serveInGroup(t, newMemoryGroup(t, hosttest.Size(128, 1024)<<20), guesttest.CacheDir(t), slices.Repeat([]string{guesttest.Computing(t)}, many))
	s.callAll(t, "compute://1")
	for i := range many {
		s.answers(t, i, "compute://1")
	}
	s.live(t)
}

// Live providers fill the group. Then a module is compiled: others give up their memory for it, the system kills nothing, and each
// client gets its answer, or the time to try again.
func TestAModuleIsCompiledInAFullGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles two modules in Go")
	}
	many := hosttest.Size(24, 200)
	group := newMemoryGroup(t, hosttest.Size(256, 1024)<<20)
	s := serveInGroup(t, group, t.TempDir(), append(slices.Repeat([]string{guesttest.File(t, "hello")}, many), guesttest.File(t, "everything")))
	for i := range many {
		s.answers(t, i, "hello://about")
	}
	if live := s.live(t); live == many {
		t.Errorf("all %d providers are live: they do not fill the group", many)
	}
	s.answers(t, many, "test://static-text")
	s.live(t)
	if kills, ok := hosttest.Kills(group); !ok || kills != 0 {
		t.Errorf("the system has killed %d processes; the group counts them: %t", kills, ok)
	}
}

// All modules that are opened at once would take more than the memory of the group: the server opens a few at a time.
func TestModulesExceedTheMemoryOfAGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	s := serveInGroup(t, newMemoryGroup(t, 400<<20), guesttest.CacheDir(t), slices.Repeat([]string{guesttest.File(t, "hello")}, 40))
	s.callAll(t, "hello://about")
	s.live(t)
}

// A grouped is a server of tenants t0, t1 and so on in a control group.
type grouped struct {
	endpoint string
	many     int
	api      *admin.Client
}

// serveInGroup starts a server with a tenant for each module.
func serveInGroup(t *testing.T, group, cache string, modules []string) *grouped {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"serve.yaml": "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\n"}
	for i, module := range modules {
		files[fmt.Sprintf("tenants/t%d.yaml", i)] = fmt.Sprintf(
			"providers: {p: {module: %q}}\nroles: {all: [{uris: [\"**\"]}]}\nauth: {anonymous: [all]}\n", module)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const enter = `echo $$ >"$1/cgroup.procs" && shift && exec "$@"`
	cmd := exec.Command("sh", "-c", enter, "sh", group, "wasmres", "serve", "--config", filepath.Join(dir, "serve.yaml"), "--cache-dir", cache)
	_, _, d := startRun(t, cmd)
	endpoint := d.await(t, `(?i)serving `+strconv.Itoa(len(modules))+` tenants at (http://127\.0\.0\.1:\d+)/t/TENANT/mcp`)[1]
	return &grouped{endpoint, len(modules), admintest.Client(t, filepath.Join(dir, "data", admin.SocketName))}
}

func (s *grouped) url(tenant int, uri string) string {
	return fmt.Sprintf("%s/t/t%d/mcp?uri=%s", s.endpoint, tenant, uri)
}

// answers reads a resource of a tenant, again for at most a minute while the server is busy.
func (s *grouped) answers(t *testing.T, tenant int, uri string) {
	t.Helper()
	status, text := fetch(t, s.url(tenant, uri), "")
	for until := time.Now().Add(time.Minute); isBusy(status) && time.Now().Before(until); status, text = fetch(t, s.url(tenant, uri), "") {
		time.Sleep(10 * time.Millisecond)
	}
	if status != 200 {
		t.Fatalf("t%d got %d %s", tenant, status, text)
	}
}

// callAll reads a resource of all tenants at once. Each call is answered.
func (s *grouped) callAll(t *testing.T, uri string) {
	t.Helper()
	var calling sync.WaitGroup
	for i := range s.many {
		calling.Go(func() {
			resp, err := http.Get(s.url(i, uri))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 200 && !isBusy(resp.StatusCode) {
				t.Errorf("t%d got %d %s, %v", i, resp.StatusCode, text, err)
			}
		})
	}
	calling.Wait()
}

// live returns how many providers are live. The server must answer.
func (s *grouped) live(t *testing.T) int {
	t.Helper()
	node, err := s.api.Node(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d providers live, %d MiB", node.Live, node.LiveBytes>>20)
	return node.Live
}

// isBusy reports whether a client is to try again.
func isBusy(status int) bool { return status == http.StatusTooManyRequests || status >= 500 }
