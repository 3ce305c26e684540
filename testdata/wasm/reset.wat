;; A provider that shows what an instance is made of. It answers a read with one letter of each: how often it was warmed,
;; whether its table was changed, and whether it was given a seed since the last call. x:t changes the table.
;; Build: wat2wasm reset.wat -o reset.wasm
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (elem declare func $nothing)
  (global $warmed (mut i32) (i32.const 48))
  ;; 1024: Reply{manifest: Manifest{name "lanes", ops READ}}
  (data (i32.const 1024) "\4a\09\12\05lanes\40\04")
  ;; 1100: Reply{content: {uri "x:l", text "...", etag 16 letters}}
  (data (i32.const 1100) "\1a\1c\0a\03x:l\1a\03...\3a\10................")
  (func $nothing)
  (func (export "wasmres_v1_warm") (global.set $warmed (i32.add (global.get $warmed) (i32.const 1))))
  (func (export "wasmres_v1_seed") (param $seed i64) (local $i i32)
    (i32.store8 (i32.const 1111) (i32.const 115))
    (loop $l
      (i32.store8 (i32.add (i32.const 1114) (local.get $i)) (i32.add (i32.const 97) (i32.wrap_i64 (i64.and (local.get $seed) (i64.const 15)))))
      (local.set $seed (i64.shr_u (local.get $seed) (i64.const 4)))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 16)))))
  (func (export "wasmres_v1") (param $op i32) (param $len i32) (result i32)
    (if (i32.eqz (local.get $op)) (then
      (drop (call $emit (i32.const 1024) (i32.const 11)))
      (return (i32.const 0))))
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 64)))
    (i32.store8 (i32.const 1109) (global.get $warmed))
    (i32.store8 (i32.const 1110) (select (i32.const 45) (i32.const 116) (ref.is_null (table.get $t (i32.const 0)))))
    (if (i32.eq (i32.load8_u (i32.const 4)) (i32.const 116)) (then (table.set $t (i32.const 0) (ref.func $nothing))))
    (drop (call $emit (i32.const 1100) (i32.const 30)))
    (i32.const 0)))
