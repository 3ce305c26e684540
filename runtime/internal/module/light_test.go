package module_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/module"
)

// A store is a cache that loses what it is told to.
type store map[[sha256.Size]byte][]byte

func (s store) Get(key [sha256.Size]byte) []byte       { return s[key] }
func (s store) Put(key [sha256.Size]byte, text []byte) { s[key] = text }

// light prepares a module and lets go of its code.
func light(t *testing.T, cache store, source func() ([]byte, error)) (whole, left *module.Module) {
	t.Helper()
	binary, err := source()
	if err != nil {
		t.Fatal(err)
	}
	cfg := module.Config{Pages: 1024, Table: 10_000, Imports: instance.Imports(), Source: source}
	if cache != nil {
		cfg.Cache = cache
	}
	whole, err = module.Instrument(&cfg, binary)
	if err != nil {
		t.Fatal(err)
	}
	return whole, whole.Light()
}

func faults() ([]byte, error) { return os.ReadFile("../../../testdata/wasm/faults.wasm") }

func TestALightModuleIsLoadedAgain(t *testing.T) {
	for name, lose := range map[string]func(store){
		"from the cache":                                func(store) {},
		"from its source, as the cache is empty":        func(s store) { clear(s) },
		"from its source, as another is in its place":   func(s store) { spoil(s, func(b []byte) []byte { b[20] ^= 1; return b }) },
		"from its source, as the cache has half of it":  func(s store) { spoil(s, func(b []byte) []byte { return b[:len(b)/2] }) },
		"from its source, as the cache has empty texts": func(s store) { spoil(s, func([]byte) []byte { return nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			cache := store{}
			whole, left := light(t, cache, faults)
			if !left.IsLight() || len(left.Binary()) > 0 || left.Code.Data != nil || left.Code.Defined != whole.Code.Defined {
				t.Fatalf("got %+v, want neither code nor data", left.Code)
			}
			want, err := whole.Stripped()
			if err != nil {
				t.Fatal(err)
			}
			lose(cache)
			again, err := left.Load()
			if err != nil || !bytes.Equal(again.Append(nil), whole.Append(nil)) {
				t.Errorf("got %v, want the same module", err)
			}
			for range 2 { // the second comes from the cache
				if got, err := again.Light().Stripped(); err != nil || !strings.HasPrefix(string(got), string(want[:70])) {
					t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
				}
			}
		})
	}
}

func TestTheHeadOfAModuleIsAllButItsData(t *testing.T) {
	cache := store{}
	whole, left := light(t, cache, faults)
	text, err := whole.Stripped()
	if err != nil {
		t.Fatal(err)
	}
	stripped, err := module.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	want := stripped.WithoutData().Append(nil)
	if len(stripped.Code.Data) == 0 || !stripped.HasData() || left.HasData() {
		t.Fatalf("the module has %d segments of data, %t; without code %t", len(stripped.Code.Data), stripped.HasData(), left.HasData())
	}
	for _, lose := range []func(){func() {}, func() { clear(cache) }, func() {}} {
		lose()
		got, err := left.Head()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, %v, want %d", len(got), err, len(want))
		}
	}
	head, err := module.Decode(want)
	if err != nil || head.HasData() || head.Code.Data != nil || !bytes.Equal(head.Append(nil), want) {
		t.Errorf("decoded it says that it has data: %t, %v", head.HasData(), err)
	}
}

func spoil(s store, how func([]byte) []byte) {
	for key, text := range s {
		s[key] = how(bytes.Clone(text))
	}
}

func TestWithoutCacheAndSourceAModuleStaysWhole(t *testing.T) {
	if whole, left := light(t, nil, faults); left != whole {
		t.Error("it became light without a cache")
	}
	binary, err := faults()
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.Instrument(&module.Config{Pages: 1024, Table: 10_000, Imports: instance.Imports(), Cache: store{}}, binary)
	if err != nil || m.Light() != m {
		t.Errorf("got %v, want a module that stays whole", err)
	}
}

func TestAModuleWhoseSourceIsAnotherIsRefused(t *testing.T) {
	binary, err := faults()
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("no such file")
	for name, tt := range map[string]struct {
		source func() ([]byte, error)
		want   string
	}{
		"replaced": {func() ([]byte, error) { return append(bytes.Clone(binary), 0, 1, 0), nil }, "was replaced"},
		"gone":     {func() ([]byte, error) { return nil, gone }, "cannot be read again"},
	} {
		t.Run(name, func(t *testing.T) {
			cache, source := store{}, faults
			_, left := light(t, cache, func() ([]byte, error) { return source() })
			clear(cache)
			source = tt.source
			_, err := left.Load()
			if abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if _, err := left.Stripped(); abi.CodeOf(err) != abi.CodeUnavailable {
				t.Errorf("got %v, want the same of its stripped form", err)
			}
		})
	}
}
