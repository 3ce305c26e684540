package nodebench

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkHostingWake calls so many tenants as -hosting.crowd, whose providers have no process, within one second, each over a connection
// of its own. A client that is told when to retry does that, until it is served. One tenant that has a process is read 40 times a second
// before that, and meanwhile.
func BenchmarkHostingWake(b *testing.B) {
	allow(b, *crowd)
	for b.Loop() {
		f := newFarm(b, "")
		f.many(b, *crowd, *digests, keyed)
		s := f.serve(b)
		keys := make([]string, *crowd)
		for i := range keys {
			keys[i] = s.key(idOf(i))
		}
		compiled := min(*digests*4, *crowd)
		for i := range compiled {
			if _, err := s.once(read(idOf(i), keys[i], languageOf(i).uri)); err != nil {
				b.Fatal(err)
			}
		}
		live, c := read(idOf(0), keys[0], languageOf(0).uri), s.dial()
		alone := c.readUntil(b, live, time.After(5*time.Second))
		w := &waking{server: s}
		woken := make(chan time.Time, 1)
		began := time.Now()
		for i := compiled; i < *crowd; i++ {
			w.calling.Go(func() { w.call(read(idOf(i), keys[i], languageOf(i).uri)) })
		}
		go func() { w.calling.Wait(); woken <- time.Now() }()
		beside := c.readUntil(b, live, woken)
		b.ReportMetric(time.Since(began).Seconds(), "all-s")
		b.ReportMetric(quantile(w.times, .5), "p50-ms")
		b.ReportMetric(quantile(w.times, .99), "p99-ms")
		b.ReportMetric(float64(w.later.Load()), "retries")
		b.ReportMetric(float64(w.failed.Load()), "errors")
		b.ReportMetric(quantile(alone, .99), "live-alone-p99-ms")
		b.ReportMetric(quantile(beside, .99), "live-beside-p99-ms")
		b.ReportMetric(s.resident(), "server-MiB")
		if e := w.first.Load(); e != nil {
			b.Logf("first error: %s", *e)
		}
		s.stop()
	}
	b.ReportMetric(0, "ns/op")
}

// readUntil sends a request 40 times a second, and returns how long each took.
func (c *client) readUntil(b *testing.B, request []byte, end <-chan time.Time) (times []time.Duration) {
	tick := time.NewTicker(time.Second / 40)
	defer tick.Stop()
	for {
		times = append(times, c.get(b, request))
		select {
		case <-end:
			return times
		case <-tick.C:
		}
	}
}

// A waking calls tenants that are cold.
type waking struct {
	server  *server
	calling sync.WaitGroup

	later, failed atomic.Int64
	first         atomic.Pointer[string] // error

	mu    sync.Mutex
	times []time.Duration // until a client was served
}

// call sends a request at some time of one second, and again as long as the client is told to.
func (w *waking) call(request []byte) {
	time.Sleep(rand.N(time.Second))
	w.callNow(request)
}

// callNow sends a request, and again as long as the client is told to.
func (w *waking) callNow(request []byte) {
	began := time.Now()
	for {
		c, err := dial(w.server.address)
		if err != nil {
			w.fail(err.Error())
			return
		}
		status, body, _, err := c.exchange(request)
		c.Close()
		switch retry, isLater := retryOf(body); {
		case err != nil:
			w.fail(err.Error())
			return
		case isResult(status, body):
			w.mu.Lock()
			w.times = append(w.times, time.Since(began))
			w.mu.Unlock()
			return
		case !isLater:
			w.fail(string(body))
			return
		default:
			w.later.Add(1)
			time.Sleep(retry)
		}
	}
}

func (w *waking) fail(text string) {
	w.failed.Add(1)
	w.first.CompareAndSwap(nil, &text)
}

// retryOf returns the time after which an answer tells the client to retry.
func retryOf(body []byte) (time.Duration, bool) {
	_, rest, ok := strings.Cut(string(body), `"retryAfterMs":`)
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	ms, err := strconv.Atoi(digits)
	return time.Duration(ms) * time.Millisecond, ok && err == nil
}

// BenchmarkHostingStarts is the latency of a tenant's reads, 40 a second, alone, and while the providers of 20 other tenants start each
// second, one in four of them in Go. They take turns.
func BenchmarkHostingStarts(b *testing.B) {
	const others, every, turns = 100, time.Second / 20, 4 // each of the others rests for five seconds
	f := newFarm(b, "idle: 1s\n"+unbounded)
	f.many(b, others+1, *digests, anonymous)
	s := f.serve(b)
	for i := range others + 1 {
		if _, err := s.once(read(idOf(i), "", languageOf(i).uri)); err != nil {
			b.Fatal(err)
		}
	}
	s.awaitNoneLive()
	live, c := read(idOf(0), "", languageOf(0).uri), s.dial()
	c.get(b, live)
	var alone, beside []time.Duration
	w := &waking{server: s}
	next := 0
	for b.Loop() {
		for range turns {
			alone = append(alone, c.readUntil(b, live, time.After(*seconds/(2*turns)))...)
			end, started := time.After(*seconds/(2*turns)), make(chan struct{})
			stop := make(chan struct{})
			go func() {
				defer close(started)
				for tick := time.Tick(every); ; next++ {
					select {
					case <-stop:
						return
					case <-tick:
					}
					i := 1 + next%others
					w.calling.Go(func() { w.callNow(read(idOf(i), "", languageOf(i).uri)) })
				}
			}()
			beside = append(beside, c.readUntil(b, live, end)...)
			close(stop)
			<-started
			w.calling.Wait()
		}
	}
	b.ReportMetric(quantile(alone, .99), "alone-p99-ms")
	b.ReportMetric(quantile(beside, .99), "beside-p99-ms")
	b.ReportMetric(quantile(beside, .99)/quantile(alone, .99), "beside/alone")
	b.ReportMetric(quantile(alone, .5), "alone-p50-ms")
	b.ReportMetric(quantile(beside, .5), "beside-p50-ms")
	b.ReportMetric(quantile(w.times, .5), "start-p50-ms")
	b.ReportMetric(float64(len(w.times)), "starts")
	b.ReportMetric(float64(w.failed.Load()), "errors")
	if e := w.first.Load(); e != nil {
		b.Logf("first error: %s", *e)
	}
	b.ReportMetric(0, "ns/op")
}
