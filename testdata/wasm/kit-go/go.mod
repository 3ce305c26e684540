module github.com/wasmres/wasmres/testdata/wasm/kit-go

go 1.24

require github.com/wasmres/wasmres/guest-sdk/go v0.0.0

replace github.com/wasmres/wasmres/guest-sdk/go => ../../../guest-sdk/go
