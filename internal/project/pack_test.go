package project

import (
	"bytes"
	"errors"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

func custom(name string) []byte {
	return wasm.AppendSection(nil, wasm.SectionCustom, append(wasm.AppendName(nil, name), "content"...))
}

func TestPack(t *testing.T) {
	const head = "\x00asm\x01\x00\x00\x00"
	types := wasm.AppendSection(nil, wasm.SectionType, []byte{0})
	module := bytes.Join([][]byte{
		[]byte(head), custom("go:buildid"), types, custom("licence"), custom(".debug_info"), custom("name"),
		custom("producers"),
	}, nil)
	manifest := &abi.Manifest{Name: "test", Ops: 1}
	packed, debug, err := Pack(module, manifest)
	if err != nil {
		t.Fatal(err)
	}
	first := wasm.AppendSection(nil, wasm.SectionCustom, manifest.Append(wasm.AppendName(nil, abi.ManifestSection)))
	if want := bytes.Join([][]byte{[]byte(head), first, types, custom("licence")}, nil); !bytes.Equal(packed, want) {
		t.Errorf("packed: got %q, want %q", packed, want)
	}
	if want := bytes.Join([][]byte{[]byte(head), first, module[len(head):]}, nil); !bytes.Equal(debug, want) {
		t.Errorf("debug: got %q, want %q", debug, want)
	}
	if stripped, err := wasm.Strip(debug); err != nil || !bytes.Equal(stripped, packed) {
		t.Errorf("debug does not become packed when it is stripped: %q, %v", stripped, err)
	}
	if _, _, err := Pack(packed, manifest); err == nil {
		t.Error("a module with a manifest was packed again")
	}
	for _, bad := range []string{"", "\x00asm", "MZ", head + "\x01\x05"} {
		if _, _, err := Pack([]byte(bad), manifest); !errors.Is(err, wasm.ErrFormat) {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}
