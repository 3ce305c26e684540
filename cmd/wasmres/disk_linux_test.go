package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/ledger"
)

// onSmallDisk returns a server whose folder is on a file system of this many bytes, which goes with the test, however it ends: a process
// has mounted it in a namespace of its own, which the server enters, and ends with its standard input.
func onSmallDisk(t *testing.T, bytes int) *victim {
	t.Helper()
	inside := t.TempDir()
	args, enter := []string{"--mount"}, []string{"nsenter", "--mount"}
	if os.Getuid() != 0 {
		args, enter = append(args, "--user", "--map-root-user"), append(enter, "--user", "--preserve-credentials")
	}
	script := fmt.Sprintf(`mount -t tmpfs -o mode=0700,size=%d tmpfs "$0" && echo ready && exec cat`, bytes)
	holder := exec.Command("unshare", append(args, "sh", "-c", script, inside)...)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Skipf("no unshare of util-linux: %v", err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = holder.Wait()
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Skip("this machine mounts no file systems for tests")
	}
	pid := strconv.Itoa(holder.Process.Pid)
	return &victim{t: t, dir: "/proc/" + pid + "/root" + inside, inside: inside, enter: append(enter, "--target", pid)}
}

// fill leaves no room on the disk of a folder, until free is called.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{1 << 16, 1 << 12, 1} {
		for err = nil; err == nil; _, err = f.Write(make([]byte, size)) {
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// While the disk with all files of a server is full, with its store, ledger, modules, counts of usage, native code and logs, clients are
// answered, and changes are refused with the reason. When there is room, the server goes on by itself; nothing that it has
// acknowledged is lost.
func TestAFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a disk")
	}
	modules := deployModules(t)
	v := onSmallDisk(t, 16<<20)
	v.write("serve.yaml", "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\naccess_log: {file: access.log}\nplans: {default: {audit: {reads: true}}}\n")
	v.write("tenants/acme.yaml", victimFile)
	v.api = admintest.Client(t, filepath.Join(v.dir, "data", admin.SocketName))
	t.Cleanup(v.kill)
	cache := "WASMRES_CACHE_DIR=" + filepath.Join(v.inside, "cache")
	v.start(cache)
	ctx := t.Context()
	newKey := func(name string) error {
		_, err := v.api.CreateKey(ctx, "acme", admin.NewKey{Name: name, Roles: []string{"reader"}})
		return err
	}
	names := func() string {
		all, err := v.api.Keys(ctx, "acme", "")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, k := range all.Items {
			names = append(names, k.Name)
		}
		return strings.Join(names, " ")
	}
	if made, err := v.pushed(admin.NewVersion{Next: "promote"}, modules["fine"]); err != nil || made.State != "approved" {
		t.Fatalf("got %+v, %v", made, err)
	}
	if err := newKey("before"); err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`at (http://[^/]*)/t/TENANT/mcp`).FindStringSubmatch(v.log())[1] + "/t/acme/mcp?uri="
	get := func(uri string) string {
		t.Helper()
		answer, err := http.Get(url + uri)
		if err != nil {
			t.Fatalf("%s: %v: %s", uri, err, v.log())
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %s", answer.StatusCode, text)
	}
	read := func(uri, want string) {
		t.Helper()
		if got := get(uri); !strings.Contains(got, want) {
			t.Fatalf("%s: got %s, want %s", uri, got, want)
		}
	}
	read("x:o", "fine")
	free := fill(t, v.dir)
	for range 30 {
		read("x:o", "fine")
		read("x:a", "trap") // whose report and log are not written
	}
	refused := func(what string, err error) {
		t.Helper()
		p := (*admin.Problem)(nil)
		if !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable || !strings.Contains(p.Detail, "full") && !strings.Contains(p.Detail, "space") {
			t.Errorf("%s: got %v, want 503, and that the disk is full", what, err)
		}
	}
	refused("a key", newKey("full"))
	_, err := v.pushed(admin.NewVersion{Next: "promote"}, modules["next"])
	refused("a version", err)
	if _, err := v.api.Node(ctx); err != nil {
		t.Error(err)
	}
	if got := names(); got != "before" {
		t.Errorf("got keys %s, want the one before", got)
	}
	free()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) { // the ledger tries again each second
		if err = newKey("after"); err == nil {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("no change succeeds: %v", err)
		}
	}
	if made, err := v.pushed(admin.NewVersion{Next: "promote"}, modules["next"]); err != nil || made.State != "approved" {
		t.Fatalf("got %+v, %v", made, err)
	}
	for began := time.Now(); !strings.Contains(get("x:o"), "next"); time.Sleep(50 * time.Millisecond) { // the promotion comes after the answer
		if time.Since(began) > time.Minute {
			t.Fatal("the version is not promoted")
		}
	}
	v.kill()
	v.start(cache)
	if got := names(); got != "before after" && got != "after before" {
		t.Errorf("after a restart: got keys %s", got)
	}
	if _, err := ledger.Verify(ctx, filepath.Join(v.dir, "data", "ledger"), ledger.Expect{}); err != nil {
		t.Error(err)
	}
	v.stop()
}

// A server that starts on a full disk serves, or ends with an error that says so. Either way nothing is lost: when there is room, it has
// all that it had.
func TestAStartOnAFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a disk")
	}
	for name, isNew := range map[string]bool{"new": true, "killed": false} {
		t.Run(name, func(t *testing.T) {
			v := onSmallDisk(t, 16<<20)
			v.logDir = t.TempDir()
			v.write("serve.yaml", "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\n")
			v.write("tenants/acme.yaml", victimFile)
			v.api = admintest.Client(t, filepath.Join(v.dir, "data", admin.SocketName))
			t.Cleanup(v.kill)
			cache := "WASMRES_CACHE_DIR=" + filepath.Join(v.inside, "cache")
			var want []string
			if !isNew {
				v.start(cache)
				if err := v.key("before"); err != nil {
					t.Fatal(err)
				}
				want = []string{"before"}
				v.kill()
			}
			free := fill(t, v.dir)
			if err := v.startOrEnd(cache); err == nil {
				t.Logf("it serves: %s", v.log())
				if got := v.keys(); !slices.Equal(got, want) {
					t.Errorf("got the keys %q, want %q", got, want)
				}
			} else if log := v.log(); !strings.Contains(log, "no space left on device") && !strings.Contains(log, "is full") {
				t.Errorf("the error does not say that the disk is full: %s", log)
			} else {
				t.Logf("it has ended: %s", log)
			}
			v.kill()
			free()
			v.start(cache)
			v.untilChanged("after")
			if got := v.keys(); !slices.Equal(got, append([]string{"after"}, want...)) {
				t.Errorf("with room again: got the keys %q", got)
			}
			if _, err := ledger.Verify(t.Context(), filepath.Join(v.dir, "data", "ledger"), ledger.Expect{}); err != nil {
				t.Error(err)
			}
			v.stop()
		})
	}
}

// write writes a file of the server.
func (v *victim) write(name, text string) {
	v.t.Helper()
	file := filepath.Join(v.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
}
