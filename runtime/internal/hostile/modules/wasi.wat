;; What a guest can do with WASI, in the way the last letter of the URI says; o answers. Where the host must refuse, a
;; guest that gets what it asked for traps.
(module
  (import "wasmres_v1" "take" (func $take (param i32 i32 i32 i32) (result i32)))
  (import "wasmres_v1" "emit" (func $emit (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_symlink" (func $symlink (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_accept" (func $accept (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 4)
  (data (i32.const 1024) "\1a\0b\0a\03x:o\1a\04fine")
  ;; 1200: an iovec of a forged reply
  (data (i32.const 1200) "\c0\04\00\00\34\00\00\00")
  (data (i32.const 1216) "{\22jsonrpc\22:\222.0\22,\22id\22:1,\22result\22:{\22forged\22:true}}\0a\0a")
  ;; 1300: an iovec that leads out of memory
  (data (i32.const 1300) "\00\ff\ff\ff\ff\ff\ff\ff")
  (data (i32.const 1400) "/etc/passwd")
  ;; 4096: a subscription to a clock that fires in an hour; +16 the clock, +24 the time, +40 the flags
  (data (i32.const 4112) "\01\00\00\00\00\00\00\00\00\a0\b8\30\46\03\00\00")

  (func $must (param i32) (if (i32.eqz (local.get 0)) (then unreachable)))

  ;; 1,024 iovecs of 128 KiB each
  (func $vectors (local $at i32)
    (local.set $at (i32.const 65536))
    (loop $l
      (i32.store (local.get $at) (i32.const 0))
      (i32.store offset=4 (local.get $at) (i32.const 131072))
      (br_if $l (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 73728)))))

  (func (export "wasmres_v1") (param i32 i32) (result i32)
    (local $c i32)
    (drop (call $take (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000)))
    (local.set $c (i32.load8_u (i32.add (i32.const 1) (i32.load8_u (i32.const 1)))))
    ;; a: sleeps an hour
    (if (i32.eq (local.get $c) (i32.const 97)) (then
      (drop (call $poll (i32.const 4096) (i32.const 8192) (i32.const 1) (i32.const 16384)))))
    ;; b: sleeps no time at all, for ever
    (if (i32.eq (local.get $c) (i32.const 98)) (then
      (i64.store (i32.const 4120) (i64.const 0))
      (loop $l (drop (call $poll (i32.const 4096) (i32.const 8192) (i32.const 1) (i32.const 16384))) (br $l))))
    ;; c: waits for more than there is memory for
    (if (i32.eq (local.get $c) (i32.const 99)) (then
      (call $must (call $poll (i32.const 4096) (i32.const 8192) (i32.const -1) (i32.const 16384)))
      (call $must (call $poll (i32.const 4096) (i32.const 8192) (i32.const 0x5555556) (i32.const 16384)))
      (call $must (call $poll (i32.const 4096) (i32.const 8192) (i32.const 0) (i32.const 16384)))
      (call $must (call $poll (i32.const -1) (i32.const 8192) (i32.const 1) (i32.const 16384)))))
    ;; d: sleeps until the end of time
    (if (i32.eq (local.get $c) (i32.const 100)) (then
      (i64.store (i32.const 4120) (i64.const -1)) (i32.store16 (i32.const 4136) (i32.const 1))
      (drop (call $poll (i32.const 4096) (i32.const 8192) (i32.const 1) (i32.const 16384)))))
    ;; e: wants more randomness than is given at once
    (if (i32.eq (local.get $c) (i32.const 101)) (then
      (call $must (call $random (i32.const 0) (i32.const 0x4000000)))
      (call $must (call $random (i32.const 0) (i32.const -1)))
      (call $must (call $random (i32.const -1) (i32.const 16)))))
    ;; f: wants randomness for ever
    (if (i32.eq (local.get $c) (i32.const 102)) (then
      (loop $l (drop (call $random (i32.const 65536) (i32.const 65536))) (br $l))))
    ;; g: writes from a million buffers
    (if (i32.eq (local.get $c) (i32.const 103)) (then
      (call $must (call $write (i32.const 1) (i32.const 65536) (i32.const 0x100000) (i32.const 16384)))
      (call $must (call $write (i32.const 1) (i32.const 65536) (i32.const 0x20000000) (i32.const 16384)))
      (call $must (call $write (i32.const 1) (i32.const 65536) (i32.const -1) (i32.const 16384)))))
    ;; h: writes 128 MiB at once, for ever
    (if (i32.eq (local.get $c) (i32.const 104)) (then
      (call $vectors)
      (loop $l (drop (call $write (i32.const 1) (i32.const 65536) (i32.const 1024) (i32.const 16384))) (br $l))))
    ;; i: forges a reply
    (if (i32.eq (local.get $c) (i32.const 105)) (then
      (drop (call $write (i32.const 1) (i32.const 1200) (i32.const 1) (i32.const 16384)))
      (drop (call $write (i32.const 2) (i32.const 1200) (i32.const 1) (i32.const 16384)))))
    ;; j: writes a line that never ends
    (if (i32.eq (local.get $c) (i32.const 106)) (then
      (i32.store (i32.const 1204) (i32.const 1))
      (loop $l (drop (call $write (i32.const 2) (i32.const 1200) (i32.const 1) (i32.const 16384))) (br $l))))
    (if (i32.eq (local.get $c) (i32.const 107)) (then (call $exit (i32.const 0)) unreachable))          ;; k
    (if (i32.eq (local.get $c) (i32.const 108)) (then (call $exit (i32.const 0xefffffff)) unreachable)) ;; l
    (if (i32.eq (local.get $c) (i32.const 109)) (then (call $exit (i32.const -1)) unreachable))         ;; m
    ;; n: reads what the host reads
    (if (i32.eq (local.get $c) (i32.const 110)) (then
      (call $must (call $read (i32.const 0) (i32.const 1200) (i32.const 1) (i32.const 16384)))
      (call $must (call $read (i32.const 3) (i32.const 1200) (i32.const 1) (i32.const 16384)))))
    ;; p: opens files
    (if (i32.eq (local.get $c) (i32.const 112)) (then
      (call $must (call $prestat (i32.const 3) (i32.const 16384)))
      (call $must (call $open (i32.const 3) (i32.const 0) (i32.const 1400) (i32.const 11) (i32.const 0) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 16384)))
      (call $must (call $open (i32.const 0) (i32.const 0) (i32.const 1400) (i32.const 11) (i32.const 0) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 16384)))
      (call $must (call $symlink (i32.const 1400) (i32.const 11) (i32.const 3) (i32.const 1401) (i32.const 3)))
      (call $must (call $accept (i32.const 3) (i32.const 0) (i32.const 16384)))))
    ;; q: yields for ever
    (if (i32.eq (local.get $c) (i32.const 113)) (then (loop $l (drop (call $yield)) (br $l))))
    ;; r: looks at the clock for ever
    (if (i32.eq (local.get $c) (i32.const 114)) (then
      (loop $l (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 16384))) (br $l))))
    ;; s: pointers out of memory
    (if (i32.eq (local.get $c) (i32.const 115)) (then
      (call $must (call $write (i32.const 1) (i32.const 1300) (i32.const 1) (i32.const 16384)))
      (call $must (call $write (i32.const 1) (i32.const -4) (i32.const 1) (i32.const 16384)))
      (call $must (call $write (i32.const 1) (i32.const 1200) (i32.const 1) (i32.const -1)))
      (call $must (call $clock (i32.const 0) (i64.const 1) (i32.const -4)))
      (call $must (call $clock (i32.const 77) (i64.const 1) (i32.const 16384)))
      (call $must (call $environ (i32.const -1) (i32.const 0)))))
    ;; t: looks for an environment and arguments
    (if (i32.eq (local.get $c) (i32.const 116)) (then
      (i64.store (i32.const 16384) (i64.const -1))
      (drop (call $environ (i32.const 16384) (i32.const 16388)))
      (call $must (i64.eqz (i64.load (i32.const 16384))))
      (drop (call $args (i32.const 16384) (i32.const 16388)))
      (call $must (i64.eqz (i64.load (i32.const 16384))))))
    (drop (call $emit (i32.const 1024) (i32.const 13)))
    (i32.const 0)))
