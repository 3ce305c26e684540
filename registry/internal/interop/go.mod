module github.com/wasmres/wasmres/registry/internal/interop

go 1.26.0

require (
	github.com/wasmres/wasmres v0.0.0
	oras.land/oras-go/v2 v2.6.4
)

require (
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
	github.com/secure-systems-lab/go-securesystemslib v0.11.1 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/wasmres/wasmres => ../../..
