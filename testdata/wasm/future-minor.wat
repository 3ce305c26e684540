;; A manifest that needs minor version 99. Out{manifest: {minor 99, name "later"}}
(module (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (memory (export "memory") 1) (data (i32.const 0) "\4a\09\08\63\12\05later")
  (func (export "wasmres_v1") (param i32 i32) (result i32) (drop (call $emit (i32.const 0) (i32.const 11))) (i32.const 0)))
