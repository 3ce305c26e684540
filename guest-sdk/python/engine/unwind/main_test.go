package main

import (
	"bufio"
	"strings"
	"testing"
)

const before = `(module
  (type (;0;) (func))
  (func $emscripten_longjmp (type 0)
    call $unwind_begin)
  (func $unwind_begin (type 0)
    i32.const 1
    global.set $unwinding)
  (func $raise (type 0)
    call $emscripten_longjmp
    unreachable)
  (func $pure (type 1) (param i32) (result i32)
    local.get 0)
  (func $middle (type 1) (param i32) (result i32)
    call $raise
    local.get 0
    call $pure)
  (func (;5;) (type 1) (param i32) (result i32)
    local.get 0
    call_indirect (type 1))
  (func $invoke_ii (type 2) (param i32 i32) (result i32)
    local.get 1
    local.get 0
    call_indirect (type 1)
    call $raise)
  (func $outer (type 0)
    i32.const 0
    i32.const 0
    call $invoke_ii
    drop)
  (global $unwinding (mut i32) (i32.const 0)))
`

// The functions between a jump and the one that catches it return at once; nothing else is changed.
func TestUnwind(t *testing.T) {
	m, err := parse(strings.Split(before, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	w := bufio.NewWriter(&got)
	m.write(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	const test = "\nglobal.get $unwinding\nif\n"
	want := strings.NewReplacer(
		"    call $emscripten_longjmp\n", "call $emscripten_longjmp"+test+"return\nend\n",
		"(param i32) (result i32)\n    call $raise\n", "(param i32) (result i32)\ncall $raise"+test+"i32.const 0\nreturn\nend\n",
		"    local.get 0\n    call_indirect (type 1))", "    local.get 0\ncall_indirect (type 1)"+test+"i32.const 0\nreturn\nend)",
	).Replace(before)
	if strings.TrimSpace(got.String()) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func TestUnwindRefusesWhatIsNotLinked(t *testing.T) {
	for _, text := range []string{"", "(module)", strings.Replace(before, "global.set", "global.get", 1)} {
		if _, err := parse(strings.Split(text, "\n")); err == nil || !strings.Contains(err.Error(), "link unwinding.c") {
			t.Errorf("got %v for %.20q", err, text)
		}
	}
}
