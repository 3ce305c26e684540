package runtime_test

import (
	goruntime "runtime"
	"testing"

	"github.com/wasmres/wasmres/runtime"
)

func TestCapacityNamesTheTightestBoundFirst(t *testing.T) {
	if goruntime.GOOS != "linux" {
		if got := runtime.Capacity(0, 0); got != nil {
			t.Errorf("got %v where providers have no processes", got)
		}
		return
	}
	all := runtime.Capacity(0, 0)
	if len(all) == 0 {
		t.Fatal("no bounds")
	}
	for i, b := range all {
		if b.Name == "" || b.Providers < all[0].Providers {
			t.Errorf("bound %d: got %v, want none tighter than the first, %v", i, b, all[0])
		}
	}
	if huge := runtime.Capacity(1<<60, 0); huge[0].Providers != 0 {
		t.Errorf("got %v for providers larger than the machine", huge[0])
	}
	for _, b := range runtime.Capacity(0, 1<<60) {
		if b.Name == runtime.OpenFiles && b.Providers != 0 {
			t.Errorf("got %v where clients have all descriptors", b)
		}
	}
	t.Log(all)
}
