;; A loop without end, in describe.
(module
  (memory (export "memory") 1)
  (func (export "wasmres_v1") (param i32 i32) (result i32) (loop $l (br $l)) unreachable))
