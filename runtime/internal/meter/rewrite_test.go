package meter_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/wasm"
)

func TestStateCanBeSavedAndRestored(t *testing.T) {
	g, err := newHost(t).metered(read(t, "state"), meter.Config{MemoryPages: 10, TableEntries: 4})
	if err != nil {
		t.Fatal(err)
	}
	wantGlobals := []string{"wasmres:g0", "wasmres:g2", "wasmres:g3", "wasmres:g4"} // not 1, which is constant, 5 and 6
	if !slices.Equal(g.code.Globals, wantGlobals) {
		t.Errorf("globals are %q, want %q", g.code.Globals, wantGlobals)
	}
	if got, want := g.code.CanDirty, "function 4 uses table.set"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := g.global("wasmres:g0").Get(); got != 8 {
		t.Errorf("the counter is %d, want 8: the start function adds one, once", got)
	}
	var data []byte
	for _, s := range g.code.Data {
		data = append(data, s.Bytes...)
	}
	if string(data) != "abcdXY" || g.code.Data[1].Offset != 2 {
		t.Errorf("data is %q, want that of the active segments in order", data)
	}
	if got, _ := g.module.Memory().Read(0, 10); string(got) != "abXY\x00\x00\x00\x00\x00*" {
		t.Errorf("memory is %q", got)
	}
	if g.code.MinPages != 1 || g.code.MaxPages != 2 {
		t.Errorf("pages from %d to %d, want 1 to 2", g.code.MinPages, g.code.MaxPages)
	}
}

func TestDirtyIsSetByChangesThatCannotBeReset(t *testing.T) {
	h := newHost(t)
	for name, dirty := range map[string]bool{
		"bump": false, "callBump": false, "setFloats": false, "memoryInit": false, "grow": false,
		"setVector": true, "setReference": true, "tableSet": true, "tableGrow": true, "tableFill": true, "tableCopy": true,
		"tableInit": true, "elemDrop": true, "dataDrop": true, "callRef": true,
	} {
		g, err := h.metered(read(t, "state"), generous)
		if err != nil {
			t.Fatal(err)
		}
		args := make([]uint64, len(g.module.ExportedFunction(name).Definition().ParamTypes()))
		if _, err := g.call(name, args...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := g.dirty.Get() != 0; got != dirty {
			t.Errorf("%s: dirty is %v, want %v", name, got, dirty)
		}
		g.close()
	}
	code, err := meter.Rewrite(read(t, "work"), generous)
	if err != nil || code.CanDirty != "" {
		t.Errorf("got %q, %v, want a module that is never dirty", code.CanDirty, err)
	}
}

func TestTablesAndMemoryStayWithinWhatIsGranted(t *testing.T) {
	g, err := newHost(t).metered(read(t, "state"), meter.Config{MemoryPages: 1, TableEntries: 4})
	if err != nil {
		t.Fatal(err)
	}
	const failed = 1<<32 - 1
	for _, c := range []struct {
		name       string
		more, want uint64
	}{
		{"tableGrow", 2, 2}, {"tableGrow", 1, failed}, {"tableGrowOther", 4, failed}, {"tableGrowOther", 3, 1},
		{"grow", 1, failed}, {"grow", 65536, failed}, {"grow", 0, 1},
	} {
		if got, err := g.call(c.name, c.more); err != nil || got[0] != c.want {
			t.Errorf("%s by %d: got %v, %v, want %d", c.name, c.more, got, err, c.want)
		}
	}
	if _, err := meter.Rewrite(read(t, "work"), meter.Config{MemoryPages: 63}); err == nil {
		t.Error("a memory that begins too large is not refused")
	}
}

// TestActiveSegmentsAreDropped is about a rule of the specification that wazero 1.12 does not keep by itself.
func TestActiveSegmentsAreDropped(t *testing.T) {
	g, err := newHost(t).metered(read(t, "state"), generous)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.call("memoryInitActive", 0); err != nil {
		t.Errorf("none of a dropped segment: %v", err)
	}
	if _, err := g.call("memoryInitActive", 1); kind(err) != "wasm error: out of bounds memory access" {
		t.Errorf("one byte of a dropped segment: %v", err)
	}
	if _, err := g.call("memoryInit", 7); err != nil {
		t.Error(err)
	}
	if got, _ := g.module.Memory().Read(100, 7); string(got) != "passive" {
		t.Errorf("got %q, want the passive segment", got)
	}
}

// TestSectionsAreThoseOfTheOriginal looks at the form of the result.
func TestSectionsAreThoseOfTheOriginal(t *testing.T) {
	named, err := wasm.WithCustom(read(t, "work"), "name", []byte("what only debuggers want"))
	if err != nil {
		t.Fatal(err)
	}
	code, err := meter.Rewrite(named, generous)
	if err != nil {
		t.Fatal(err)
	}
	var ids []byte
	for s, err := range wasm.Sections(code.Binary) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	if want := []byte{1, 2, 3, 4, 5, 6, 7, 9, 10}; !bytes.Equal(ids, want) {
		t.Errorf("sections are %v, want %v", ids, want)
	}
	plain, err := meter.Rewrite(read(t, "work"), generous)
	if err != nil || !bytes.Equal(plain.Binary, code.Binary) {
		t.Errorf("custom sections change the result: %v", err)
	}
}

func TestWhatIsNotAdmittedIsAnError(t *testing.T) {
	work := read(t, "work")
	header := "\x00asm\x01\x00\x00\x00"
	for name, c := range map[string]struct{ binary, want string }{
		"nothing":             {"", "not a WebAssembly module"},
		"cut":                 {string(work[:len(work)-1]), "longer than the module"},
		"twice":               {header + "\x01\x01\x00\x01\x01\x00", "comes twice"},
		"unknown section":     {header + "\x0d\x01\x00", "unknown section 13"},
		"memory import":       {header + "\x02\x08\x01\x01a\x01b\x02\x00\x01", "is not a function"},
		"meter import":        {header + "\x02\x16\x01\x0dwasmres:meter\x04tick\x00\x00", "is reserved"},
		"meter export":        {header + "\x07\x0d\x01\x09wasmres:x\x00\x00", "is reserved"},
		"shared memory":       {header + "\x05\x04\x01\x03\x01\x01", "flags 0x3"},
		"two memories":        {header + "\x05\x05\x02\x00\x00\x00\x00", "more than one memory"},
		"no bodies":           {header + "\x03\x02\x01\x00", "1 functions have 0 bodies"},
		"huge count":          {header + "\x03\x05\xff\xff\xff\xff\x0f", "unexpected end"},
		"no type":             {header + "\x03\x02\x01\x05\x0a\x04\x01\x02\x00\x0b", "has no type"},
		"no end":              {header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x01", "do not match"},
		"two ends":            {header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x05\x01\x03\x00\x0b\x0b", "do not match"},
		"branch to nowhere":   {header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x06\x01\x04\x00\x0c\x05\x0b", "does not belong"},
		"the fuel global":     {header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x07\x01\x05\x00\x23\x00\x1a\x0b", "no global 0"},
		"a helper function":   {header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x06\x01\x04\x00\x10\x01\x0b", "no function 1"},
		"unknown instruction": {header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x05\x01\x03\x00\xff\x0b", "unknown opcode"},
	} {
		_, err := meter.Rewrite([]byte(c.binary), generous)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
	if _, err := meter.Rewrite([]byte(header+"\x0d\x01\x00"), generous); !errors.Is(err, wasm.ErrFormat) {
		t.Errorf("got %v, want a format error", err)
	}
}
