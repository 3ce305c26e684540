package nodebench

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/authtest"
)

// BenchmarkHostingAuthRead is the processor time of the server for a small read over one connection: with a key, with a token
// of an issuer, by a client without either whom the tenant permits everything, and of wasmres run, which does not authenticate. They take
// turns.
func BenchmarkHostingAuthRead(b *testing.B) {
	issuer := authtest.New(b)
	f := newFarm(b, tokenSettings+unbounded)
	f.modules(b, inGo, 1)
	f.tenant(b, "keyed", inGo, 0, keyed, "plan: unbounded\n")
	f.tenant(b, "tokened", inGo, 0, tokened(issuer), "plan: unbounded\n")
	f.tenant(b, "open", inGo, 0, anonymous, "plan: unbounded\n")
	s := f.serve(b)
	alone := start(b, "run", "--http", "127.0.0.1:0", "--log-level", "warn", f.dir+"/"+moduleName(inGo, 0))
	kinds := []*kind{
		{name: "key", of: s, request: read("keyed", s.key("keyed"), inGo.uri)},
		{name: "token", of: s, request: read("tokened", issuer.Token(resourceOf("tokened")), inGo.uri)},
		{name: "anonymous", of: s, request: read("open", "", inGo.uri)},
		{name: "run", of: alone, request: post("/mcp", "", "resources/read", inGo.uri)},
	}
	for _, k := range kinds {
		k.prepare(b)
	}
	const turns = 20
	for b.Loop() {
		for range turns {
			for _, k := range kinds {
				k.turn(b, *requests/turns)
			}
		}
	}
	n := float64(b.N * (*requests / turns) * turns)
	for _, k := range kinds {
		b.ReportMetric(float64(k.own.Microseconds())/n, k.name+"-us")
		b.ReportMetric(float64(k.whole.Microseconds())/n, k.name+"-with-worker-us")
	}
	b.ReportMetric(kinds[0].own.Seconds()/kinds[2].own.Seconds(), "key/anonymous")
	b.ReportMetric(kinds[1].own.Seconds()/kinds[2].own.Seconds(), "token/anonymous")
	b.ReportMetric(kinds[0].own.Seconds()/kinds[3].own.Seconds(), "key/run")
	b.ReportMetric(kinds[1].own.Seconds()/kinds[3].own.Seconds(), "token/run")
	b.ReportMetric(0, "ns/op")
}

// A kind of client sends one request again and again.
type kind struct {
	name       string
	of         *server
	request    []byte
	c          *client
	answer     []byte
	own, whole time.Duration // of the server
}

// prepare connects, and has the provider started.
func (k *kind) prepare(b *testing.B) {
	k.c = k.of.dial()
	for range 100 {
		k.c.get(b, k.request)
	}
	if _, err := k.c.Write(k.request); err != nil {
		b.Fatal(err)
	}
	answer := make([]byte, 64<<10)
	n := 0
	for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); {
		if err := k.c.SetReadDeadline(until); err != nil {
			b.Fatal(err)
		}
		more, _ := k.c.in.Read(answer[n:])
		n += more
	}
	if err := k.c.SetDeadline(time.Time{}); err != nil {
		b.Fatal(err)
	}
	if !strings.Contains(string(answer[:n]), `"result":`) {
		b.Fatalf("%s got %s", k.name, answer[:n])
	}
	k.answer = answer[:n]
}

// turn sends the request n times. All answers are as long.
func (k *kind) turn(b *testing.B, n int) {
	own, whole := k.of.used()
	for range n {
		k.exchange(b, k.request)
	}
	if !strings.Contains(string(k.answer), `"result":`) {
		b.Fatalf("%s got %s", k.name, k.answer)
	}
	ownAfter, wholeAfter := k.of.used()
	k.own += ownAfter - own
	k.whole += wholeAfter - whole
}

