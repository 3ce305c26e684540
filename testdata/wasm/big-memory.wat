;; More initial memory than the default limit.
(module (memory (export "memory") 2000) (func (export "wasmres_v1") (param i32 i32) (result i32) (i32.const 0)))
