package host_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// The operator chooses that calls run twice, and the tenant whether sessions of calls are kept.
func TestADifferenceHasASessionOnlyWithConsent(t *testing.T) {
	var got *app.Difference
	var code abi.Code
	s := serve(t, host.Config{
		Differed:    func(_ tenant.ProviderID, d *app.Difference, _ bool) { got = d },
		NotCompared: func(c abi.Code) { code = c },
	})
	of := &app.Difference{Fault: app.Fault{Digest: "sha256:1", Session: func(string) ([]byte, string) { return []byte("contents"), "" }}, In: "the fuel is 2, and was 1"}
	for _, consent := range []bool{false, true} {
		s.Compared("a", tenant.Provider{Name: "notes", RecordCrashes: consent}, of, nil)
		if got == nil || got.Digest != of.Digest || got.In != of.In || (got.Session != nil) != consent {
			t.Errorf("record_crashes %t: got %+v", consent, got)
		}
		got = nil
	}
	s.Compared("a", tenant.Provider{Name: "notes"}, nil, abi.Errorf(abi.CodeDeadline, "late"))
	if got != nil || code != abi.CodeDeadline {
		t.Errorf("a second run that failed: got %+v and the code %s", got, code)
	}
}

// What a second run has used counts in the tenant's processor time of the day, and where the server counts what providers use.
func TestASecondRunCountsAsProcessorTime(t *testing.T) {
	book, err := quota.OpenBook(quota.Config{File: filepath.Join(t.TempDir(), "usage.json")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	})
	of, counted := book.Tenant("a", &tenant.Plan{}), time.Duration(0)
	host.UsedAgain(of, host.Meter{UsedAgain: func(u runtime.Usage) { counted += u.CPU }}, runtime.Usage{CPU: time.Second})
	if today := of.Today().CPU; today != time.Second || counted != time.Second {
		t.Errorf("%v of today, and %v counted by the server", today, counted)
	}
}