// exchange sends a request whose answer is as long as those of k.request, and reads it.
func (k *kind) exchange(b *testing.B, request []byte) {
	if _, err := k.c.Write(request); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(k.c.in, k.answer); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkHostingBeside is the latency of a tenant's reads, 40 a second, while no other tenant is served, and while another
// tenant is sent 50 times the requests that its plan permits. They take turns.
func BenchmarkHostingBeside(b *testing.B) {
	const planned, factor, connections, turns = 50, 50, 50, 4
	f := newFarm(b, "plans: {small: {requests: {rate: 50/s}}}\n")
	f.modules(b, inGo, 1)
	f.tenant(b, "calm", inGo, 0, keyed, "")
	f.tenant(b, "flood", inGo, 0, keyed, "plan: small\n")
	s := f.serve(b)
	calm, flood := read("calm", s.key("calm"), inGo.uri), read("flood", s.key("flood"), inGo.uri)
	c := s.dial()
	c.get(b, calm)
	s.dial().get(b, flood)
	var alone, beside []time.Duration
	var answered, sent atomic.Int64
	var flooded time.Duration
	measure := func() (times []time.Duration) {
		tick := time.NewTicker(time.Second / 40)
		defer tick.Stop()
		for until := time.Now().Add(*seconds / (2 * turns)); time.Now().Before(until); {
			<-tick.C
			times = append(times, c.get(b, calm))
		}
		return times
	}
	for b.Loop() {
		for range turns {
			alone = append(alone, measure()...)
			end := make(chan struct{})
			var flooding sync.WaitGroup
			for range connections {
				one := s.dial()
				flooding.Go(func() { one.pour(end, flood, planned*factor/connections, &sent, &answered) })
			}
			began := time.Now()
			beside = append(beside, measure()...)
			flooded += time.Since(began)
			close(end)
			flooding.Wait()
			time.Sleep(200 * time.Millisecond)
		}
	}
	b.ReportMetric(quantile(alone, .99), "alone-p99-ms")
	b.ReportMetric(quantile(beside, .99), "beside-p99-ms")
	b.ReportMetric(quantile(beside, .99)/quantile(alone, .99), "beside/alone")
	b.ReportMetric(quantile(alone, .5), "alone-p50-ms")
	b.ReportMetric(quantile(beside, .5), "beside-p50-ms")
	b.ReportMetric(float64(sent.Load())/flooded.Seconds(), "flood/s")
	b.ReportMetric(float64(answered.Load())/flooded.Seconds(), "flood-answered/s")
	b.ReportMetric(0, "ns/op")
}

// pour sends a request so many times a second.
func (c *client) pour(end chan struct{}, request []byte, perSecond int, sent, answered *atomic.Int64) {
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		status, body, _, err := c.exchange(request)
		if err != nil {
			return
		}
		sent.Add(1)
		if isResult(status, body) {
			answered.Add(1)
		}
	}
}

