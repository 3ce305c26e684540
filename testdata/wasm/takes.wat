;; A provider that takes whatever there is in its start function, in _initialize, in warm and in seed, and answers each
;; read with what it has got, after it has asked a service for a value. Build: wat2wasm takes.wat -o takes.wasm
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasmres_v1" "body" (func $body (param i32 i32) (result i32)))
  (import "wasmres_v1" "call" (func $call (param i32 i32 i32) (result i64)))
  (memory (export "memory") 8)
  (global $end (mut i32) (i32.const 4096))
  ;; 1024: Reply{content: {uri "x:t", kind blob}}
  (data (i32.const 1024) "\1a\07\0a\03x:t\28\02")
  ;; 1100: ConfigRequest{key "k"}
  (data (i32.const 1100) "\0a\01k")
  (func $look
    (global.set $end (i32.add (global.get $end) (call $take (i32.const 0) (global.get $end) (i32.const 0) (i32.const 65536))))
    (global.set $end (i32.add (global.get $end) (call $take (i32.const 1) (global.get $end) (i32.const 0) (i32.const 65536))))
    (global.set $end (i32.add (global.get $end) (call $take (i32.const 2) (global.get $end) (i32.const 0) (i32.const 65536)))))
  (start $look)
  (func (export "_initialize") (call $look))
  (func (export "wasmres_v1_warm") (call $look))
  (func (export "wasmres_v1_seed") (param i64) (call $look))
  (func (export "wasmres_v1") (param $op i32) (param $len i32) (result i32)
    (if (i32.ne (local.get $op) (i32.const 2)) (then (return (i32.const 0))))
    (drop (call $call (i32.const 1) (i32.const 1100) (i32.const 3)))
    (drop (call $emit (i32.const 1024) (i32.const 9)))
    (drop (call $body (i32.const 4096) (i32.sub (global.get $end) (i32.const 4096))))
    (i32.const 0)))
