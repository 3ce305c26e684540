package wasm_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// withNames returns a module whose name section has this content.
func withNames(section string) []byte {
	body := wasm.AppendName(nil, "name")
	return wasm.AppendSection([]byte("\x00asm\x01\x00\x00\x00"), wasm.SectionCustom, append(body, section...))
}

func TestFunctionNames(t *testing.T) {
	long := strings.Repeat("n", 300)
	for name, c := range map[string]struct {
		section string
		want    map[uint32]string
		bad     bool
	}{
		"two":                 {"\x01\x08\x02\x00\x01a\x02\x02bc", map[uint32]string{0: "a", 2: "bc"}, false},
		"after the module's":  {"\x00\x02\x01m\x01\x04\x01\x01\x01a", map[uint32]string{1: "a"}, false},
		"no functions":        {"\x00\x02\x01m", nil, false},
		"empty":               {"", nil, false},
		"not in order":        {"\x01\x07\x02\x01\x01a\x00\x01b", map[uint32]string{1: "a"}, false},
		"twice":               {"\x01\x07\x02\x01\x01a\x01\x01b", map[uint32]string{1: "a"}, false},
		"of no function":      {"\x01\x07\x02\x01\x01a\x09\x01b", map[uint32]string{1: "a"}, false},
		"long":                {"\x01\xb0\x02\x01\x00\xac\x02" + long, map[uint32]string{0: long[:256]}, false},
		"truncated":           {"\x01\x08\x02\x00\x01a\x02\x02b", nil, true},
		"more than there are": {"\x01\x05\xff\xff\xff\xff\x0f", nil, true},
		"not text":            {"\x01\x04\x01\x00\x01\xff", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := wasm.FunctionNames(withNames(c.section), 9)
			if (err != nil) != c.bad || !maps.Equal(got, c.want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func FuzzFunctionNames(f *testing.F) {
	f.Add([]byte("\x01\x08\x02\x00\x01a\x02\x02bc"), uint32(9))
	f.Add([]byte("\x01\x01\x80"), uint32(9))
	f.Fuzz(func(t *testing.T, section []byte, functions uint32) {
		got, err := wasm.FunctionNames(withNames(string(section)), functions)
		if err != nil && got != nil {
			t.Errorf("got %v beside %v", got, err)
		}
		for index, name := range got {
			if index >= functions || len(name) > 256 {
				t.Errorf("function %d of %d is called %q", index, functions, name)
			}
		}
	})
}
