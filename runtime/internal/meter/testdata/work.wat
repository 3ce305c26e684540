;; Shapes of code for the tests of fuel, stops and speed.
;; wat2wasm work.wat -o work.wasm
(module
  (type $void (func))
  (import "test" "nothing" (func $nothing))
  (memory (export "memory") 64 1024)
  (table 2 funcref)
  (elem (i32.const 0) $leaf $small)

  (func $leaf (param i32) (result i32) (i32.mul (i32.add (local.get 0) (i32.const 3)) (i32.const 5)))
  (func $small (param i32) (result i32)
    (if (result i32) (i32.and (local.get 0) (i32.const 1))
      (then (call $leaf (local.get 0)))
      (else (i32.sub (local.get 0) (i32.const 1)))))

  (func $fib (export "fib") (param i32) (result i32)
    (if (result i32) (i32.lt_u (local.get 0) (i32.const 2))
      (then (local.get 0))
      (else (i32.add
        (call $fib (i32.sub (local.get 0) (i32.const 1)))
        (call $fib (i32.sub (local.get 0) (i32.const 2)))))))

  (func (export "spin") (param i32) (result i32) (local i32)
    (loop $l
      (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const 33)) (local.get 0)))
      (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))

  ;; sums bytes: a loop with a load
  (func (export "sum") (param i32) (result i32) (local i32)
    (loop $l
      (local.set 1 (i32.add (local.get 1) (i32.load8_u (local.get 0))))
      (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))

  (func (export "calls") (param i32) (result i32) (local i32)
    (loop $l
      (local.set 1 (call $small (local.get 1)))
      (local.set 1 (call_indirect (param i32) (result i32) (local.get 1) (i32.and (local.get 0) (i32.const 1))))
      (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))

  ;; leaves loops and blocks by every way there is
  (func (export "ways") (param i32) (result i32) (local i32 i32)
    (block $out
      (loop $outer
        (local.set 1 (i32.add (local.get 1) (i32.const 1)))
        (loop $inner
          (local.set 2 (i32.add (local.get 2) (i32.const 1)))
          (block $a (block $b (block $c (block $d
            (br_table $a $b $c $d $inner $outer (i32.rem_u (local.get 2) (i32.const 6))))
            (br_if $out (i32.gt_u (local.get 2) (local.get 0))))
            (br_if $outer (i32.and (local.get 2) (i32.const 8))))
            (br_if $inner (i32.and (local.get 2) (i32.const 16))))
          (if (i32.gt_u (local.get 1) (local.get 0)) (then (return (local.get 2))))
          (br $outer))))
    (i32.add (local.get 1) (local.get 2)))

  (func $deep (export "deep") (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (i32.add (call $deep (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))
      (else (i32.const 0))))

  (func (export "spinForever") (loop $l (br $l)))
  (func (export "callForever") (loop $l (call $nothing) (br $l)))
  (func $ping (param i32 i64) (call $pong (i64.const 1) (local.get 0)))
  (func $pong (param i64 i32) (call $ping (local.get 1) (local.get 0)))
  (func (export "recurseForever") (call $ping (i32.const 1) (i64.const 1)))
  (func (export "fillForever") (param i32)
    (loop $l (memory.fill (i32.const 0) (i32.const 1) (local.get 0)) (br $l)))
  (func (export "copyForever") (param i32 i32)
    (loop $l (memory.copy (i32.const 0) (local.get 0) (local.get 1)) (br $l)))
  (func (export "growForever") (loop $l (drop (memory.grow (i32.const 0))) (br $l)))

  (func (export "copy") (param i32 i32 i32) (memory.copy (local.get 0) (local.get 1) (local.get 2)))
  (func (export "fill") (param i32 i32 i32) (memory.fill (local.get 0) (local.get 1) (local.get 2)))
  (func (export "copies") (param i32 i32)
    (loop $l
      (memory.copy (i32.const 2097152) (i32.const 64) (local.get 0))
      (br_if $l (local.tee 1 (i32.sub (local.get 1) (i32.const 1))))))
  (func (export "fills") (param i32 i32)
    (loop $l
      (memory.fill (i32.const 2097152) (i32.const 7) (local.get 0))
      (br_if $l (local.tee 1 (i32.sub (local.get 1) (i32.const 1)))))))
