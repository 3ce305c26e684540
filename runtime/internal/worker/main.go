package worker

import "github.com/wasmres/wasmres/runtime/internal/worker/child"

// Main is [child.Main].
func Main() { child.Main() }
