package nodebench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// BenchmarkHostingFull has 500 live providers, every second one in Go, in a control group of 4 GiB where one can be made. Eight clients
// read from them at random, a hundred times a second together.
func BenchmarkHostingFull(b *testing.B) {
	const many, clients, rate, limit = 500, 8, 100, 4 << 30
	allow(b, many)
	f := newFarm(b, "idle: 30m\n"+unbounded)
	f.modules(b, inC, *digests)
	f.modules(b, inGo, *digests)
	languages := []language{inGo, inC}
	for i := range many {
		f.tenant(b, idOf(i), languages[i%2], i%*digests, anonymous, "plan: unbounded\n")
	}
	group := newGroup(b, limit)
	s := startWith(b, func(cmd *exec.Cmd) {
		if group != "" {
			cmd.Args = append([]string{"sh", "-c", `echo $$ >"$1/cgroup.procs" && shift && exec "$@"`, "sh", group, cmd.Path}, cmd.Args[1:]...)
			cmd.Path = "/bin/sh"
		}
	}, "serve", "--config", filepath.Join(f.dir, "serve.yaml"), "--cache-dir", guesttest.CacheDir(b))
	s.admin = admin.NewClient(filepath.Join(f.dir, "data", admin.SocketName))
	b.Cleanup(s.admin.Close)
	request := func(i int) []byte { return read(idOf(i), "", languages[i%2].uri) }
	began := time.Now()
	for i := range many {
		if _, err := s.once(request(i)); err != nil {
			b.Fatal(err)
		}
	}
	starting := time.Since(began)
	for b.Loop() {
		var mu sync.Mutex
		var times []time.Duration
		failed, first := 0, ""
		var reading sync.WaitGroup
		for range clients {
			c := s.dial()
			reading.Go(func() {
				tick := time.NewTicker(time.Second * clients / rate)
				defer tick.Stop()
				for until := time.Now().Add(*seconds); time.Now().Before(until); {
					<-tick.C
					status, body, took, err := c.exchange(request(rand.IntN(many)))
					if err != nil {
						b.Error(err)
						return
					}
					mu.Lock()
					if times = append(times, took); !isResult(status, body) {
						failed, first = failed+1, cmp.Or(first, fmt.Sprintf("%d %.300s", status, body))
					}
					mu.Unlock()
				}
			})
		}
		reading.Wait()
		n, err := s.admin.Node(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		own, children := s.memory()
		b.ReportMetric(float64(n.Live), "live")
		b.ReportMetric(float64(len(times)), "reads")
		b.ReportMetric(float64(failed), "errors")
		b.ReportMetric(quantile(times, .5), "p50-ms")
		b.ReportMetric(quantile(times, .99), "p99-ms")
		b.ReportMetric(own, "server-MiB")
		b.ReportMetric(children, "children-MiB")
		b.ReportMetric(starting.Seconds(), "starting-s")
		b.ReportMetric(killed(group), "killed")
		if failed > 0 {
			b.Logf("first error: %s", first)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// newGroup makes a control group that bounds the memory of what runs in it, of version 2 or 1, and returns its folder; none where there
// can be none.
func newGroup(b *testing.B, bytes int) string {
	for root, limit := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		dir := filepath.Join(root, fmt.Sprintf("wasmres-bench-%d", os.Getpid()))
		if os.Mkdir(dir, 0o700) != nil {
			continue
		}
		b.Cleanup(func() { _ = os.Remove(dir) })
		if _, err := os.Stat(filepath.Join(dir, limit)); err == nil && os.WriteFile(filepath.Join(dir, limit), []byte(strconv.Itoa(bytes)), 0o600) == nil {
			return dir
		}
	}
	b.Log("no control group can be made that bounds memory")
	return ""
}

// killed returns how many processes of a control group the system has killed; -1 without a group.
func killed(group string) float64 {
	for _, name := range []string{"memory.events", "memory.oom_control"} {
		text, _ := os.ReadFile(filepath.Join(group, name)) // of one of the versions
		_, rest, ok := strings.Cut(string(text), "oom_kill ")
		var n int
		if _, err := fmt.Sscan(rest, &n); ok && err == nil {
			return float64(n)
		}
	}
	return -1
}
