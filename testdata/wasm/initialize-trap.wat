;; A module that crashes while it initialises.
(module (memory (export "memory") 1) (func (export "_initialize") unreachable)
  (func (export "wasmres_v1") (param i32 i32) (result i32) (i32.const 0)))
