//go:build !unix

package terminal

import (
	"image"
	"io"
)

// Sixels reports that the terminal w draws no sixel graphics: terminals are not asked on this system.
func Sixels(io.Writer) (room image.Point, ok bool) { return image.Point{}, false }
