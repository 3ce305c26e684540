;; A provider without an end: each page of its list is empty and has another cursor, and each read is a text that goes on
;; for ever and is not UTF-8. Build: wat2wasm endless.wat -o endless.wasm
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasmres_v1" "body" (func $body (param i32 i32) (result i32)))
  (memory (export "memory") 2)

  ;; 1024: Out{manifest: Manifest{name "endless", ops LIST|READ}}
  (data (i32.const 1024) "\4a\0b\12\07endless\40\06")
  ;; 1100: Out{next_cursor: eight digits}
  (data (i32.const 1100) "\22\0800000000")
  ;; 1200: Out{content: {uri "x:t", kind text}}, whose body follows
  (data (i32.const 1200) "\1a\07\0a\03x:t\28\01")
  ;; 2000: no UTF-8
  (data (i32.const 2000) "\ff\fe")

  ;; next counts the last cursor up, eight decimal digits at 0.
  (func $next
    (local $at i32)
    (local.set $at (i32.const 1109))
    (loop $carry
      (i32.store8 (local.get $at) (i32.add (i32.load8_u (local.get $at)) (i32.const 1)))
      (if (i32.gt_u (i32.load8_u (local.get $at)) (i32.const 57)) (then
        (i32.store8 (local.get $at) (i32.const 48))
        (local.set $at (i32.sub (local.get $at) (i32.const 1)))
        (br $carry)))))

  (func (export "wasmres_v1") (param $op i32) (param $len i32) (result i32)
    (if (i32.eqz (local.get $op)) (then
      (drop (call $emit (i32.const 1024) (i32.const 13)))
      (return (i32.const 0))))
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000)))
    (if (i32.eq (local.get $op) (i32.const 1)) (then
      ;; Request{cursor: eight digits, limit}, or on the first page Request{limit}
      (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x22)) (then
        (i64.store (i32.const 1102) (i64.load (i32.const 2)))))
      (call $next)
      (drop (call $emit (i32.const 1100) (i32.const 10)))
      (return (i32.const 0))))
    (drop (call $emit (i32.const 1200) (i32.const 9)))
    (loop $more (br_if $more (i32.eqz (call $body (i32.const 2000) (i32.const 65536)))))
    (i32.const 0)))
