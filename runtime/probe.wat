;; The smallest provider: it has one resource, probe:it, which says "fine". Build: wat2wasm probe.wat -o probe.wasm
(module
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  ;; Out{manifest: {name "probe", version "1", ops READ, uri_prefixes "probe:"}}
  (data (i32.const 0) "J\14\12\05probe\1a\011@\04Z\06probe:")
  ;; Out{content: {uri "probe:it", mime "text/plain", text "fine"}}
  (data (i32.const 64) "\1a\1c\0a\08probe:it\12\0atext/plain\1a\04fine")
  (func (export "wasmres_v1") (param $op i32) (param $len i32) (result i32)
    (if (result i32) (local.get $op)
      (then (call $emit (i32.const 64) (i32.const 30)))
      (else (call $emit (i32.const 0) (i32.const 22))))))
