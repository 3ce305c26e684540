package nodebench

import (
	"fmt"
	"os"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
)

// inCompute is a provider that computes for as many thousand steps as its URI says.
var inCompute = language{"compute", "compute://1000", "compute://%d", func(b testing.TB) []byte {
	binary, err := os.ReadFile(guesttest.Computing(b))
	if err != nil {
		b.Fatal(err)
	}
	return binary
}}

// weightedPlans has plans for tenants of a weight that may send as many requests as they can.
const weightedPlans = "plans: {w1: {weight: 1, " + unlimited + "}, w3: {weight: 3, " + unlimited + "}}\n"

const unlimited = "limits: {timeout: 60s}, requests: {rate: 1000000/s, burst: 1000000}, principal_requests: {rate: 1000000/s, burst: 1000000}, concurrent: 10000"

// weighted are the settings of Fair and Light.
func weighted() string {
	if *calls == 0 {
		return weightedPlans
	}
	return weightedPlans + fmt.Sprintf("processors: {calls: %d}\n", *calls)
}

// A flood is clients of one tenant that send the next request when they have the answer to the last one.
type flood struct {
	tenant string
	steps  int // thousands, of each call
	worker int // the process of its provider

	answered atomic.Int64
	sending  sync.WaitGroup
}

// newFlood has the provider of a tenant started, and finds its process.
func (s *server) newFlood(tenantID string, steps int) *flood {
	s.b.Helper()
	f := &flood{tenant: tenantID, steps: steps}
	c := s.dial()
	c.get(s.b, read(tenantID, "", "compute://1"))
	before := processes()
	c.get(s.b, read(tenantID, "", "compute://50000")) // keeps it busy for some 100 ms
	var most time.Duration
	below(processes(), s.cmd.Process.Pid, func(pid int, p process) {
		if more := p.cpu - before[pid].cpu; more > most {
			f.worker, most = pid, more
		}
	})
	return f
}

// begin sends over so many connections until end is closed. Each request is answered, or the benchmark fails.
func (f *flood) begin(s *server, connections int, end chan struct{}) {
	request := read(f.tenant, "", fmt.Sprintf(inCompute.template, f.steps))
	for range connections {
		c := s.dial()
		f.sending.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				status, body, _, err := c.exchange(request)
				if err != nil || !isResult(status, body) {
					s.b.Errorf("%s got %d %.300s, %v", f.tenant, status, body, err)
					return
				}
				f.answered.Add(1)
			}
		})
	}
}

// used returns the processor time of the process of its provider.
func (f *flood) used() time.Duration { return processes()[f.worker].cpu }

// BenchmarkHostingFair is what two tenants of weights 1 and 3 get of the processors, both of whom want more than there is, over HTTP and
// by the clocks of the processes of their providers. One case has calls of different lengths, one more calls of the lighter tenant.
func BenchmarkHostingFair(b *testing.B) {
	for _, one := range []struct {
		name               string
		steps, connections [2]int // of the tenants of weights 1 and 3
	}{
		{"same", [2]int{3000, 3000}, [2]int{16, 16}},
		{"long-short", [2]int{30000, 1000}, [2]int{16, 32}},
		{"short-long", [2]int{1000, 30000}, [2]int{32, 16}},
		{"many-few", [2]int{3000, 3000}, [2]int{60, 8}},
	} {
		b.Run(one.name, func(b *testing.B) {
			f := newFarm(b, weighted())
			f.modules(b, inCompute, 1)
			f.tenant(b, "one", inCompute, 0, anonymous, "plan: w1\n")
			f.tenant(b, "three", inCompute, 0, anonymous, "plan: w3\n")
			s := f.serve(b)
			floods := [2]*flood{s.newFlood("one", one.steps[0]), s.newFlood("three", one.steps[1])}
			if floods[0].worker == floods[1].worker {
				b.Fatal("the processes of the providers were not found")
			}
			for b.Loop() {
				end := make(chan struct{})
				for i, f := range floods {
					f.begin(s, one.connections[i], end)
				}
				time.Sleep(time.Second) // both wait by then
				began, used := time.Now(), [2]time.Duration{floods[0].used(), floods[1].used()}
				answered := [2]int64{floods[0].answered.Load(), floods[1].answered.Load()}
				time.Sleep(*seconds)
				took := time.Since(began)
				var all time.Duration
				for i, f := range floods {
					used[i] = f.used() - used[i]
					answered[i] = f.answered.Load() - answered[i]
					all += used[i]
				}
				close(end)
				for _, f := range floods {
					f.sending.Wait()
				}
				b.ReportMetric(100*used[1].Seconds()/all.Seconds(), "%-of-weight-3")
				b.ReportMetric(100*all.Seconds()/took.Seconds()/float64(goruntime.NumCPU()), "%-in-providers")
				b.ReportMetric(float64(answered[0])/took.Seconds(), "one/s")
				b.ReportMetric(float64(answered[1])/took.Seconds(), "three/s")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkHostingLight is the latency of short calls of a tenant, 40 a second, alone and beside a tenant that keeps all processors
// busy with calls of tens of milliseconds. Both have the same weight. They take turns.
func BenchmarkHostingLight(b *testing.B) {
	const turns = 4
	f := newFarm(b, weighted())
	f.modules(b, inCompute, 1)
	f.tenant(b, "light", inCompute, 0, anonymous, "plan: w1\n")
	f.tenant(b, "heavy", inCompute, 0, anonymous, "plan: w1\n")
	s := f.serve(b)
	heavy := s.newFlood("heavy", 10000)
	light := s.dial()
	short := read("light", "", "compute://300")
	light.get(b, short)
	var alone, beside []time.Duration
	var took, busy time.Duration
	var done int64
	measure := func() (times []time.Duration) {
		tick := time.NewTicker(time.Second / 40)
		defer tick.Stop()
		for until := time.Now().Add(*seconds / (2 * turns)); time.Now().Before(until); {
			<-tick.C
			times = append(times, light.get(b, short))
		}
		return times
	}
	for b.Loop() {
		for range turns {
			alone = append(alone, measure()...)
			end := make(chan struct{})
			heavy.begin(s, 16, end)
			time.Sleep(300 * time.Millisecond)
			began, used, answered := time.Now(), heavy.used(), heavy.answered.Load()
			beside = append(beside, measure()...)
			took, busy, done = took+time.Since(began), busy+heavy.used()-used, done+heavy.answered.Load()-answered
			close(end)
			heavy.sending.Wait()
		}
	}
	for name, times := range map[string][]time.Duration{"alone": alone, "beside": beside} {
		b.ReportMetric(quantile(times, .5), name+"-p50-ms")
		b.ReportMetric(quantile(times, .99), name+"-p99-ms")
		b.ReportMetric(quantile(times, 1), name+"-worst-ms")
	}
	b.ReportMetric(100*busy.Seconds()/took.Seconds()/float64(goruntime.NumCPU()), "%-in-heavy")
	b.ReportMetric(milli(busy)/float64(done), "cpu-ms/heavy")
	b.ReportMetric(0, "ns/op")
}
