package worker

import "github.com/wasmres/wasmres/internal/worker/child"

// Main is [child.Main].
func Main() { child.Main() }
