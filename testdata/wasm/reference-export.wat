;; A reference type at the boundary: a host that passed a number would be made to follow it as a pointer.
(module (memory (export "memory") 1) (func (export "wasmres_v1") (param externref i32) (result i32) (i32.const 0)))
