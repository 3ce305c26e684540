package project

import (
	"regexp"
	"sync"
)

// expression returns a function that compiles a regular expression at its first call. Compiling it at the start would
// delay every process of wasmres, workers included.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
