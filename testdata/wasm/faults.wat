;; A provider that misbehaves in the way the last letter of the URI says. Build: wat2wasm faults.wat -o faults.wasm
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasmres_v1" "body" (func $body (param i32 i32) (result i32)))
  (import "wasmres_v1" "call" (func $call (param i32 i32 i32) (result i64)))
  (import "wasmres_v1" "log" (func $log (param i32 i32 i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)

  ;; 1024: Out{manifest: Manifest{name "faults", ops READ|POLL}}
  (data (i32.const 1024) "\4a\0b\12\06faults\40\84\01")
  ;; 1100: Out{content: {uri "x:o", mime "text/plain", text "fine"}}
  (data (i32.const 1100) "\1a\17\0a\03x:o\12\0atext/plain\1a\04fine")
  ;; 1200: a truncated field
  (data (i32.const 1200) "\1a\7f\0a")
  ;; 1300: a content whose URI has a line feed
  (data (i32.const 1300) "\1a\0a\0a\04x:\0aa\1a\02hi")
  ;; 1400: a text that is not UTF-8
  (data (i32.const 1400) "\1a\09\0a\03x:h\1a\02\ff\fe")
  ;; 1500: Out{error: {message "nothing here"}}
  (data (i32.const 1500) "\2a\0e\0a\0cnothing here")
  ;; 1600: a blob whose body follows
  (data (i32.const 1600) "\1a\07\0a\03x:l\28\02")
  ;; 1700: an iovec and the line it writes
  (data (i32.const 1700) "\b0\06\00\00\17\00\00\00")
  (data (i32.const 1712) "{\22jsonrpc\22:\22forged\22}\0a ")
  ;; 1800: Out{content: {uri "x:s", text one digit}}
  (data (i32.const 1800) "\1a\08\0a\03x:s\1a\010")
  ;; 1900: a content that says it has 2^40 bytes
  (data (i32.const 1900) "\1a\0e\0a\03x:t\28\02\30\80\80\80\80\80\20")

  (func $recurse (param i32) (result i32)
    (i32.add (call $recurse (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))

  (func $serve (export "wasmres_v1") (param $op i32) (param $len i32) (result i32)
    (local $c i32)
    (if (i32.eqz (local.get $op)) (then
      (drop (call $emit (i32.const 1024) (i32.const 13)))
      (return (i32.const 0))))
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000)))
    ;; the URI is field 1: 0a LEN bytes
    (local.set $c (i32.load8_u (i32.add (i32.const 1) (i32.load8_u (i32.const 1)))))

    (if (i32.eq (local.get $c) (i32.const 97)) (then unreachable))                                     ;; a
    (if (i32.eq (local.get $c) (i32.const 98)) (then                                                   ;; b
      (return (call $emit (i32.const 0xfffffff0) (i32.const 64)))))
    (if (i32.eq (local.get $c) (i32.const 99)) (then                                                   ;; c
      (drop (call $emit (i32.const 1200) (i32.const 3))) (return (i32.const 0))))
    (if (i32.eq (local.get $c) (i32.const 100)) (then                                                  ;; d
      (drop (call $body (i32.const 0) (i32.const 8))) (return (i32.const 0))))
    (if (i32.eq (local.get $c) (i32.const 101)) (then (loop $l (br $l))))                              ;; e
    (if (i32.eq (local.get $c) (i32.const 102)) (then                                                  ;; f
      (loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable))
    (if (i32.eq (local.get $c) (i32.const 103)) (then                                                  ;; g
      (drop (call $emit (i32.const 1300) (i32.const 12))) (return (i32.const 0))))
    (if (i32.eq (local.get $c) (i32.const 104)) (then                                                  ;; h
      (drop (call $emit (i32.const 1400) (i32.const 11))) (return (i32.const 0))))
    (if (i32.eq (local.get $c) (i32.const 105)) (then (return (i32.const 99))))                        ;; i
    (if (i32.eq (local.get $c) (i32.const 106)) (then                                                  ;; j
      (drop (call $emit (i32.const 1500) (i32.const 16))) (return (i32.const 1))))
    (if (i32.eq (local.get $c) (i32.const 107)) (then                                                  ;; k
      (local.set $len (i32.const 100))
      (loop $l
        (call $log (i32.const 1) (i32.const 1100) (i32.const 4096))
        (br_if $l (local.tee $len (i32.sub (local.get $len) (i32.const 1)))))))
    (if (i32.eq (local.get $c) (i32.const 108)) (then                                                  ;; l
      (drop (call $emit (i32.const 1600) (i32.const 9)))
      (loop $l (br_if $l (i32.eqz (call $body (i32.const 0) (i32.const 65536)))))
      (return (i32.const 0))))
    (if (i32.eq (local.get $c) (i32.const 109)) (then (call $exit (i32.const 0)) unreachable))         ;; m
    (if (i32.eq (local.get $c) (i32.const 110)) (then                                                  ;; n
      (drop (call $fd_write (i32.const 1) (i32.const 1700) (i32.const 1) (i32.const 2000)))))
    (if (i32.eq (local.get $c) (i32.const 112)) (then                                                  ;; p
      (return (call $take (i32.const 0) (i32.const 131070) (i32.const 0) (i32.const 64)))))
    (if (i32.eq (local.get $c) (i32.const 113)) (then (return (call $recurse (i32.const 0)))))         ;; q
    (if (i32.eq (local.get $c) (i32.const 114)) (then (return (i32.const 0))))                         ;; r
    (if (i32.eq (local.get $c) (i32.const 115)) (then                                                  ;; s
      (i32.store8 (i32.const 1809) (i32.add (i32.load8_u (i32.const 1809)) (i32.const 1)))
      (drop (call $emit (i32.const 1800) (i32.const 10))) (return (i32.const 0))))
    (if (i32.eq (local.get $c) (i32.const 116)) (then                                                  ;; t
      (drop (call $emit (i32.const 1900) (i32.const 16))) (return (i32.const 0))))
    (if (i32.eq (local.get $c) (i32.const 117)) (then                                                  ;; u
      (return (i32.wrap_i64 (i64.shr_u (call $call (i32.const 12) (i32.const 0) (i32.const 0)) (i64.const 32))))))
    (drop (call $emit (i32.const 1100) (i32.const 25)))
    (i32.const 0)))
