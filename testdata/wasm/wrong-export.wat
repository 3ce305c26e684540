;; wasmres_v1 with another signature.
(module (memory (export "memory") 1) (func (export "wasmres_v1") (param i32) (result i64) (i64.const 0)))
