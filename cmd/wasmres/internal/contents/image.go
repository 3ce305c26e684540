package contents

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/runtime"
)

// Bounds of pictures. A terminal that decodes them need not have bounds of its own.
const (
	maxPicture = 8 << 20  // bytes
	maxPixels  = 16 << 20 // width times height
)

// IsPicture reports whether a content is a picture that a terminal may draw.
func IsPicture(c *runtime.Content) bool {
	if c.Kind == abi.KindText {
		return false
	}
	_, ok := formatOf(c.MIMEType, c.Data)
	return ok
}

// Draw draws a picture on a terminal that supports it, and reports whether it did. kitty and iTerm2 get the bytes as they
// are, as base64: only their header is decoded here. Terminals with sixel graphics get pixels.
func Draw(w io.Writer, c *runtime.Content) bool {
	format, ok := formatOf(c.MIMEType, c.Data)
	if !ok {
		return false
	}
	// A multiplexer passes no pictures on, and inherits the environment of its terminal. One with sixel graphics says so itself.
	inside := strings.HasPrefix(os.Getenv("TERM"), "screen") || os.Getenv("TMUX") != ""
	switch {
	case !inside && os.Getenv("KITTY_WINDOW_ID") != "" && c.MIMEType == "image/png":
		drawKitty(w, c.Data)
	case !inside && (os.Getenv("TERM_PROGRAM") == "iTerm.app" || os.Getenv("TERM_PROGRAM") == "WezTerm"):
		fmt.Fprintf(w, "\x1b]1337;File=inline=1;size=%d:%s\a\n", len(c.Data), base64.StdEncoding.EncodeToString(c.Data))
	default:
		room, ok := terminal.Sixels(w)
		return ok && drawSixels(w, format, c.Data, room)
	}
	return true
}

// A format is one of the formats of pictures.
type format struct {
	size   func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var formats = map[string]format{
	"image/png": {png.DecodeConfig, png.Decode}, "image/jpeg": {jpeg.DecodeConfig, jpeg.Decode}, "image/gif": {gif.DecodeConfig, gif.Decode},
}

// formatOf returns the format of a picture that begins as its type says, and is within the bounds.
func formatOf(mimeType string, data []byte) (f format, ok bool) {
	f, known := formats[mimeType]
	if !known || len(data) > maxPicture {
		return f, false
	}
	size, err := f.size(bytes.NewReader(data))
	return f, err == nil && size.Width > 0 && size.Height > 0 && size.Width <= maxPixels/size.Height
}

// drawKitty draws a PNG image by kitty's graphics protocol, in chunks of at most 4096 bytes.
func drawKitty(w io.Writer, png []byte) {
	const chunk = 4096
	data := base64.StdEncoding.EncodeToString(png)
	control := "a=T,f=100,"
	for {
		n := min(chunk, len(data))
		more := 0
		if n < len(data) {
			more = 1
		}
		fmt.Fprintf(w, "\x1b_G%sm=%d;%s\x1b\\", control, more, data[:n])
		data, control = data[n:], ""
		if more == 0 {
			fmt.Fprintln(w)
			return
		}
	}
}
