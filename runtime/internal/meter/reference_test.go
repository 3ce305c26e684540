package meter_test

import (
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/meter"
)

// referring is a module with functions that refer to others:
//
//	(table $t 1 funcref) (elem declare func $f $g)
//	(func $f (result i32) (i32.const 42)) (func $g (result i32) (i32.const 7))
//	(func (export "spin") (param i32) (loop (drop (ref.func $f)) (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
//	(func (export "f") (result i32) (table.set $t (i32.const 0) (ref.func $f)) (call_indirect $t (i32.const 0)))
//	(func (export "g") (result i32) (table.set $t (i32.const 0) (ref.func $g)) (call_indirect $t (i32.const 0)))
const referring = "\x00asm\x01\x00\x00\x00" +
	"\x01\x09\x02\x60\x00\x01\x7f\x60\x01\x7f\x00" +
	"\x03\x06\x05\x00\x00\x01\x00\x00" +
	"\x04\x04\x01\x70\x00\x01" +
	"\x07\x10\x03\x04spin\x00\x02\x01f\x00\x03\x01g\x00\x04" +
	"\x09\x06\x01\x03\x00\x02\x00\x01" +
	"\x0a\x39\x05" +
	"\x04\x00\x41\x2a\x0b" +
	"\x04\x00\x41\x07\x0b" +
	"\x11\x00\x03\x40\xd2\x00\x1a\x20\x00\x41\x01\x6b\x22\x00\x0d\x00\x0b\x0b" +
	"\x0d\x00\x41\x00\xd2\x00\x26\x00\x41\x00\x11\x00\x00\x0b" +
	"\x0d\x00\x41\x00\xd2\x01\x26\x00\x41\x00\x11\x00\x00\x0b"

// TestReferencesTakeNoMemoryOfTheHost executes a ref.func ten million times in one instance.
func TestReferencesTakeNoMemoryOfTheHost(t *testing.T) {
	g, err := newHost(t).metered([]byte(referring), generous)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint64{"f": 42, "g": 7} {
		if got, err := g.call(name); err != nil || got[0] != want {
			t.Errorf("%s: got %v, %v, want %d", name, got, err, want)
		}
	}
	const times, most = 10_000_000, 1 << 20
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	if _, err := g.call("spin", times); err != nil {
		t.Fatal(err)
	}
	goruntime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("%d references took %d bytes of the host, want at most %d", times, got, most)
	}
	if g.dirty.Get() != 0 {
		t.Error("an instance is dirty that has changed nothing")
	}
}

func TestTablesAreThoseOfTheModule(t *testing.T) {
	const header = "\x00asm\x01\x00\x00\x00"
	code := func(body string) string { // of a function () -> () in a module with a table
		size := string(rune(len(body) + 2))
		return header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x04\x04\x01\x70\x00\x01\x0a" + string(rune(len(body)+4)) + "\x01" + size + "\x00" + body + "\x0b"
	}
	elements := func(segment string) string {
		return header + "\x04\x04\x01\x70\x00\x01\x09" + string(rune(len(segment)+1)) + "\x01" + segment
	}
	for name, c := range map[string]struct{ binary, want string }{
		"call_indirect":     {code("\x41\x00\x11\x00\x01"), "no table 1"},
		"table.get":         {code("\x41\x00\x25\x01\x1a"), "no table 1"},
		"table.set":         {code("\x41\x00\xd0\x70\x26\x01"), "no table 1"},
		"table.size":        {code("\xfc\x10\x01\x1a"), "no table 1"},
		"table.copy to":     {code("\x41\x00\x41\x00\x41\x00\xfc\x0e\x01\x00"), "no table 1"},
		"table.copy from":   {code("\x41\x00\x41\x00\x41\x00\xfc\x0e\x00\x01"), "no table 1"},
		"segment, table":    {elements("\x02\x01\x41\x00\x0b\x00\x00"), "no table 1"},
		"segment, place":    {elements("\x00\x41\x02\x0b\x00"), "does not fit table 0"},
		"segment, far":      {elements("\x00\x41\x7f\x0b\x00"), "does not fit table 0"},
		"segment, length":   {elements("\x04\x41\x00\x0b\x02\xd0\x70\x0b\xd0\x70\x0b"), "does not fit table 0"},
		"segment, variable": {elements("\x00\xd0\x70\x0b\x00"), "is not a number"},
	} {
		_, err := meter.Rewrite([]byte(c.binary), generous)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}
