;; What a guest can do to its memory, in the way the last letter of the URI says; o answers.
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 1024) "\1a\0b\0a\03x:o\1a\04fine")

  (func $touch (local $at i32) ;; every page of it
    (loop $l
      (i32.store8 (local.get $at) (i32.const 1))
      (br_if $l (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4096))) (i32.shl (memory.size) (i32.const 16))))))

  (func (export "wasmres_v1") (param i32 i32) (result i32)
    (local $c i32) (local $n i32)
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000)))
    (local.set $c (i32.load8_u (i32.add (i32.const 1) (i32.load8_u (i32.const 1)))))
    ;; a: grows until it may not, and gives up
    (if (i32.eq (local.get $c) (i32.const 97)) (then
      (loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable))
    ;; b: grows until it may not, uses all of it, and gives up
    (if (i32.eq (local.get $c) (i32.const 98)) (then
      (loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (call $touch) unreachable))
    ;; c: goes on asking for ever
    (if (i32.eq (local.get $c) (i32.const 99)) (then
      (loop $l (drop (memory.grow (i32.const 1))) (br $l))))
    ;; d: asks for everything at once, is refused, and answers
    (if (i32.eq (local.get $c) (i32.const 100)) (then
      (if (i32.ne (memory.grow (i32.const 65534)) (i32.const -1)) (then unreachable))
      (if (i32.ne (memory.grow (i32.const -1)) (i32.const -1)) (then unreachable))))
    ;; e: uses all it may have, and answers
    (if (i32.eq (local.get $c) (i32.const 101)) (then
      (loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
      (call $touch)))
    (if (i32.eq (local.get $c) (i32.const 102)) (then (i32.store (i32.const -1) (i32.const 1))))                       ;; f
    (if (i32.eq (local.get $c) (i32.const 103)) (then (drop (i64.load offset=0xffffffff (i32.const -1)))))             ;; g
    (if (i32.eq (local.get $c) (i32.const 104)) (then (memory.fill (i32.const 8) (i32.const 0) (i32.const -1))))       ;; h
    (if (i32.eq (local.get $c) (i32.const 105)) (then (memory.copy (i32.const 0) (i32.const -8) (i32.const 16))))      ;; i
    (if (i32.eq (local.get $c) (i32.const 106)) (then (v128.store (i32.const 131065) (v128.const i64x2 1 2))))         ;; j
    ;; k: has the host write to memory that was not there when it was called
    (if (i32.eq (local.get $c) (i32.const 107)) (then
      (local.set $n (i32.shl (memory.size) (i32.const 16)))
      (drop (memory.grow (i32.const 1)))
      (drop (call $take (i32.const 0) (local.get $n) (i32.const 0) (i32.const 1000)))
      (if (i32.ne (i32.load8_u (local.get $n)) (i32.load8_u (i32.const 0))) (then unreachable))
      (memory.copy (local.get $n) (i32.const 1024) (i32.const 13))
      (drop (call $emit (local.get $n) (i32.const 13)))
      (return (i32.const 0))))
    (if (i32.eq (local.get $c) (i32.const 108)) (then (drop (i32.div_s (i32.const 1) (local.get $n)))))                ;; l
    (if (i32.eq (local.get $c) (i32.const 109)) (then (drop (i32.div_s (i32.const 0x80000000) (i32.const -1)))))       ;; m
    (if (i32.eq (local.get $c) (i32.const 110)) (then (drop (i32.trunc_f64_s (f64.const nan)))))                       ;; n
    (if (i32.eq (local.get $c) (i32.const 112)) (then unreachable))                                                    ;; p
    (drop (call $emit (i32.const 1024) (i32.const 13)))
    (i32.const 0)))
