package host_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/admission"
)

// A plan bounds its tenants, from the next request on when it changes, and each by itself.
func TestPlansBoundTenants(t *testing.T) {
	s := serve(t, host.Config{})
	hello := guesttest.File(t, "hello")
	seldom := tenant.Rate{PerSecond: 0.001, Burst: 2}
	a, b, free := with("a", hello), with("b", hello), with("free", hello)
	a.Plan, b.Plan = "requests", "providers"
	plans := func(most tenant.Rate) map[string]*tenant.Plan {
		return map[string]*tenant.Plan{
			"default":  {Name: "default"},
			"requests": {Name: "requests", Requests: most}, "providers": {Name: "providers", ProviderRequests: most},
		}
	}
	update := func(most tenant.Rate) {
		now := snapshot(a, b, free)
		now.Plans = plans(most)
		s.Update(now)
	}
	update(seldom)
	for i := range 3 {
		for _, c := range []struct{ id, of string }{{"a", `"of":"tenant"`}, {"b", `"of":"provider"`}, {"free", ""}} {
			want := `"text"`
			if i == 2 && c.of != "" {
				want = c.of
			}
			if _, text := s.read("/t/"+c.id+"/mcp", c.id, fmt.Sprintf("greeting://%d", i)); !strings.Contains(text, want) {
				t.Errorf("read %d of %s: got %s, want %s", i, c.id, text, want)
			}
		}
	}
	update(tenant.Rate{PerSecond: 1000, Burst: 1000})
	for _, id := range []string{"a", "b"} {
		if _, text := s.read("/t/"+id+"/mcp", id, "greeting://Ada"); !strings.Contains(text, `"text"`) {
			t.Errorf("%s with a plan that permits more: got %s", id, text)
		}
	}
}

// While calls cannot be recorded, and must be, they are refused; then they are served again.
func TestUnrecordedCallsAreRefused(t *testing.T) {
	var cannot atomic.Bool
	var limits atomic.Int32
	s := serve(t, host.Config{IsUnrecorded: cannot.Load, Limited: func(_, limit string) {
		if limit == admission.Audit {
			limits.Add(1)
		}
	}})
	s.Update(snapshot(with("a", guesttest.File(t, "hello"))))
	for _, isRefused := range []bool{false, true, false} {
		cannot.Store(isRefused)
		_, text := s.read("/t/a/mcp", "a", "greeting://Ada")
		if got := strings.Contains(text, `"limit":"audit"`) && strings.Contains(text, `"retryAfterMs"`); got != isRefused || got == strings.Contains(text, `"text"`) {
			t.Errorf("refused %v: got %s", isRefused, text)
		}
	}
	if limits.Load() != 1 {
		t.Errorf("%d refusals were counted", limits.Load())
	}
}
