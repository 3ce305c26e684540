;; A provider that answers a read with what the host's clocks say, as 16 letters of four bits each, the lowest first: x:0
;; with the wall clock, x:1 with the one that never goes back, x:2 with the time that is left. It looks at both clocks and
;; changes its table while it starts, which no image holds.
;; Build: wat2wasm clocks.wat -o clocks.wasm
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasmres_v1" "info" (func $info (param i32) (result i64)))
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (elem declare func $nothing)
  ;; 1024: Reply{manifest: Manifest{name "clocks", ops READ}}
  (data (i32.const 1024) "\4a\0a\12\06clocks\40\04")
  ;; 1100: Reply{content: {uri "x:c", text 16 letters}}
  (data (i32.const 1100) "\1a\17\0a\03x:c\1a\10................")
  (func $nothing)
  (func (export "_initialize")
    (drop (call $info (i32.const 0)))
    (drop (call $info (i32.const 1)))
    (table.set $t (i32.const 0) (ref.func $nothing)))
  (func (export "wasmres_v1") (param $op i32) (param $len i32) (result i32) (local $i i32) (local $time i64)
    (if (i32.eqz (local.get $op)) (then
      (drop (call $emit (i32.const 1024) (i32.const 12)))
      (return (i32.const 0))))
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 64)))
    (local.set $time (call $info (i32.and (i32.load8_u (i32.const 4)) (i32.const 15))))
    (loop $l
      (i32.store8 (i32.add (i32.const 1109) (local.get $i)) (i32.add (i32.const 97) (i32.wrap_i64 (i64.and (local.get $time) (i64.const 15)))))
      (local.set $time (i64.shr_u (local.get $time) (i64.const 4)))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 16))))
    (drop (call $emit (i32.const 1100) (i32.const 25)))
    (i32.const 0)))
