package confine_test

import (
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/confine"
)

func TestLayersAsText(t *testing.T) {
	layers := confine.Layers{
		{Name: confine.Rlimits, On: true},
		{Name: confine.Landlock, On: true, Detail: "ABI 7"},
		{Name: confine.Seccomp, Detail: "the kernel does not have it"},
	}
	const want = "rlimits, landlock (ABI 7), no seccomp (the kernel does not have it)"
	if got := layers.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLayersByName(t *testing.T) {
	layers := confine.Layers{{Name: confine.Landlock, On: true}, {Name: confine.Seccomp}}
	for name, want := range map[string]bool{confine.Landlock: true, confine.Seccomp: false, confine.Rlimits: false} {
		if got := layers.On(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestProbeNamesEveryLayer(t *testing.T) {
	layers := confine.Probe()
	for i, name := range []string{confine.Rlimits, confine.NoNewPrivs, confine.Landlock, confine.Seccomp} {
		if len(layers) != 4 || layers[i].Name != name {
			t.Fatalf("got %v, want %s in place %d", layers, name, i)
		}
		if !layers[i].On && layers[i].Detail == "" {
			t.Errorf("%s: got no reason why it is not there", name)
		}
	}
}
