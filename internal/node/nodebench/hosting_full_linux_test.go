package nodebench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/hosttest"
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
	group := hosttest.MemoryGroup(b, limit)
	if group == "" {
		b.Log("no control group can be made that bounds memory")
	}
	s := startWith(b, func(cmd *exec.Cmd) {
		if group != "" {
			cmd.Args = append([]string{"sh", "-c", `echo $$ >"$1/cgroup.procs" && shift && exec "$@"`, "sh", group, cmd.Path}, cmd.Args[1:]...)
			cmd.Path = "/bin/sh"
		}
	}, "serve", "--config", filepath.Join(f.dir, "serve.yaml"), "--cache-dir", b.TempDir()) // the native code of 250 owners fills a cache
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
		if kills, ok := hosttest.Kills(group); ok {
			b.ReportMetric(float64(kills), "killed")
		}
		if failed > 0 {
			b.Logf("first error: %s", first)
		}
	}
	b.ReportMetric(0, "ns/op")
}
