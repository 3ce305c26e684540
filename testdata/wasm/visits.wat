;; A provider that counts its reads, and asks to keep the count for a session. x:g asks for more memory than there is,
;; and copes; x:t crashes. Build: wat2wasm visits.wat -o visits.wasm
(module
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  ;; 1024: Reply{manifest: Manifest{name "visits", ops READ, limits {lifecycle session}}}
  (data (i32.const 1024) "\4a\0e\12\06visits\40\04\52\02\28\01")
  ;; 1100: Reply{content: {uri "x:v", text one digit}}
  (data (i32.const 1100) "\1a\08\0a\03x:v\1a\010")
  (func (export "wasmres_v1") (param $op i32) (param $len i32) (result i32)
    (if (i32.eqz (local.get $op)) (then
      (drop (call $emit (i32.const 1024) (i32.const 16)))
      (return (i32.const 0))))
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 64)))
    (if (i32.eq (i32.load8_u (i32.const 4)) (i32.const 103)) (then (drop (memory.grow (i32.const 60000)))))
    (if (i32.eq (i32.load8_u (i32.const 4)) (i32.const 116)) (then unreachable))
    (i32.store8 (i32.const 1109) (i32.add (i32.load8_u (i32.const 1109)) (i32.const 1)))
    (drop (call $emit (i32.const 1100) (i32.const 10)))
    (i32.const 0)))
