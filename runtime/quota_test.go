package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/resource"
)

// refusal is what the error of an answer says of a limit.
type refusal struct {
	Code int
	Data struct {
		Code, Limit, Of string
		RetryAfterMs    int64
	}
}

// refusalOf gives the refusal in an answer; zero for none.
func refusalOf(t *testing.T, a answer) refusal {
	t.Helper()
	text := a.text
	if _, data, ok := strings.Cut(text, "data: {"); ok { // the SDK answers by an event
		text = "{" + data
	}
	var m struct{ Error refusal }
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v: %s", err, a.text)
	}
	return m.Error
}

// Each limit is told in the same way in both eras: by an error in a response of status 200, and by a status for downloads.
func TestLimitsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		plan            tenant.Plan
		use             func(t *testing.T, q *quota.Tenant) // uses the limit up
		code, limit, of string
	}{
		"requests of a principal": {
			tenant.Plan{PrincipalRequests: tenant.Rate{PerSecond: 1e-3, Burst: 20}}, func(t *testing.T, q *quota.Tenant) {
				drain(q, "=ada")
			}, "limited", admission.Requests, "principal",
		},
		"requests of the tenant": {
			tenant.Plan{Requests: tenant.Rate{PerSecond: 1e-3, Burst: 20}}, func(t *testing.T, q *quota.Tenant) {
				drain(q, "=other")
			}, "limited", admission.Requests, "tenant",
		},
		"requests at once": {
			tenant.Plan{Concurrent: 3}, func(t *testing.T, q *quota.Tenant) {
				for n := 0; n < 3; { // the last request of before may not have left
					if _, ok := q.Account("=other", admission.Principal).Enter(1); ok {
						n++
					}
				}
			}, "limited", admission.Concurrency, "tenant",
		},
		"bytes a second": {
			tenant.Plan{BytesPerSecond: 10_000}, func(t *testing.T, q *quota.Tenant) {
				q.Account("=other", admission.Principal).Write(1 << 20)
			}, "limited", admission.Bytes, "tenant",
		},
		"bytes of the day": {
			tenant.Plan{BytesPerDay: 1 << 20}, func(t *testing.T, q *quota.Tenant) {
				q.Account("=other", admission.Principal).Write(1 << 20)
			}, "exhausted", admission.BytesDay, "tenant",
		},
		"processor time of the day": {
			tenant.Plan{CPUPerDay: time.Second}, func(t *testing.T, q *quota.Tenant) {
				q.Used(limits.Usage{CPU: time.Second})
			}, "exhausted", admission.CPUDay, "tenant",
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := &counting{Source: streamtest.Source()}
			q := quota.New(&c.plan)
			e := serveHTTP(t, source, runtime.ServerOptions{
				Auth: clientsOf{"Bearer ada": identityOf(t, "ada", "list,read,download **")}, Admission: q,
			})
			eras := e.eras("Bearer ada")
			for kind, era := range eras {
				if got := era.read("test://text"); !strings.Contains(got.text, "hello") {
					t.Fatalf("%s, before: got %d %s", kind, got.status, got.text)
				}
			}
			c.use(t, q)
			calls := source.calls.Load()
			for kind, era := range eras {
				// the simple one of the fast path, and others
				for method, params := range map[string]string{
					"resources/read": `"uri":"test://text"`, "resources/list": "", "completion/complete": "",
					"resources/templates/list": `"_meta":{"progressToken":1}`,
				} {
					if kind == "modern" && method == "resources/templates/list" {
						continue // it has a _meta of its own
					}
					got := era.call(method, params)
					r := refusalOf(t, got)
					if got.status != 200 || r.Code != 429 || r.Data.Code != c.code || r.Data.Limit != c.limit || r.Data.Of != c.of || r.Data.RetryAfterMs <= 0 {
						t.Errorf("%s, %s: got %d %s", kind, method, got.status, got.text)
					}
				}
				large := fmt.Sprintf(`"uri":"test://text","other":%q`, strings.Repeat("x", 100_000))
				for what, got := range map[string]answer{
					"download": era.download("test://text"), "a body that is not read": era.call("resources/read", large),
				} {
					r := refusalOf(t, got)
					retry, err := strconv.Atoi(got.header.Get("Retry-After"))
					if got.status != http.StatusTooManyRequests || r.Data.Code != c.code || r.Data.Limit != c.limit || err != nil || retry < 1 {
						t.Errorf("%s, %s: got %d %v %s", kind, what, got.status, got.header, got.text)
					}
				}
			}
			if got := eras["session"].notify(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`); got.status != 202 {
				t.Errorf("a notification got %d %s", got.status, got.text)
			}
			if n := source.calls.Load() - calls; n != 0 {
				t.Errorf("the source got %d calls", n)
			}
		})
	}
}

// drain uses up the requests of a client.
func drain(q *quota.Tenant, key string) {
	a := q.Account(key, admission.Principal)
	for {
		if _, ok := a.Enter(1); !ok {
			return
		}
		a.Leave()
	}
}

// Streams beyond the limit are refused in both eras, and those that end give their places back.
func TestLimitOfStreams(t *testing.T) {
	q := quota.New(&tenant.Plan{Streams: 3, PrincipalStreams: 2})
	clients := clientsOf{"Bearer ada": identityOf(t, "ada", "list,read,watch **"), "Bearer ben": identityOf(t, "ben", "list,read,watch **")}
	source := streamtest.Source()
	e := serveHTTP(t, source, runtime.ServerOptions{Auth: clients, Admission: q})
	listen := func(credential string) (*http.Response, refusal) {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		body := streamtest.Body("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://text"]}`)
		like := streamtest.Post(body, "Authorization", credential)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, like.Body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = like.Header
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
			return response, refusal{}
		}
		var m struct{ Error refusal }
		if err := json.NewDecoder(response.Body).Decode(&m); err != nil || response.StatusCode != 200 {
			t.Errorf("status %d, %v", response.StatusCode, err)
		}
		return response, m.Error
	}
	want := func(got refusal, of string) {
		t.Helper()
		if of == "" && got != (refusal{}) || of != "" && (got.Code != -32603 || got.Data.Limit != "subscriptions" || got.Data.Of != of || got.Data.RetryAfterMs <= 0) {
			t.Errorf("got %+v, want a refusal of the %q", got, of)
		}
	}
	first, got := listen("Bearer ada")
	want(got, "")
	old := e.eras("Bearer ada")["session"]
	want(refusalOf(t, old.call("resources/subscribe", `"uri":"test://text"`)), "") // the second stream
	want(refusalOf(t, old.call("resources/subscribe", `"uri":"test://slow"`)), "") // of the same session
	_, got = listen("Bearer ada")
	want(got, "principal")
	another := e.eras("Bearer ada")["session"]
	want(refusalOf(t, another.call("resources/subscribe", `"uri":"test://text"`)), "principal")
	refused := another.do(http.MethodGet, "", "", "Bearer ada", append(another.headers(), "Accept", "text/event-stream")...)
	if r := refusalOf(t, refused); refused.status != http.StatusTooManyRequests || r.Data.Limit != "subscriptions" {
		t.Errorf("a stream of a session: got %d %s", refused.status, refused.text)
	}
	_, got = listen("Bearer ben")
	want(got, "")
	_, got = listen("Bearer ben")
	want(got, "tenant")
	open := source.Watchers()
	first.Body.Close()
	source.AwaitWatchers(open - 1)
	for end := time.Now().Add(10 * time.Second); ; { // the server notices a little later
		if _, got = listen("Bearer ben"); got == (refusal{}) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the place of a stream that has ended is not free: %+v", got)
		}
	}
	for _, uri := range []string{"test://text", "test://slow"} {
		old.call("resources/unsubscribe", fmt.Sprintf(`"uri":%q`, uri))
	}
	want(refusalOf(t, another.call("resources/subscribe", `"uri":"test://text"`)), "")
}

