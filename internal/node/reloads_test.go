package node_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// One tenant's file changes again and again, while clients of another read and one of them has a stream: no read fails, the stream
// stays, the changes are in force, and nothing is left of what was replaced.
func TestManyReloads(t *testing.T) {
	if testing.Short() {
		t.Skip("it reloads a hundred times")
	}
	h := host(t, "a", "b")
	own := filepath.Join(h.Settings().Data, "tenants", "a.yaml")
	plain, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	write(t, own, string(plain)+"plan: unbounded\n")
	if report, err := h.Reread(t.Context()); err != nil || len(report.Problems) > 0 {
		t.Fatal(err, report)
	}
	listen := methods()["listen"]
	listen.tenant, listen.key = "a", h.keys["a"]
	stream, err := http.DefaultClient.Do(h.build(listen))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	ended := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(stream.Body)
		for lines.Scan() {
		}
		ended <- lines.Err()
	}()
	stop := make(chan struct{})
	var clients sync.WaitGroup
	var reads, failed atomic.Uint64
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				reads.Add(1)
				if got := h.do(request{tenant: "a", key: h.keys["a"], uri: noteURI}); got.status != http.StatusOK || got.body != secretOf("a") {
					if failed.Add(1) == 1 {
						t.Errorf("the first read that failed: %d %s", got.status, got.body)
					}
				}
			}
		})
	}
	file := filepath.Join(h.Settings().Data, "tenants", "b.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	goroutines, files := 0, 0
	for n := range 100 {
		uris := "memory://context/**"
		if n%10 == 5 {
			uris = "memory://word/**" // which hides the note
		}
		changed := strings.Replace(string(text), `uris: ["**"]`, fmt.Sprintf("uris: [%q]", uris), 1)
		changed = strings.Replace(changed, `count_lookups: "true"`, fmt.Sprintf("count_lookups: \"true\", n: %q", fmt.Sprint(n)), 1)
		write(t, file, changed)
		if report, err := h.Reread(t.Context()); err != nil || len(report.Problems) > 0 {
			t.Fatal(err, report)
		}
		if n%5 != 0 {
			continue
		}
		want := http.StatusOK
		if n%10 == 5 {
			want = http.StatusNotFound
		}
		if got := h.do(request{tenant: "b", key: h.keys["b"], uri: noteURI}); got.status != want {
			t.Errorf("after change %d: got %d %s, want %d", n, got.status, got.body, want)
		}
		if n == 20 {
			goroutines, files = goruntime.NumGoroutine(), openFiles()
		}
	}
	for until := time.Now().Add(time.Minute); goruntime.NumGoroutine() > goroutines+20 || openFiles() > files+20; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Errorf("%d goroutines and %d files, after %d and %d", goruntime.NumGoroutine(), openFiles(), goroutines, files)
			break
		}
	}
	close(stop)
	clients.Wait()
	if failed.Load() > 0 || reads.Load() < 100 {
		t.Errorf("%d of %d reads failed", failed.Load(), reads.Load())
	}
	select {
	case err := <-ended:
		t.Errorf("the stream ended: %v", err)
	default:
	}
}

// openFiles counts the descriptors of this process; 0 where that is unknown.
func openFiles() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}
