package contents

import (
	"bytes"
	"image"
	"io"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/sixel"
	"golang.org/x/image/draw"
)

// Bounds of sixel graphics, in pixels: an encoder takes 32 bytes for each.
const (
	maxSixelWidth  = 1024
	maxSixelHeight = 768
)

// drawSixels draws a picture as sixel graphics within room, in pixels, and reports whether it could be decoded.
func drawSixels(w io.Writer, f format, data []byte, room image.Point) bool {
	picture, err := f.decode(bytes.NewReader(data))
	if err != nil {
		return false
	}
	var pixels bytes.Buffer
	if err := new(sixel.Encoder).Encode(&pixels, scaled(picture, room)); err != nil {
		return false
	}
	const background = 1                                                                // pixels that are not drawn keep their colour
	_, _ = io.WriteString(w, ansi.SixelGraphics(0, background, 0, pixels.Bytes())+"\n") // as the other protocols do
	return true
}

// scaled returns a picture that is at most as large as room, in the same proportions; the picture itself if it fits.
func scaled(picture image.Image, room image.Point) image.Image {
	width, height := picture.Bounds().Dx(), picture.Bounds().Dy()
	room.X, room.Y = max(min(room.X, maxSixelWidth), 1), max(min(room.Y, maxSixelHeight), 1)
	if width <= room.X && height <= room.Y {
		room = image.Pt(width, height)
	} else if width*room.Y > height*room.X {
		room.Y = max(height*room.X/width, 1)
	} else {
		room.X = max(width*room.Y/height, 1)
	}
	small := image.NewNRGBA(image.Rectangle{Max: room}) // begins at 0, as the encoder expects
	draw.BiLinear.Scale(small, small.Bounds(), picture, picture.Bounds(), draw.Src, nil)
	return small
}
