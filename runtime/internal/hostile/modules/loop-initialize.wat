;; A loop without end, in initialize.
(module
  (memory (export "memory") 1)
  (func (export "_initialize") (loop $l (br $l)))
  (func (export "wasmres_v1") (param i32 i32) (result i32) (i32.const 0)))
