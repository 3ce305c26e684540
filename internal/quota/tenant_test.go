package quota_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/limits"
)

// enter enters until it is refused, and says how often it was not.
func enter(a admission.Account, most int) (n int, refused admission.Refusal) {
	for ; n < most; n++ {
		var ok bool
		if refused, ok = a.Enter(1); !ok {
			return n, refused
		}
		a.Leave()
	}
	return n, admission.Refusal{}
}

func wantRefusal(t *testing.T, got admission.Refusal, limit, of string) {
	t.Helper()
	if got.Limit != limit || got.Of != of || got.RetryAfter <= 0 {
		t.Errorf("refused by %+v, want %s of the %s", got, limit, of)
	}
}

func TestRequestsOfPrincipalsAndTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quota.New(&tenant.Plan{Requests: tenant.Rate{PerSecond: 10, Burst: 25}, PrincipalRequests: tenant.Rate{PerSecond: 5, Burst: 10}})
		n, refused := enter(q.Account("=a", admission.Principal), 100)
		if wantRefusal(t, refused, admission.Requests, "principal"); n != 10 {
			t.Errorf("a sends %d requests, want 10", n)
		}
		if n, _ := enter(q.Account("=b", admission.Principal), 100); n != 10 {
			t.Errorf("b sends %d requests, want 10", n)
		}
		n, refused = enter(q.Account("=c", admission.Principal), 100)
		if wantRefusal(t, refused, admission.Requests, "tenant"); n != 5 || refused.RetryAfter != 100*time.Millisecond {
			t.Errorf("c sends %d requests, want 5, and retries after %v", n, refused.RetryAfter)
		}
		n, refused = enter(q.Account("192.0.2.1", admission.Unauthenticated), 100)
		if wantRefusal(t, refused, admission.Requests, "client"); n != 50 {
			t.Errorf("a client without a credential sends %d requests, want 50", n)
		}
		time.Sleep(time.Second) // c has 5 that the tenant's refusal did not take, and 5 more
		if n, _ = enter(q.Account("=c", admission.Principal), 100); n != 10 {
			t.Errorf("a second later c sends %d requests, want 10", n)
		}
		if _, ok := q.Account("=d", admission.Principal).Enter(11); ok {
			t.Error("a batch beyond the burst was allowed")
		}
	})
}

func TestDefaultsAreBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quota.New(&tenant.Plan{})
		a := q.Account("=a", admission.Principal)
		if n, refused := enter(a, 1000); n != 200 || refused.Of != "principal" {
			t.Errorf("%d requests of a client, refused by %+v", n, refused)
		}
		for i := range 3 {
			enter(q.Account(fmt.Sprint("=", i), admission.Principal), 1000)
		}
		if _, refused := enter(q.Account("=z", admission.Principal), 1000); refused.Of != "tenant" {
			t.Errorf("refused by %+v", refused)
		}
		calls := 0
		for admit := q.Provider("p"); admit(t.Context()) == nil && calls < 1000; calls++ {
		}
		if calls != 400 {
			t.Errorf("%d calls of a provider", calls)
		}
	})
}

func TestRequestsAtOnce(t *testing.T) {
	q := quota.New(&tenant.Plan{Concurrent: 2})
	a, b := q.Account("=a", admission.Principal), q.Account("=b", admission.Principal)
	for _, one := range []admission.Account{a, b} {
		if refused, ok := one.Enter(1); !ok {
			t.Fatalf("refused by %+v", refused)
		}
	}
	refused, ok := a.Enter(1)
	if wantRefusal(t, refused, admission.Concurrency, "tenant"); ok {
		t.Error("a third request was allowed")
	}
	b.Leave()
	if _, ok := a.Enter(1); !ok {
		t.Error("the place of an answered request is not free")
	}
}

// What was refused takes no place, whatever refused it.
func TestARefusalTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quota.New(&tenant.Plan{Concurrent: 1, PrincipalRequests: tenant.Rate{PerSecond: 1, Burst: 1}})
		a := q.Account("=a", admission.Principal)
		enter(a, 100)
		if _, ok := q.Account("=b", admission.Principal).Enter(1); !ok {
			t.Error("the only place is taken")
		}
	})
}

