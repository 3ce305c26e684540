package httpcap_test

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

func TestFieldsBeyondTheLastOneAreNotRedacted(t *testing.T) {
	fields := httpcap.Fields([]string{randomSecret(16), randomSecret(4096)})
	header := http.Header{"A": slices.Repeat([]string{"b"}, 200)}
	few := testing.AllocsPerRun(5, func() { fields(header) })
	header["A"] = slices.Repeat([]string{"b"}, 12_000)
	many := testing.AllocsPerRun(5, func() { fields(header) })
	if many > few || len(fields(header)) != 200 {
		t.Errorf("200 fields take %v allocations, and 12,000 take %v", few, many)
	}
}

func TestTheCostOfFieldsIsBounded(t *testing.T) {
	fields := httpcap.Fields([]string{randomSecret(16), randomSecret(4096)})
	header := http.Header{}
	for i := range 200 {
		header.Add(fmt.Sprintf("X-%d", i), "b")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fields(header)
	runtime.ReadMemStats(&after)
	if size := after.TotalAlloc - before.TotalAlloc; size > 256<<10 {
		t.Errorf("200 short fields take %d bytes", size)
	}
}

// The order of fields, and which are left out, must not tell how a secret compares with other names.
func TestNamesWithSecretsChangeNothingElse(t *testing.T) {
	fields := httpcap.Fields([]string{token})
	header := http.Header{}
	for i := range 250 {
		header.Add(fmt.Sprintf("X-%03d", i), fmt.Sprint(i))
	}
	without := fields(header)
	for _, name := range []string{"raw", "hex", "HEX", "percent", "base64 url 0 0"} {
		header["X-"+spellings(token)[name]] = []string{"a name"}
		header["A-"+spellings(token)[name]] = []string{"a name"}
	}
	if with := fields(header); len(with) != 200 || !slices.Equal(with, without) {
		t.Errorf("got %v, and %v where no name has a secret", with, without)
	}
	if without[0].Name != "X-000" || without[199].Name != "X-199" {
		t.Errorf("the fields are from %s to %s", without[0].Name, without[199].Name)
	}
}
