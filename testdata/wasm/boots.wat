;; A provider that changes its table while it starts, which no image holds, and counts the reads of an instance.
;; Build: wat2wasm boots.wat -o boots.wasm
(module
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (elem declare func $nothing)
  (data (i32.const 1024) "\4a\09\12\05boots\40\04")
  (data (i32.const 1100) "\1a\08\0a\03x:b\1a\010")
  (func $nothing)
  (func (export "_initialize") (table.set $t (i32.const 0) (ref.func $nothing)))
  (func (export "wasmres_v1") (param $op i32) (param $len i32) (result i32)
    (if (i32.eqz (local.get $op)) (then
      (drop (call $emit (i32.const 1024) (i32.const 11)))
      (return (i32.const 0))))
    (if (ref.is_null (table.get $t (i32.const 0))) (then unreachable))
    (i32.store8 (i32.const 1109) (i32.add (i32.load8_u (i32.const 1109)) (i32.const 1)))
    (drop (call $emit (i32.const 1100) (i32.const 10)))
    (i32.const 0)))
