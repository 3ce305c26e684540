package compiler_test

import (
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/fair"
)

// TestWhoCausesACompilationPays has the first share pay for a module that is compiled, and for one that is refused. Who finds it in the
// cache pays nothing.
func TestWhoCausesACompilationPays(t *testing.T) {
	leavesNothing(t)
	q, err := fair.New(fair.Config{Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := newCompiler(t, compiler.Config{CacheDir: newDir(t)})
	for name, module := range map[string][]byte{"good": tiny(), "bad": []byte("MZ")} {
		first, second := q.NewShare(1), q.NewShare(1)
		_ = c.Compile(first.Context(t.Context()), module)
		_ = c.Compile(second.Context(t.Context()), module)
		if first.Charged() <= 0 || second.Charged() != 0 {
			t.Errorf("%s: the first has paid %v, the second %v", name, first.Charged(), second.Charged())
		}
	}
	if err := c.Compile(t.Context(), functions(3)); err != nil {
		t.Errorf("without a share: %v", err)
	}
}
