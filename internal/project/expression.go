package project

import (
	"regexp"
	"sync"
)

// expression compiles a regular expression once it is needed: every process of wasmres, workers included, would pay for
// it at its start.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
