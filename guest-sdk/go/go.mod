module github.com/wasmres/wasmres/guest-sdk/go

go 1.24
