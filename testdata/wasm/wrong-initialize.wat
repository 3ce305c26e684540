;; _initialize with a result.
(module (memory (export "memory") 1)
  (func (export "_initialize") (result i32) (i32.const 0))
  (func (export "wasmres_v1") (param i32 i32) (result i32) (i32.const 0)))