func TestStreamsAndSessions(t *testing.T) {
	q := quota.New(&tenant.Plan{Streams: 3, PrincipalStreams: 2, Sessions: 3, PrincipalSessions: 2})
	a, b := q.Account("=a", admission.Principal), q.Account("=b", admission.Principal)
	open := func(of admission.Account, k admission.Kind, limit, whose string) {
		t.Helper()
		refused, ok := of.Open(k)
		if ok != (limit == "") {
			t.Errorf("got %+v, %v", refused, ok)
		}
		if limit != "" {
			wantRefusal(t, refused, limit, whose)
		}
	}
	open(a, admission.Stream, "", "")
	open(a, admission.Stream, "", "")
	open(a, admission.Stream, admission.Subscriptions, "principal")
	open(b, admission.Stream, "", "")
	open(b, admission.Stream, admission.Subscriptions, "tenant")
	a.Close(admission.Stream)
	open(b, admission.Stream, "", "")
	open(a, admission.Session, "", "")
	open(a, admission.Session, "", "")
	open(a, admission.Session, admission.Sessions, "principal")
	open(b, admission.Session, "", "")
	open(b, admission.Session, admission.Sessions, "tenant")
	a.Close(admission.Session)
	open(b, admission.Session, "", "")
}

func TestBytesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quota.New(&tenant.Plan{BytesPerSecond: 1000})
		a := q.Account("=a", admission.Principal)
		for i, want := range []time.Duration{0, 0, time.Second, 2 * time.Second} {
			bytes := []int{400, 600, 1000, 1000}[i]
			if wait := a.Write(bytes); wait != want {
				t.Errorf("write %d waits %v, want %v", i, wait, want)
			}
		}
		a.Write(-1000)
		if used := q.Today(); used.Bytes != 2000 {
			t.Errorf("%d bytes were used, want 2000", used.Bytes)
		}
		a.Write(100_000) // more than can be sent while a client waits
		_, refused := enter(a, 1)
		wantRefusal(t, refused, admission.Bytes, "tenant")
		time.Sleep(refused.RetryAfter)
		if n, _ := enter(a, 1); n != 1 {
			t.Error("after that, a request is refused")
		}
	})
}

// A budget of a day ends at midnight UTC, and no earlier.
func TestBudgetsOfADay(t *testing.T) {
	for limit, use := range map[string]func(q *quota.Tenant){
		admission.CPUDay:   func(q *quota.Tenant) { q.Used(limits.Usage{CPU: time.Minute}) },
		admission.BytesDay: func(q *quota.Tenant) { q.Account("=b", admission.Principal).Write(1000) },
	} {
		synctest.Test(t, func(t *testing.T) { // which begins at midnight UTC
			time.Sleep(5 * time.Hour)
			q := quota.New(&tenant.Plan{CPUPerDay: 2 * time.Minute, BytesPerDay: 2000})
			a := q.Account("=a", admission.Principal)
			for i := range 2 {
				if n, refused := enter(a, 1); n != 1 {
					t.Fatalf("%s: use %d: refused by %+v", limit, i, refused)
				}
				use(q)
			}
			_, refused := enter(a, 1)
			wantRefusal(t, refused, limit, "tenant")
			if !refused.Exhausted || refused.RetryAfter != 19*time.Hour {
				t.Errorf("%s: got %+v", limit, refused)
			}
			time.Sleep(19*time.Hour - time.Second)
			if n, _ := enter(a, 1); n != 0 {
				t.Errorf("%s: a second before midnight, a request is allowed", limit)
			}
			time.Sleep(time.Second)
			if n, refused := enter(a, 1); n != 1 {
				t.Errorf("%s: at midnight: refused by %+v", limit, refused)
			}
			if used := q.Today(); used != (quota.Used{}) {
				t.Errorf("%s: at midnight, %+v was used", limit, used)
			}
		})
	}
}

