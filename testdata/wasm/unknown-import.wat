;; An import no host function has.
(module (import "wasmres_v1" "teleport" (func (param i32)))
  (memory (export "memory") 1) (func (export "wasmres_v1") (param i32 i32) (result i32) (i32.const 0)))
