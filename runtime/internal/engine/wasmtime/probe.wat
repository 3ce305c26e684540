;; What selfTest asks of wasmtime.
(module
  (memory (export "memory") 1 3)
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "size") (param i32) (result i32) (memory.size))
  (func (export "touch") (param i32) (result i32) (i32.store8 (local.get 0) (i32.const 1)) (i32.const 0)))
