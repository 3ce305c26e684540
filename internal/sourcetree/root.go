// Package sourcetree finds the files of this repository, for tests: they may be built with -trimpath, and then
// runtime.Caller does not tell.
package sourcetree

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
)

// start is where this process began: go test starts a test in the folder of its package.
var start, startErr = os.Getwd()

// Root gives the folder of the root module. It panics in a process that began outside of it.
var Root = sync.OnceValue(func() string {
	if startErr != nil {
		panic(startErr)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module github.com/wasmres/wasmres\n")) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("there is no module github.com/wasmres/wasmres around " + start)
		}
	}
})
