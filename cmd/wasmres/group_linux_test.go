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
	"sync/atomic"
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
	group, dir := newMemoryGroup(t, 128<<20), t.TempDir()
	files := map[string]string{"serve.yaml": "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\n"}
	for i := range many {
		files[fmt.Sprintf("tenants/t%d.yaml", i)] = fmt.Sprintf(
			"providers: {p: {module: %q}}\nroles: {all: [{uris: [\"**\"]}]}\nauth: {anonymous: [all]}\n", guesttest.Computing(t))
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
	endpoint := d.await(t, `(?i)serving 80 tenants at (http://127\.0\.0\.1:\d+)/t/TENANT/mcp`)[1]
	api := admintest.Client(t, filepath.Join(dir, "data", admin.SocketName))
	var failed atomic.Int64
	var calling sync.WaitGroup
	for i := range many {
		calling.Go(func() {
			resp, err := http.Get(fmt.Sprintf("%s/t/t%d/mcp?uri=compute://1", endpoint, i))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if resp.StatusCode != 200 {
				failed.Add(1)
			}
			if err != nil || resp.StatusCode != 200 && resp.StatusCode < 500 {
				t.Errorf("t%d got %d %s, %v", i, resp.StatusCode, text, err)
			}
		})
	}
	calling.Wait()
	for i := range many {
		url := fmt.Sprintf("%s/t/t%d/mcp?uri=compute://1", endpoint, i)
		status, text := fetch(t, url, "")
		for until := time.Now().Add(time.Minute); status >= 500 && time.Now().Before(until); status, text = fetch(t, url, "") {
			time.Sleep(10 * time.Millisecond)
		}
		if status != 200 {
			t.Fatalf("t%d got %d %s", i, status, text)
		}
	}
	node, err := api.Node(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d calls at once failed; %d providers live, %d MiB", failed.Load(), many, node.Live, node.LiveBytes>>20)
}
