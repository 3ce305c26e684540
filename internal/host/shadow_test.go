package host_test

import (
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/tenant"
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