// BenchmarkHostingCrowd sends a mixed load of many tenants over ten connections each: reads, half of them of templates,
// lists, and reads that find nothing; one connection in ten has a stream of changes. Before that, each tenant is called once,
// so that its provider has a process: two at a time, since a crowd that comes at once would wait for processes, and be told
// when to retry.
func BenchmarkHostingCrowd(b *testing.B) {
	allow(b, *crowd)
	f := newFarm(b, "")
	f.many(b, *crowd, *digests, keyed)
	s := f.serve(b)
	keys := make([]string, *crowd)
	for i := range keys {
		keys[i] = s.key(idOf(i))
	}
	starting := s.startAll(*crowd, keys)
	for b.Loop() {
		l := &load{server: s, connections: 10 * *crowd, rate: float64(*rate), end: make(chan struct{})}
		for i := range l.connections {
			id := i % *crowd
			l.working.Go(func() { l.work(i, idOf(id), keys[id], languageOf(id)) })
		}
		ramp := *seconds / 4
		time.Sleep(ramp + *seconds/2) // each connection has sent requests, and has its buffers
		before := s.resident()
		time.Sleep(*seconds / 4)
		n, err := s.admin.Node(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		last, open := s.resident(), l.open.Load()
		_, children := s.memory()
		close(l.end)
		l.working.Wait()
		b.ReportMetric(float64(open), "connections")
		b.ReportMetric(float64(n.Live), "live")
		b.ReportMetric(float64(l.done.Load()), "requests")
		b.ReportMetric(float64(l.failed.Load()), "errors")
		b.ReportMetric(quantile(l.times, .5), "p50-ms")
		b.ReportMetric(quantile(l.times, .99), "p99-ms")
		b.ReportMetric(before, "before-MiB")
		b.ReportMetric(last, "end-MiB")
		b.ReportMetric(children, "children-MiB")
		b.ReportMetric(starting.Seconds(), "starting-s")
		if f := l.first.Load(); f != nil {
			b.Logf("first error: %s", *f)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// startAll calls each of so many tenants once, two at a time, and returns how long that took without the calls that have the
// modules compiled.
func (s *server) startAll(n int, keys []string) time.Duration {
	s.b.Helper()
	call := func(i int) {
		if _, err := s.once(read(idOf(i), keys[i], languageOf(i).uri)); err != nil {
			s.b.Errorf("first call of tenant %d: %v", i, err)
		}
	}
	compiled := min(*digests*4, n)
	for i := range compiled {
		call(i)
	}
	began := time.Now()
	next, calling := make(chan int), sync.WaitGroup{}
	for range 2 {
		calling.Go(func() {
			for i := range next {
				call(i)
			}
		})
	}
	for i := compiled; i < n; i++ {
		next <- i
	}
	close(next)
	calling.Wait()
	return time.Since(began)
}

// allow raises the number of files that this process and the server may have open, each for itself. Of a tenant, the server has ten
// connections and a process, which takes nine; it leaves a 32nd to others.
func allow(b *testing.B, tenants int) {
	b.Helper()
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		b.Fatal(err)
	}
	l.Cur = l.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		b.Fatal(err)
	}
	if need := uint64(20 * tenants); l.Max < need {
		b.Skipf("the limit of open files is %d, this needs %d: raise it with 'ulimit -Hn %d' as root", l.Max, need, need)
	}
}

// once sends a request over a connection of its own.
func (s *server) once(request []byte) ([]byte, error) {
	c, err := dial(s.address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	status, body, _, err := c.exchange(request)
	if err == nil && !isResult(status, body) {
		err = fmt.Errorf("got %d %.300s", status, body)
	}
	return body, err
}

// A load is many connections.
type load struct {
	server      *server
	connections int
	rate        float64 // requests a second, of all
	end         chan struct{}
	working     sync.WaitGroup

	open, done, failed atomic.Int64
	first              atomic.Pointer[string] // error

	mu    sync.Mutex
	times []time.Duration
}

// idle is how long a client keeps a connection without requests; the server closes it after 105 seconds at the earliest: it sets the
// deadline of two minutes anew when an eighth of it is over.
const idle = 100 * time.Second

// work connects at some time of the first quarter, and sends requests until the end.
func (l *load) work(i int, id, key string, lang language) {
	if !l.pause(time.Duration(rand.Int64N(int64(*seconds / 4)))) {
		return
	}
	c, err := dial(l.server.address)
	if err != nil {
		l.fail("connect", err.Error())
		return
	}
	defer func() { c.Close() }()
	l.open.Add(1)
	if i < l.connections/10 {
		l.listen(c, id, key)
		return
	}
	for {
		mean := float64(l.connections) / l.rate * float64(time.Second)
		rest := time.Duration(rand.ExpFloat64() * mean)
		if !l.pause(rest) {
			return
		}
		if rest > idle { // the server closes it about now: clients of HTTP connect anew
			c.Close()
			if c, err = dial(l.server.address); err != nil {
				l.fail("connect again", err.Error())
				return
			}
		}
		request, want := pick(id, key, lang)
		status, body, took, err := c.exchange(request)
		if err != nil {
			l.fail("request", err.Error())
			return
		}
		l.done.Add(1)
		if status != http.StatusOK || !strings.Contains(string(body), want) {
			l.fail(string(request[:min(len(request), 60)]), fmt.Sprintf("%d %.300s", status, body))
		}
		l.mu.Lock()
		l.times = append(l.times, took)
		l.mu.Unlock()
	}
}

// pick chooses a request, with what is in its answer.
func pick(id, key string, lang language) (request []byte, want string) {
	switch n := rand.IntN(100); {
	case n < 40:
		return read(id, key, lang.uri), `"contents":`
	case n < 80:
		return read(id, key, fmt.Sprintf(lang.template, n)), `"contents":`
	case n < 95:
		return post(pathOf(id), key, "resources/list", ""), `"resources":`
	default:
		return read(id, key, "nothing://here"), `not_found`
	}
}

// listen has a stream of changes until the end.
func (l *load) listen(c *client, id, key string) {
	if _, err := c.Write(post(pathOf(id), key, "subscriptions/listen", "")); err != nil {
		l.fail("listen", err.Error())
		return
	}
	line, err := c.in.ReadString('\n')
	if err != nil || !strings.Contains(line, " 200 ") {
		l.fail("listen", fmt.Sprintf("%q, %v", line, err))
		return
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, c.in)
		ended <- err
	}()
	select {
	case err := <-ended:
		l.fail("the stream has ended", fmt.Sprint(err))
	case <-l.end:
		c.Close()
		<-ended
	}
}

// pause waits, and reports whether the load goes on.
func (l *load) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-l.end:
		return false
	}
}

func (l *load) fail(what, why string) {
	l.failed.Add(1)
	text := what + ": " + why
	l.first.CompareAndSwap(nil, &text)
}
