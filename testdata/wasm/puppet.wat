;; A provider that does what service 1 tells it, step by step: see internal/guesttest. Tests pack its manifest in.
;; Build: wat2wasm puppet.wat -o puppet.wasm
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasmres_v1" "body" (func $body (param i32 i32) (result i32)))
  (import "wasmres_v1" "call" (func $call (param i32 i32 i32) (result i64)))
  (import "wasmres_v1" "log" (func $log (param i32 i32 i32)))
  ;; 0: the operation, the number of the step, the request; 131072: kind, argument and repetitions of a step, its bytes
  (memory (export "memory") 34)

  (func $do (param $kind i32) (param $arg i32) (param $len i32)
    (if (i32.eq (local.get $kind) (i32.const 1)) (then
      (drop (call $emit (i32.const 131084) (local.get $len)))))
    (if (i32.eq (local.get $kind) (i32.const 2)) (then
      (drop (call $body (i32.const 131084) (local.get $len)))))
    (if (i32.eq (local.get $kind) (i32.const 3)) (then
      (call $log (local.get $arg) (i32.const 131084) (local.get $len))))
    (if (i32.eq (local.get $kind) (i32.const 4)) (then
      (drop (call $call (local.get $arg) (i32.const 131084) (local.get $len)))))
    (if (i32.eq (local.get $kind) (i32.const 5)) (then (loop $l (br $l))))
    (if (i32.eq (local.get $kind) (i32.const 6)) (then unreachable)))

  (func (export "wasmres_v1") (param $op i32) (param $len i32) (result i32)
    (local $size i32) (local $times i32)
    (i32.store (i32.const 0) (local.get $op))
    (drop (call $take (i32.const 0) (i32.const 8) (i32.const 0) (local.get $len)))
    (loop $step
      (local.set $size (i32.sub (i32.wrap_i64
        (call $call (i32.const 1) (i32.const 0) (i32.add (local.get $len) (i32.const 8)))) (i32.const 12)))
      (if (i32.lt_s (local.get $size) (i32.const 0)) (then unreachable))
      (drop (call $take (i32.const 1) (i32.const 131072) (i32.const 0) (i32.const 0x200000)))
      (if (i32.eqz (i32.load (i32.const 131072))) (then (return (i32.load (i32.const 131076)))))
      (local.set $times (i32.load (i32.const 131080)))
      (loop $again
        (call $do (i32.load (i32.const 131072)) (i32.load (i32.const 131076)) (local.get $size))
        (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
      (i32.store (i32.const 4) (i32.add (i32.load (i32.const 4)) (i32.const 1)))
      (br $step))
    unreachable))
