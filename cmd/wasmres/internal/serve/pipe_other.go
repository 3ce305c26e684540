//go:build !linux

package serve

import "io"

// Pollable returns the stream as it is.
func Pollable(stream io.Reader) io.Reader { return stream }
