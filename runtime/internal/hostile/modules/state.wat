;; A guest that leaves things behind. Every call first looks whether an earlier one can be seen, and traps if so; then it
;; leaves what the last letter of the URI says; o leaves nothing.
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasmres_v1" "call" (func $call (param i32 i32 i32) (result i64)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 3)
  (data (i32.const 1024) "\1a\0b\0a\03x:o\1a\04fine")
  ;; a notice about x:o, as service 9 wants it
  (data (i32.const 1100) "\0a\03x:o")
  ;; an iovec and half a line
  (data (i32.const 1200) "\c0\04\00\00\04\00\00\00")
  (data (i32.const 1216) "half")
  ;; a malformed frame
  (data (i32.const 1300) "\1a\7f\0a")
  (data $passive "here")
  (table $t 4 funcref)
  (elem (table $t) (i32.const 0) func $one $two)
  (elem $spare func $one)
  (func $one) (func $two)
  (global $i (mut i32) (i32.const 11))
  (global $l (mut i64) (i64.const 12))
  (global $f (mut f32) (f32.const 13))
  (global $d (mut f64) (f64.const 14))
  (global $v (mut v128) (v128.const i64x2 15 16))
  (global $r (mut funcref) (ref.null func))
  (global $ready (mut i32) (i32.const 0))

  ;; What initialisation leaves is what every call begins with.
  (func (export "_initialize")
    (global.set $ready (i32.add (global.get $ready) (i32.const 1)))
    (i32.store (i32.const 2000) (i32.const 77)))

  (func $must (param i32) (if (i32.eqz (local.get 0)) (then unreachable)))

  (func $check (local $at i32)
    (call $must (i32.eq (global.get $ready) (i32.const 1)))
    (call $must (i32.eq (i32.load (i32.const 2000)) (i32.const 77)))
    (call $must (i32.eq (global.get $i) (i32.const 11)))
    (call $must (i64.eq (global.get $l) (i64.const 12)))
    (call $must (f32.eq (global.get $f) (f32.const 13)))
    (call $must (f64.eq (global.get $d) (f64.const 14)))
    (call $must (i64.eq (i64x2.extract_lane 0 (global.get $v)) (i64.const 15)))
    (call $must (i64.eq (i64x2.extract_lane 1 (global.get $v)) (i64.const 16)))
    (call $must (ref.is_null (global.get $r)))
    (call $must (i32.eq (memory.size) (i32.const 3)))
    (call $must (i32.eq (table.size $t) (i32.const 4)))
    (call $must (ref.is_null (table.get $t (i32.const 2))))
    (call $must (ref.is_null (table.get $t (i32.const 3))))
    (call $must (i32.eqz (ref.is_null (table.get $t (i32.const 0)))))
    ;; nothing of an earlier service call
    (call $must (i32.eqz (call $take (i32.const 1) (i32.const 4096) (i32.const 0) (i32.const 1000))))
    (call $must (i32.eqz (call $take (i32.const 2) (i32.const 4096) (i32.const 0) (i32.const 1000))))
    ;; the last two pages are empty
    (local.set $at (i32.const 65536))
    (loop $look
      (call $must (i64.eqz (i64.load (local.get $at))))
      (br_if $look (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 196608)))))

  ;; Segments that were dropped cannot be read any more: these trap.
  (func $segments
    (memory.init $passive (i32.const 3000) (i32.const 0) (i32.const 4))
    (table.init $t $spare (i32.const 2) (i32.const 0) (i32.const 1))
    (table.set $t (i32.const 2) (ref.null func)))

  (func $memory (local $at i32)
    (i32.store (i32.const 2000) (i32.const 78))
    (local.set $at (i32.const 65536))
    (loop $l
      (i64.store (local.get $at) (i64.const -1))
      (br_if $l (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 196608)))))
  (func $globals
    (global.set $i (i32.const -1)) (global.set $l (i64.const -1)) (global.set $f (f32.const -1)) (global.set $d (f64.const -1)))
  (func $vector (global.set $v (v128.const i64x2 -1 -2)))
  (func $highhalf (global.set $v (v128.const i64x2 15 -2)))
  (func $reference (global.set $r (ref.func $one)))
  (func $grow (local $at i32)
    (local.set $at (i32.shl (memory.size) (i32.const 16)))
    (call $must (i32.ne (memory.grow (i32.const 20)) (i32.const -1)))
    ;; what is new is empty, whoever had it before
    (loop $l
      (call $must (i64.eqz (i64.load (local.get $at))))
      (i64.store (local.get $at) (i64.const -1))
      (br_if $l (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.shl (memory.size) (i32.const 16))))))
  (func $table
    (table.set $t (i32.const 0) (ref.func $two)) (table.set $t (i32.const 3) (ref.func $one)) (table.set $t (i32.const 1) (ref.null func)))
  (func $everything
    (call $segments) (call $memory) (call $globals) (call $vector) (call $reference) (call $table)
    (drop (table.grow $t (ref.func $one) (i32.const 5)))
    (data.drop $passive) (elem.drop $spare) (call $grow)
    (drop (call $call (i32.const 9) (i32.const 1100) (i32.const 5))))
  (func $recurse (param i32) (result i32) (i32.add (call $recurse (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))

  (func (export "wasmres_v1") (param i32 i32) (result i32)
    (local $c i32)
    (call $check)
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000)))
    (local.set $c (i32.load8_u (i32.add (i32.const 1) (i32.load8_u (i32.const 1)))))
    ;; in all of these the guest then answers
    (if (i32.eq (local.get $c) (i32.const 111)) (then (call $segments)))                                         ;; o
    (if (i32.eq (local.get $c) (i32.const 97)) (then (call $everything)))                                        ;; a
    (if (i32.eq (local.get $c) (i32.const 98)) (then (call $memory)))                                            ;; b
    (if (i32.eq (local.get $c) (i32.const 99)) (then (call $globals)))                                           ;; c
    (if (i32.eq (local.get $c) (i32.const 100)) (then (call $vector)))                                           ;; d
    (if (i32.eq (local.get $c) (i32.const 101)) (then (call $highhalf)))                                         ;; e
    (if (i32.eq (local.get $c) (i32.const 102)) (then (call $reference)))                                        ;; f
    (if (i32.eq (local.get $c) (i32.const 103)) (then (call $grow)))                                             ;; g
    (if (i32.eq (local.get $c) (i32.const 104)) (then (call $table)))                                            ;; h
    (if (i32.eq (local.get $c) (i32.const 105)) (then (drop (table.grow $t (ref.func $one) (i32.const 5)))))     ;; i
    (if (i32.eq (local.get $c) (i32.const 106)) (then (call $segments) (data.drop $passive)))                    ;; j
    (if (i32.eq (local.get $c) (i32.const 107)) (then (call $segments) (elem.drop $spare)))                      ;; k
    (if (i32.eq (local.get $c) (i32.const 108)) (then (drop (call $write (i32.const 1) (i32.const 1200) (i32.const 1) (i32.const 1300))))) ;; l
    ;; in all of these it ends otherwise
    (if (i32.eq (local.get $c) (i32.const 112)) (then (call $everything) unreachable))                           ;; p
    (if (i32.eq (local.get $c) (i32.const 113)) (then (call $everything) (loop $l (br $l))))                     ;; q
    (if (i32.eq (local.get $c) (i32.const 114)) (then (call $everything) (call $exit (i32.const 0)) unreachable)) ;; r
    (if (i32.eq (local.get $c) (i32.const 115)) (then (call $everything) (return (i32.const 9))))                ;; s
    (if (i32.eq (local.get $c) (i32.const 116)) (then (call $everything) (return (call $recurse (i32.const 0))))) ;; t
    (if (i32.eq (local.get $c) (i32.const 117)) (then                                                            ;; u
      (call $everything) (drop (call $emit (i32.const 1300) (i32.const 3)))))
    (if (i32.eq (local.get $c) (i32.const 118)) (then                                                            ;; v
      (call $everything) (drop (call $emit (i32.const -1) (i32.const -1)))))
    (if (i32.eq (local.get $c) (i32.const 119)) (then                                                            ;; w
      (call $everything) (loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable))
    (drop (call $emit (i32.const 1024) (i32.const 13)))
    (i32.const 0)))
