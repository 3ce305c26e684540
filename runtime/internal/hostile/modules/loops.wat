;; Code that never ends, in the way the last letter of the URI says; o answers.
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (memory (export "memory") 1024)
  (data (i32.const 1024) "\1a\0b\0a\03x:o\1a\04fine")
  (table 1 funcref)
  (elem (i32.const 0) $leaf)
  (func $leaf)
  (global $sink (mut f64) (f64.const 2))

  (func $letter (result i32)
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000)))
    (i32.load8_u (i32.add (i32.const 1) (i32.load8_u (i32.const 1)))))

  (func (export "wasmres_v1") (param i32 i32) (result i32)
    (local $c i32) (local $n i64)
    (local.set $c (call $letter))
    ;; a: nothing in it
    (if (i32.eq (local.get $c) (i32.const 97)) (then (loop $l (br $l))))
    ;; b: back by a table
    (if (i32.eq (local.get $c) (i32.const 98)) (then
      (loop $l (block $out (br_table $l $l $out $l (i32.const 0))))))
    ;; c: loops in loops, each of which ends but the outermost
    (if (i32.eq (local.get $c) (i32.const 99)) (then
      (loop $x
        (local.set $n (i64.const 0))
        (loop $y
          (loop $z (br_if $z (i64.ne (i64.and (local.tee $n (i64.add (local.get $n) (i64.const 1))) (i64.const 3)) (i64.const 0))))
          (br_if $y (i64.lt_u (local.get $n) (i64.const 1000))))
        (br $x))))
    ;; d: it would end, after 2^64 turns
    (if (i32.eq (local.get $c) (i32.const 100)) (then
      (loop $l (br_if $l (i64.ne (local.tee $n (i64.add (local.get $n) (i64.const 1))) (i64.const 0))))))
    ;; e: it calls a leaf
    (if (i32.eq (local.get $c) (i32.const 101)) (then (loop $l (call $leaf) (br $l))))
    ;; f: it calls a leaf through a table
    (if (i32.eq (local.get $c) (i32.const 102)) (then (loop $l (call_indirect (i32.const 0)) (br $l))))
    ;; g: each turn fills 63 MiB
    (if (i32.eq (local.get $c) (i32.const 103)) (then
      (loop $l (memory.fill (i32.const 65536) (i32.const 7) (i32.const 66060288)) (br $l))))
    ;; h: each turn moves 62 MiB
    (if (i32.eq (local.get $c) (i32.const 104)) (then
      (loop $l (memory.copy (i32.const 131072) (i32.const 65536) (i32.const 65011712)) (br $l))))
    ;; i: each turn does a few thousand divisions and roots, in a straight line would be long; a chain of dear ones here
    (if (i32.eq (local.get $c) (i32.const 105)) (then
      (loop $l
        (global.set $sink (f64.sqrt (f64.div (f64.const 1) (f64.sqrt (f64.div (f64.const 1) (global.get $sink))))))
        (local.set $n (i64.div_u (i64.const -1) (i64.or (local.get $n) (i64.const 1))))
        (local.set $n (i64.rem_u (i64.const -1) (i64.or (local.get $n) (i64.const 1))))
        (br $l))))
    ;; j: the way back leads through an else
    (if (i32.eq (local.get $c) (i32.const 106)) (then
      (loop $l (if (i64.eqz (local.get $n)) (then (local.set $n (i64.const 1)) (br $l)) (else (local.set $n (i64.const 0)) (br $l))))))
    ;; k: a loop with a parameter
    (if (i32.eq (local.get $c) (i32.const 107)) (then
      (i32.const 1) (loop $l (param i32) (br $l))))
    ;; l: it reads memory a page apart
    (if (i32.eq (local.get $c) (i32.const 108)) (then
      (loop $l
        (local.set $n (i64.add (i64.load (i32.wrap_i64 (i64.and (local.get $n) (i64.const 0x3fffff0)))) (i64.add (local.get $n) (i64.const 4096))))
        (br $l))))
    (drop (call $emit (i32.const 1024) (i32.const 13)))
    (i32.const 0)))