// A session beyond the limit is refused with an error that says so, and ended sessions give their places back.
func TestLimitOfSessions(t *testing.T) {
	q := quota.New(&tenant.Plan{Sessions: 2})
	e := serveHTTP(t, streamtest.Source(), runtime.ServerOptions{Auth: clientsOf{"Bearer ada": identityOf(t, "ada", "read **")}, Admission: q})
	first := e.eras("Bearer ada")["session"]
	e.eras("Bearer ada")
	open := func() answer { return e.do(http.MethodPost, "", initialize, "Bearer ada", "MCP-Protocol-Version", "") }
	got := open()
	if r := refusalOf(t, got); got.status != 200 || r.Code != 429 || r.Data.Limit != "sessions" || r.Data.Of != "tenant" {
		t.Errorf("a third session: got %d %s", got.status, got.text)
	}
	first.do(http.MethodDelete, "", "", "Bearer ada", first.headers()...)
	if got := open(); got.header.Get("Mcp-Session-Id") == "" {
		t.Errorf("after one has ended: got %d %s", got.status, got.text)
	}
}

// A limited source is one whose provider may not be called.
type limitedSource struct {
	*mcptest.Source
	admit func(context.Context) error
}

func (l limitedSource) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	if err := l.admit(ctx); err != nil {
		return nil, fmt.Errorf("provider p: %w", err)
	}
	return l.Source.Read(ctx, req, sink)
}

