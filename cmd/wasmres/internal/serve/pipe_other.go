//go:build !linux

package serve

import "io"

// Pollable gives the stream as it is: other systems need nothing.
func Pollable(stream io.Reader) io.Reader { return stream }
