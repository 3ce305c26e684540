;; Recursion, in the way the last letter of the URI says; o answers.
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasmres_v1" "info" (func $info (param i32) (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "\1a\0b\0a\03x:o\1a\04fine")
  (table 1 funcref)
  (elem (i32.const 0) $indirect)
  (type $down (func (param i32) (result i32)))

  ;; What is added afterwards keeps an engine from making a loop of it.
  (func $direct (param i32) (result i32)
    (i32.add (call $direct (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func $ping (param i32) (result i32) (i32.add (call $pong (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func $pong (param i32) (result i32) (i32.xor (call $ping (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func $indirect (type $down)
    (i32.add (call_indirect (type $down) (i32.add (local.get 0) (i32.const 1)) (i32.const 0)) (i32.const 1)))
  (func $params (param i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64) (result i64)
    (i64.add (local.get 15) (call $params (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6)
      (local.get 7) (local.get 8) (local.get 9) (local.get 10) (local.get 11) (local.get 12) (local.get 13) (local.get 14)
      (local.get 15) (i64.add (local.get 0) (i64.const 1)))))
  (func $fibonacci (param i32) (result i32)
    (if (result i32) (i32.lt_u (local.get 0) (i32.const 2))
      (then (local.get 0))
      (else (i32.add (call $fibonacci (i32.sub (local.get 0) (i32.const 1))) (call $fibonacci (i32.sub (local.get 0) (i32.const 2)))))))
  (func $bounded (param i32) (result i32)
    (if (result i32) (i32.eqz (local.get 0))
      (then (i32.const 0))
      (else (i32.add (call $bounded (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))))
  ;; Ackermann's function
  (func $wide (param $m i64) (param $n i64) (result i64)
    (if (i64.eqz (local.get $m)) (then (return (i64.add (local.get $n) (i64.const 1)))))
    (if (i64.eqz (local.get $n)) (then (return (call $wide (i64.sub (local.get $m) (i64.const 1)) (i64.const 1)))))
    (call $wide (i64.sub (local.get $m) (i64.const 1)) (call $wide (local.get $m) (i64.sub (local.get $n) (i64.const 1)))))
  (func $asking (param i32) (result i64)
    (i64.add (call $info (i32.const 1)) (call $asking (i32.add (local.get 0) (i32.const 1)))))

  ;; Functions that end in each way there is. Who counts their depth must count each end once.
  (type $end (func (param i32) (result i32)))
  (func $byend (type $end) (call $nothing) (i32.const 0))
  (func $byreturn (type $end) (call $nothing) (block (loop (if (local.get 0) (then (return (i32.const 1))) (else (return (i32.const 0)))))) (i32.const 2))
  (func $bybranch (type $end) (call $nothing) (block (loop (br 2 (i32.const 1)))) (i32.const 2))
  (func $bybranchif (type $end) (call $nothing) (block (loop (drop (br_if 2 (i32.const 1) (local.get 0))))) (i32.const 2))
  (func $bytable (type $end) (call $nothing) (block (result i32) (br_table 0 1 0 (i32.const 1) (local.get 0))))
  (func $afterdead (type $end) (call $nothing) (br 0 (i32.const 1)) (loop (br 0)) (return (i32.const 1)) unreachable)
  (func $nothing)
  (func $ends (param i32) (local i32)
    (loop $l
      (drop (call $byend (local.get 1)))
      (drop (call $byreturn (i32.and (local.get 1) (i32.const 1))))
      (drop (call $bybranch (local.get 1)))
      (drop (call $bybranchif (i32.and (local.get 1) (i32.const 1))))
      (drop (call $bytable (i32.and (local.get 1) (i32.const 3))))
      (drop (call $afterdead (local.get 1)))
      (br_if $l (i32.lt_u (local.tee 1 (i32.add (local.get 1) (i32.const 1))) (local.get 0)))))

  (func $handler (export "wasmres_v1") (param i32 i32) (result i32)
    (local $c i32)
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000)))
    (local.set $c (i32.load8_u (i32.add (i32.const 1) (i32.load8_u (i32.const 1)))))
    (if (i32.eq (local.get $c) (i32.const 97)) (then (return (call $direct (i32.const 0)))))                  ;; a
    (if (i32.eq (local.get $c) (i32.const 98)) (then (return (call $ping (i32.const 0)))))                    ;; b
    (if (i32.eq (local.get $c) (i32.const 99)) (then (return (call $indirect (i32.const 0)))))                ;; c
    (if (i32.eq (local.get $c) (i32.const 100)) (then (return (i32.wrap_i64 (call $params                     ;; d
      (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1)
      (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1))))))
    (if (i32.eq (local.get $c) (i32.const 101)) (then                                                         ;; e
      (return (i32.add (call $handler (local.get 0) (local.get 1)) (i32.const 1)))))
    (if (i32.eq (local.get $c) (i32.const 102)) (then (return (call $fibonacci (i32.const 60)))))             ;; f
    (if (i32.eq (local.get $c) (i32.const 103)) (then                                                         ;; g
      (if (i32.ne (call $bounded (i32.const 1000)) (i32.const 1000)) (then unreachable))))
    (if (i32.eq (local.get $c) (i32.const 104)) (then                                                         ;; h
      (return (i32.wrap_i64 (call $wide (i64.const 4) (i64.const 2))))))
    (if (i32.eq (local.get $c) (i32.const 105)) (then (return (i32.wrap_i64 (call $asking (i32.const 0))))))  ;; i
    (if (i32.eq (local.get $c) (i32.const 106)) (then (call $ends (i32.const 20000))))                        ;; j
    (if (i32.eq (local.get $c) (i32.const 107)) (then                                                         ;; k
      (call $ends (i32.const 20000)) (return (call $direct (i32.const 0)))))
    (drop (call $emit (i32.const 1024) (i32.const 13)))
    (i32.const 0)))
