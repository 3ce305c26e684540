;; A provider with a passive data segment. Made by: wat2wasm passive.wat
(module
  (memory (export "memory") 1)
  (data "passive")
  (func (export "prepare") (param i32) (result i32) (i32.const 0))
  (func (export "wasmres_v1") (param i32 i32) (result i32) (i32.const 0)))
