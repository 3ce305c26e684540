package contents

import (
	"image"
	"io"
)

// DrawSixels draws a picture of a type as sixel graphics, and reports whether it did.
func DrawSixels(w io.Writer, mimeType string, data []byte, room image.Point) bool {
	f, ok := formatOf(mimeType, data)
	return ok && drawSixels(w, f, data, room)
}