func TestLimitOfAProvider(t *testing.T) {
	q := quota.New(&tenant.Plan{ProviderRequests: tenant.Rate{PerSecond: 1e-3, Burst: 1}})
	e := serveHTTP(t, limitedSource{streamtest.Source(), q.Provider("p")}, runtime.ServerOptions{
		Auth: clientsOf{"Bearer ada": identityOf(t, "ada", "read,download **")}, Admission: q,
	})
	eras := e.eras("Bearer ada")
	eras["modern"].read("test://text")
	for name, era := range eras {
		got := era.read("test://text")
		if r := refusalOf(t, got); got.status != 200 || r.Code != 429 || r.Data.Limit != "requests" || r.Data.Of != "provider" || r.Data.RetryAfterMs <= 0 {
			t.Errorf("%s: got %d %s", name, got.status, got.text)
		}
	}
	if got := eras["modern"].download("test://text"); got.status != http.StatusTooManyRequests {
		t.Errorf("a download: got %d %s", got.status, got.text)
	}
}

// An answer that may not be sent in time is replaced by an error, or cut off if it has begun; a download is cut off.
func TestAnswersThatMayNotBeSent(t *testing.T) {
	source := streamtest.Library()
	source.Text("test://8k", strings.Repeat("x", 8_000))
	e := serveHTTP(t, source, runtime.ServerOptions{
		Auth: clientsOf{"Bearer ada": identityOf(t, "ada", "read,download **")}, Admission: quota.New(&tenant.Plan{BytesPerSecond: 100}),
	})
	got := era{e, "Bearer ada", ""}.read("test://8k")
	if r := refusalOf(t, got); got.status != 200 || r.Data.Limit != "bytes" || r.Data.Of != "tenant" {
		t.Errorf("got %d %.300s", got.status, got.text)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url+"?uri="+url.QueryEscape("test://1m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer ada")
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		defer response.Body.Close()
		var n int64
		for b := make([]byte, 1<<16); err == nil; {
			var k int
			k, err = response.Body.Read(b)
			n += int64(k)
		}
		if n > 100_000 {
			t.Errorf("%d bytes of a download came", n)
		}
	}
}

// While one tenant floods, at many times its rate and in every way, the requests of another all succeed, and the provider of
// the first gets no more than the rate.
func TestAFloodOfOneTenantIsItsOwn(t *testing.T) {
	const burst = 20
	flooded, quiet := &counting{Source: streamtest.Source()}, streamtest.Source()
	one := quota.New(&tenant.Plan{Requests: tenant.Rate{PerSecond: 1e-3, Burst: burst}})
	other := quota.New(&tenant.Plan{Requests: tenant.Rate{PerSecond: 1e-3, Burst: 1000}, PrincipalRequests: tenant.Rate{PerSecond: 1e-3, Burst: 1000}})
	clients := clientsOf{"Bearer ada": identityOf(t, "ada", "read,download **"), "Bearer ben": identityOf(t, "ben", "read,download **")}
	a := serveHTTP(t, flooded, runtime.ServerOptions{Auth: clients, Admission: one})
	b := serveHTTP(t, quiet, runtime.ServerOptions{Auth: clients, Admission: other})
	var all sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					if n >= 50*burst/8 {
						return
					}
				default:
				}
				if got := (era{a, "Bearer ada", ""}).read("test://text"); got.status != 200 {
					t.Errorf("the flood got %d %s", got.status, got.text)
				}
			}
		})
	}
	for range 200 {
		if got := (era{b, "Bearer ben", ""}).read("test://text"); got.status != 200 || !strings.Contains(got.text, "hello") {
			t.Errorf("the other tenant got %d %s", got.status, got.text)
		}
	}
	close(stop)
	all.Wait()
	if n := flooded.calls.Load(); n > burst {
		t.Errorf("the provider of the flooded tenant got %d calls, want at most %d", n, burst)
	}
}

// A server has one limit of rates.
func TestTwoLimitsOfRates(t *testing.T) {
	_, err := runtime.NewServer(streamtest.Source(), &runtime.ServerOptions{
		Name: "test", Version: "1", RatePerSecond: 1, Admission: quota.New(&tenant.Plan{}),
	})
	if err == nil || !strings.Contains(err.Error(), "Admission") {
		t.Errorf("got %v", err)
	}
}
