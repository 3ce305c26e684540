package viewer_test

import (
	"testing"

	"github.com/wasmres/wasmres/runtime"
)

func TestMain(m *testing.M) {
	runtime.Main()
	m.Run()
}
