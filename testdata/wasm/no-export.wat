;; A module that exports no wasmres_v1.
(module (memory (export "memory") 1))