// A new plan bounds at once what is there: accounts that servers hold, tokens and streams stay.
func TestAPlanChangesInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quota.New(&tenant.Plan{PrincipalRequests: tenant.Rate{PerSecond: 1, Burst: 10}, Streams: 5, PrincipalStreams: 5})
		a := q.Account("=a", admission.Principal)
		a.Enter(8)
		a.Leave()
		for range 2 {
			a.Open(admission.Stream)
		}
		q.Set(&tenant.Plan{PrincipalRequests: tenant.Rate{PerSecond: 100, Burst: 20}, Streams: 2, PrincipalStreams: 2})
		if n, _ := enter(a, 100); n != 12 {
			t.Errorf("%d requests, want 12 of 20", n)
		}
		if _, ok := a.Open(admission.Stream); ok {
			t.Error("a third stream of two was allowed")
		}
		q.Set(&tenant.Plan{Streams: 3, PrincipalStreams: 3})
		if _, ok := a.Open(admission.Stream); !ok {
			t.Error("a third stream of three was refused")
		}
		q.Set(&tenant.Plan{CPUPerDay: time.Second})
		q.Used(limits.Usage{CPU: time.Second})
		time.Sleep(time.Minute)
		if _, refused := enter(a, 1); refused.Limit != admission.CPUDay {
			t.Errorf("refused by %+v", refused)
		}
	})
}

func TestProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quota.New(&tenant.Plan{ProviderRequests: tenant.Rate{PerSecond: 1, Burst: 2}})
		for range 2 {
			if err := q.Provider("p")(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		err := q.Provider("p")(t.Context())
		limit := (*admission.Error)(nil)
		if !errors.As(err, &limit) || abi.CodeOf(err) != abi.CodeBusy {
			t.Fatalf("got %v", err)
		}
		wantRefusal(t, limit.Refusal, admission.Requests, "provider")
		if err := q.Provider("other")(t.Context()); err != nil {
			t.Errorf("another provider: %v", err)
		}
	})
}

// Principals without end take no memory without end.
func TestPrincipalsAreForgotten(t *testing.T) {
	q := quota.New(&tenant.Plan{})
	fill := func(from int) {
		for i := range 50_000 {
			key := fmt.Sprint("=", from+i)
			q.Account(key, admission.Principal).Enter(1)
			q.Account(key, admission.Principal).Leave()
			q.Account(key, admission.Unauthenticated).Enter(1)
		}
	}
	fill(0)
	before := heap()
	fill(50_000)
	if after := heap(); after > before+1<<20 {
		t.Errorf("the heap has grown from %d to %d bytes", before, after)
	}
	runtime.KeepAlive(q)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Many clients at once get no more than the tenant has, and all places are free in the end.
func TestConcurrentClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quota.New(&tenant.Plan{Requests: tenant.Rate{PerSecond: 1, Burst: 1000}, Concurrent: 4})
		var mu sync.Mutex
		var all sync.WaitGroup
		total := 0
		for i := range 8 {
			all.Go(func() {
				a := q.Account(fmt.Sprint("=", i), admission.Principal)
				for range 200 {
					if _, ok := a.Enter(1); ok {
						mu.Lock()
						total++
						mu.Unlock()
						a.Leave()
					}
				}
			})
		}
		all.Wait()
		if total > 1000 || total == 0 {
			t.Errorf("%d requests, want at most 1000", total)
		}
		time.Sleep(time.Hour)
		places := 0
		for a := q.Account("=0", admission.Principal); places < 10; places++ {
			if _, ok := a.Enter(1); !ok {
				break
			}
		}
		if places != 4 {
			t.Errorf("%d places, want 4", places)
		}
	})
}

func BenchmarkEnter(b *testing.B) {
	plan := tenant.Plan{Requests: tenant.Rate{PerSecond: 1e9, Burst: 1e9}, PrincipalRequests: tenant.Rate{PerSecond: 1e9, Burst: 1e9}}
	b.Run("free", func(b *testing.B) {
		a := quota.New(&plan).Account("=a", admission.Principal)
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := a.Enter(1); ok {
				a.Leave()
			}
		}
	})
	b.Run("refused", func(b *testing.B) {
		a := quota.New(&tenant.Plan{PrincipalRequests: tenant.Rate{PerSecond: 1e-6, Burst: 1}}).Account("=a", admission.Principal)
		a.Enter(1)
		b.ReportAllocs()
		for b.Loop() {
			a.Enter(1)
		}
	})
}
