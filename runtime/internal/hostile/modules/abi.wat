;; What a guest can do with the host functions of wasmres_v1, in the way the last letter of the URI says; o answers.
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasmres_v1" "body" (func $body (param i32 i32) (result i32)))
  (import "wasmres_v1" "call" (func $call (param i32 i32 i32) (result i64)))
  (import "wasmres_v1" "log" (func $log (param i32 i32 i32)))
  (import "wasmres_v1" "info" (func $info (param i32) (result i64)))
  (import "env" "abort" (func $abort (param i32 i32 i32 i32)))
  (memory (export "memory") 20)
  (data (i32.const 1024) "\1a\0b\0a\03x:o\1a\04fine")
  ;; 1100: a blob whose bytes follow
  (data (i32.const 1100) "\1a\07\0a\03x:l\28\02")
  ;; 1200: a report of progress
  (data (i32.const 1200) "\7a\09\09\00\00\00\00\00\00\f0\3f")
  ;; 1300: a notice about a URI that is none
  (data (i32.const 1300) "\0a\05x:\0a\1b[")
  ;; 1400: a text for the log
  (data (i32.const 1400) "\1b[2J\0d\0a{\22jsonrpc\22:\222.0\22}\00\ff\fe\0a\e2\80\ae")
  ;; 1500: a notice about x:o
  (data (i32.const 1500) "\0a\03x:o")

  (func $must (param i32) (if (i32.eqz (local.get 0)) (then unreachable)))

  (func (export "wasmres_v1") (param i32 i32) (result i32)
    (local $c i32) (local $n i32)
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000)))
    (local.set $c (i32.load8_u (i32.add (i32.const 1) (i32.load8_u (i32.const 1)))))
    ;; a: contents for ever, whatever the host says
    (if (i32.eq (local.get $c) (i32.const 97)) (then
      (loop $l (drop (call $emit (i32.const 1024) (i32.const 13))) (br $l))))
    ;; b: bytes for ever, whatever the host says
    (if (i32.eq (local.get $c) (i32.const 98)) (then
      (drop (call $emit (i32.const 1100) (i32.const 9)))
      (loop $l (drop (call $body (i32.const 0) (i32.const 65536))) (br $l))))
    ;; c, d, e: frames that are not in memory, or too long
    (if (i32.eq (local.get $c) (i32.const 99)) (then (return (call $emit (i32.const 1024) (i32.const -1)))))
    (if (i32.eq (local.get $c) (i32.const 100)) (then (return (call $emit (i32.const 1310719) (i32.const 2)))))
    (if (i32.eq (local.get $c) (i32.const 101)) (then (return (call $emit (i32.const 0) (i32.const 1048577)))))
    ;; f: lines for ever
    (if (i32.eq (local.get $c) (i32.const 102)) (then
      (loop $l (call $log (i32.const 3) (i32.const 1400) (i32.const 30)) (br $l))))
    ;; g: 1,000 lines of 20 pages each
    (if (i32.eq (local.get $c) (i32.const 103)) (then
      (loop $l
        (call $log (i32.const 1) (i32.const 0) (i32.const 1310720))
        (br_if $l (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000))))))
    ;; h: services it has not been granted, for ever
    (if (i32.eq (local.get $c) (i32.const 104)) (then
      (loop $l (drop (call $call (i32.const 12) (i32.const 0) (i32.const 100))) (br $l))))
    ;; i: a service request that is not in memory
    (if (i32.eq (local.get $c) (i32.const 105)) (then (drop (call $call (i32.const 9) (i32.const 0) (i32.const -1)))))
    ;; j: services there are not, and requests that are too long
    (if (i32.eq (local.get $c) (i32.const 106)) (then
      (call $must (i64.eq (call $call (i32.const -1) (i32.const 0) (i32.const 0)) (i64.const 0x300000000)))
      (call $must (i64.eq (call $call (i32.const 0) (i32.const 0) (i32.const 0)) (i64.const 0x300000000)))
      (call $must (i64.eq (call $call (i32.const 13) (i32.const 0) (i32.const 0)) (i64.const 0x300000000)))
      (call $must (i64.ne (call $call (i32.const 9) (i32.const 0) (i32.const 1048577)) (i64.const 0)))))
    ;; k: channels there are not, and offsets beyond the end
    (if (i32.eq (local.get $c) (i32.const 107)) (then
      (call $must (i32.eqz (call $take (i32.const -1) (i32.const 0) (i32.const 0) (i32.const 1000))))
      (call $must (i32.eqz (call $take (i32.const 0) (i32.const 0) (i32.const -1) (i32.const -1))))
      (call $must (i32.eqz (call $take (i32.const 1) (i32.const 0) (i32.const 0) (i32.const -1))))
      (call $must (i32.lt_u (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const -1)) (i32.const 1000)))))
    ;; l: a place to copy to that is not in memory
    (if (i32.eq (local.get $c) (i32.const 108)) (then
      (drop (call $take (i32.const 0) (i32.const -4) (i32.const 0) (i32.const -1)))))
    ;; n: numbers the host does not know
    (if (i32.eq (local.get $c) (i32.const 110)) (then
      (call $must (i64.eqz (call $info (i32.const -1)))) (call $must (i64.eqz (call $info (i32.const 6))))))
    ;; p: numbers for ever
    (if (i32.eq (local.get $c) (i32.const 112)) (then (loop $l (drop (call $info (i32.const 0))) (br $l))))
    (if (i32.eq (local.get $c) (i32.const 113)) (then (return (i32.const 99)))) ;; q: a code there is not
    (if (i32.eq (local.get $c) (i32.const 114)) (then (return (i32.const 6))))  ;; r: says itself that it took too long
    (if (i32.eq (local.get $c) (i32.const 115)) (then (return (i32.const 34)))) ;; s: states what only the host may
    (if (i32.eq (local.get $c) (i32.const 116)) (then                           ;; t
      (call $abort (i32.const -1) (i32.const -1) (i32.const -1) (i32.const -1))))
    ;; u: notices for ever
    (if (i32.eq (local.get $c) (i32.const 117)) (then
      (loop $l
        (drop (call $call (i32.const 10) (i32.const 0) (i32.const 0)))
        (drop (call $call (i32.const 9) (i32.const 1500) (i32.const 5)))
        (br $l))))
    ;; v: a notice about what is no URI
    (if (i32.eq (local.get $c) (i32.const 118)) (then
      (call $must (i64.ne (call $call (i32.const 9) (i32.const 1300) (i32.const 7)) (i64.const 0)))))
    ;; w: a line that is not in memory, at a level there is not
    (if (i32.eq (local.get $c) (i32.const 119)) (then (call $log (i32.const -1) (i32.const -1) (i32.const 16))))
    ;; x: empty frames for ever
    (if (i32.eq (local.get $c) (i32.const 120)) (then (loop $l (drop (call $emit (i32.const 0) (i32.const 0))) (br $l))))
    ;; y: lines that clear the terminal
    (if (i32.eq (local.get $c) (i32.const 121)) (then (call $log (i32.const 1) (i32.const 1400) (i32.const 40))))
    ;; z: bytes of nothing
    (if (i32.eq (local.get $c) (i32.const 122)) (then (return (call $body (i32.const 0) (i32.const 8)))))
    ;; A: progress for ever
    (if (i32.eq (local.get $c) (i32.const 65)) (then (loop $l (drop (call $emit (i32.const 1200) (i32.const 11))) (br $l))))
    ;; B: the same request, taken for ever
    (if (i32.eq (local.get $c) (i32.const 66)) (then
      (loop $l (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000))) (br $l))))
    ;; C: a MiB of a malformed frame, for ever
    (if (i32.eq (local.get $c) (i32.const 67)) (then
      (loop $l (drop (call $emit (i32.const 0) (i32.const 1048576))) (br $l))))
    (drop (call $emit (i32.const 1024) (i32.const 13)))
    (i32.const 0)))
