package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// newMemoryGroup makes a control group that bounds the memory of what runs in it, of version 2 or 1, and returns its folder. It skips
// the test where there can be none.
func newMemoryGroup(t *testing.T, bytes int) string {
	t.Helper()
	for root, limit := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		dir := filepath.Join(root, fmt.Sprintf("wasmres-test-%d", os.Getpid()))
		if os.Mkdir(dir, 0o700) != nil {
			continue
		}
		t.Cleanup(func() {
			for until := time.Now().Add(20 * time.Second); os.Remove(dir) != nil && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
			}
		})
		if _, err := os.Stat(filepath.Join(dir, limit)); err == nil && os.WriteFile(filepath.Join(dir, limit), []byte(strconv.Itoa(bytes)), 0o600) == nil {
			return dir
		}
	}
	t.Skip("no control group can be made that bounds memory")
	return ""
}

// More providers are called at once than the memory of a control group holds: the server stops some of their processes, or the kernel
// does, and never the server. Each call is answered, and all tenants are served one after the other.
func TestProvidersExceedTheMemoryOfAGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	const many = 80
	s := serveInGroup(t, guesttest.Computing(t), "compute://1", many, 128<<20)
	s.callAll(t)
	for i := range many {
		status, text := fetch(t, s.url(i), "")
		for until := time.Now().Add(time.Minute); isBusy(status) && time.Now().Before(until); status, text = fetch(t, s.url(i), "") {
			time.Sleep(10 * time.Millisecond)
		}
		if status != 200 {
			t.Fatalf("t%d got %d %s", i, status, text)
		}
	}
	s.checkAlive(t)
}

// All modules that are opened at once would take more than the memory of the group: the server opens a few at a time.
func TestModulesExceedTheMemoryOfAGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	s := serveInGroup(t, guesttest.File(t, "hello"), "hello://about", 40, 400<<20)
	s.callAll(t)
	s.checkAlive(t)
}

// A grouped is a server of tenants t0, t1 and so on in a control group.
type grouped struct {
	endpoint, uri string
	many          int
	api           *admin.Client
}

func serveInGroup(t *testing.T, module, uri string, many, memory int) *grouped {
	t.Helper()
	group, dir := newMemoryGroup(t, memory), t.TempDir()
	files := map[string]string{"serve.yaml": "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\n"}
	for i := range many {
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
	cmd := exec.Command("sh", "-c", enter, "sh", group, "wasmres", "serve", "--config", filepath.Join(dir, "serve.yaml"), "--cache-dir", guesttest.CacheDir(t))
	_, _, d := startRun(t, cmd)
	endpoint := d.await(t, `(?i)serving `+strconv.Itoa(many)+` tenants at (http://127\.0\.0\.1:\d+)/t/TENANT/mcp`)[1]
	return &grouped{endpoint, uri, many, admintest.Client(t, filepath.Join(dir, "data", admin.SocketName))}
}

func (s *grouped) url(tenant int) string {
	return fmt.Sprintf("%s/t/t%d/mcp?uri=%s", s.endpoint, tenant, s.uri)
}

// callAll calls all tenants at once. Each call is answered.
func (s *grouped) callAll(t *testing.T) {
	t.Helper()
	var calling sync.WaitGroup
	for i := range s.many {
		calling.Go(func() {
			resp, err := http.Get(s.url(i))
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

func (s *grouped) checkAlive(t *testing.T) {
	t.Helper()
	node, err := s.api.Node(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d providers live, %d MiB", node.Live, node.LiveBytes>>20)
}

// isBusy reports whether a client is to try again.
func isBusy(status int) bool { return status == http.StatusTooManyRequests || status >= 500 }
