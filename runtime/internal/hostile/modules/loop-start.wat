;; A loop without end, in start.
(module
  (memory (export "memory") 1)
  (func $go (loop $l (br $l))) (start $go)
  (func (export "wasmres_v1") (param i32 i32) (result i32) (i32.const 0)))
