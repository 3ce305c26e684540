;; A program with main, not a reactor.
(module (memory (export "memory") 1) (func (export "_start"))
  (func (export "wasmres_v1") (param i32 i32) (result i32) (i32.const 0)))
