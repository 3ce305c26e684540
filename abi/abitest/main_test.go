package abitest_test

import (
	"os"
	"testing"
)

// built is a folder for guests that several tests use.
var built string // fixed before the tests run

func TestMain(m *testing.M) { os.Exit(withFolder(m)) }

// withFolder runs the tests with a folder for guests, and removes that.
func withFolder(m *testing.M) int {
	var err error
	if built, err = os.MkdirTemp("", "abitest-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(built)
	return m.Run()
}
