package quota_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/limits"
)

// While a day begins, no tenant is refused until the next midnight by what it used the day before, and each byte counts on one of both
// days. The clock is 30 s ahead, so that the day begins while requests do not wait for it yet.
func TestRequestsWhileADayBegins(t *testing.T) {
	withClock(t, 0, func(b *steppedBook) {
		const tenants = 500
		time.Sleep(14*time.Hour - 15*time.Second)
		all := make([]*quota.Tenant, tenants)
		for i := range all {
			all[i] = b.Book.Tenant(fmt.Sprint(i), bounded)
			all[i].Used(limits.Usage{CPU: perDay})
		}
		b.ahead.Store(int64(30 * time.Second))
		var running, begun sync.WaitGroup
		written := make([]int64, tenants)
		for first := range 2 {
			begun.Add(1)
			running.Go(func() {
				begin := sync.OnceFunc(begun.Done)
				for left := true; left; begin() {
					left = false
					for i := first; i < tenants; i += 2 {
						a := all[i].Account("=x", admission.Principal)
						a.Write(1)
						written[i]++
						refused, ok := a.Enter(1)
						if ok {
							a.Leave()
						}
						left = left || refused.Exhausted
						if refused.Exhausted && refused.RetryAfter > time.Minute {
							t.Errorf("tenant %d: refused by %+v", i, refused)
						}
					}
				}
			})
		}
		begun.Wait()
		b.State("other", &tenant.Plan{}) // begins the day
		running.Wait()
		b.set(0) // what was used on both days counts on the first one
		for i, q := range all {
			if got := q.Today().Bytes; got != written[i] {
				t.Errorf("tenant %d: %d bytes count, want %d", i, got, written[i])
			}
		}
	})
}
