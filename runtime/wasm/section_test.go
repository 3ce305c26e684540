package wasm_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/wasmres/wasmres/runtime/wasm"
)

func module(t testing.TB) []byte {
	t.Helper()
	binary, err := os.ReadFile("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

func TestCustomSectionsAreReplacedAndFoundFirst(t *testing.T) {
	plain := module(t)
	once, err := wasm.WithCustom(plain, "note", []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := wasm.WithCustom(once, "note", bytes.Repeat([]byte("two"), 100))
	if err != nil {
		t.Fatal(err)
	}
	got, err := wasm.Custom(twice, "note")
	if err != nil || !bytes.Equal(got, bytes.Repeat([]byte("two"), 100)) {
		t.Errorf("got %q, %v", got, err)
	}
	if want := len(plain) + 300 + 1 + 2 + 1 + 4; len(twice) != want {
		t.Errorf("got %d bytes, want %d: one section of this name", len(twice), want)
	}
	for s := range wasm.Sections(twice) {
		if s.ID != 0 {
			t.Errorf("the first section has id %d, want the custom section", s.ID)
		}
		break
	}
	if got, err := wasm.Custom(twice, "absent"); got != nil || err != nil {
		t.Errorf("absent: got %q, %v", got, err)
	}
}

func TestWhatIsNoModuleIsRefused(t *testing.T) {
	for name, binary := range map[string]string{
		"empty": "", "short": "\x00asm", "text": "hello, world", "component": "\x00asm\x0d\x00\x01\x00",
		"version 2": "\x00asm\x02\x00\x00\x00", "no length": "\x00asm\x01\x00\x00\x00\x01",
		"length past the end": "\x00asm\x01\x00\x00\x00\x01\x05ab",
		"length of 6 bytes":   "\x00asm\x01\x00\x00\x00\x01\x80\x80\x80\x80\x80\x00",
		"length over 32 bits": "\x00asm\x01\x00\x00\x00\x01\xff\xff\xff\xff\x1f",
	} {
		if _, err := wasm.Custom([]byte(binary), "x"); !errors.Is(err, wasm.ErrFormat) {
			t.Errorf("%s: got %v, want a format error", name, err)
		}
		if _, err := wasm.WithCustom([]byte(binary), "x", nil); !errors.Is(err, wasm.ErrFormat) {
			t.Errorf("%s: WithCustom: got %v, want a format error", name, err)
		}
	}
}

func FuzzSections(f *testing.F) {
	f.Add(module(f))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x00\x05\x04note"))
	f.Fuzz(func(t *testing.T, binary []byte) {
		packed, err := wasm.WithCustom(binary, "note", []byte("kept"))
		if err != nil {
			return
		}
		got, err := wasm.Custom(packed, "note")
		if err != nil || string(got) != "kept" {
			t.Fatalf("got %q, %v, want kept", got, err)
		}
	})
}

func TestModulesWithoutCodeKeepTheirShape(t *testing.T) {
	code := func(bodies ...string) []byte {
		section := wasm.AppendU32(nil, uint32(len(bodies)))
		for _, b := range bodies {
			section = append(wasm.AppendU32(section, uint32(len(b))), b...)
		}
		module := wasm.AppendSection([]byte("\x00asm\x01\x00\x00\x00"), wasm.SectionType, []byte{1, 0x60, 0, 0})
		return wasm.AppendSection(module, wasm.SectionCode, section)
	}
	one, err := wasm.StripCode(code("\x00\x01\x0b", "\x00\x0b"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := wasm.StripCode(code("\x00\x01\x01\x0b", "\x00\x0b"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(one, other) {
		t.Error("two modules without code are the same")
	}
	var ids []byte
	for s, err := range wasm.Sections(one) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
		if want := "\x02\x03\x00\x00\x0b\x03\x00\x00\x0b"; s.ID == wasm.SectionCode && string(s.Body) != want {
			t.Errorf("got code %q, want %q", s.Body, want)
		}
	}
	if want := []byte{wasm.SectionCustom, wasm.SectionType, wasm.SectionCode}; !bytes.Equal(ids, want) {
		t.Errorf("got sections %v, want %v", ids, want)
	}
	if _, err := wasm.StripCode([]byte("\x00asm\x01\x00\x00\x00\x0a\x05\xff\xff\xff\xff\x0f")); !errors.Is(err, wasm.ErrFormat) {
		t.Errorf("a count of functions that are not there: got %v", err)
	}
}
