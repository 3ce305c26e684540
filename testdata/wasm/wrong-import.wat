;; A known import with another signature.
(module (import "wasmres_v1" "emit" (func (param i64) (result i32)))
  (memory (export "memory") 1) (func (export "wasmres_v1") (param i32 i32) (result i32) (i32.const 0)))
