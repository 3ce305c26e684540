;; What a guest can do to its tables, in the way the last letter of the URI says; o answers. A table that was refused to
;; grow is as it was, and a guest that sees anything else traps.
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "\1a\0b\0a\03x:o\1a\04fine")
  (table $t 10 funcref)
  (table $bounded 1 0xffffffff funcref)
  (elem $own declare func $leaf)
  (elem (table $t) (i32.const 3) func $leaf)
  (func $leaf)
  (type $other (func (param i64 i64 i64) (result i64)))

  (func (export "wasmres_v1") (param i32 i32) (result i32)
    (local $c i32) (local $n i32)
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000)))
    (local.set $c (i32.load8_u (i32.add (i32.const 1) (i32.load8_u (i32.const 1)))))
    ;; a: by 2^27
    (if (i32.eq (local.get $c) (i32.const 97)) (then
      (if (i32.ne (table.grow $t (ref.func $leaf) (i32.const 0x8000000)) (i32.const -1)) (then unreachable))
      (if (i32.ne (table.size $t) (i32.const 10)) (then unreachable))))
    ;; b: by 2^32-2
    (if (i32.eq (local.get $c) (i32.const 98)) (then
      (if (i32.ne (table.grow $t (ref.func $leaf) (i32.const -2)) (i32.const -1)) (then unreachable))))
    ;; c: by 1,000 until it may not
    (if (i32.eq (local.get $c) (i32.const 99)) (then
      (loop $l
        (if (i32.ne (table.grow $t (ref.func $leaf) (i32.const 1000)) (i32.const -1)) (then (br $l))))
      (if (i32.gt_u (table.size $t) (i32.const 10000000)) (then unreachable))))
    ;; d: by its own size until it may not
    (if (i32.eq (local.get $c) (i32.const 100)) (then
      (loop $l
        (if (i32.ne (table.grow $t (ref.null func) (table.size $t)) (i32.const -1)) (then (br $l))))
      (if (i32.gt_u (table.size $t) (i32.const 10000000)) (then unreachable))))
    (if (i32.eq (local.get $c) (i32.const 101)) (then                                     ;; e
      (table.fill $t (i32.const 5) (ref.null func) (i32.const -1))))
    (if (i32.eq (local.get $c) (i32.const 102)) (then                                     ;; f
      (drop (table.get $t (i32.const -1)))))
    (if (i32.eq (local.get $c) (i32.const 103)) (then (call_indirect $t (i32.const 4))))  ;; g
    (if (i32.eq (local.get $c) (i32.const 104)) (then                                     ;; h
      (drop (call_indirect $t (type $other) (i64.const 1) (i64.const 2) (i64.const 3) (i32.const 3)))))
    (if (i32.eq (local.get $c) (i32.const 105)) (then (call_indirect $t (i32.const -1)))) ;; i
    ;; j: the other table
    (if (i32.eq (local.get $c) (i32.const 106)) (then
      (if (i32.ne (table.grow $bounded (ref.null func) (i32.const 0x8000000)) (i32.const -1)) (then unreachable))))
    (drop (call $emit (i32.const 1024) (i32.const 13)))
    (i32.const 0)))
