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

	"github.com/wasmres/wasmres/runtime"
)

// Bounds of pictures. The terminal decodes them, and need not have bounds of its own.
const (
	maxPicture = 8 << 20  // bytes
	maxPixels  = 16 << 20 // width times height
)

// showImage draws a picture on a terminal that supports it, and reports whether it did. The bytes are passed on as they are,
// as base64: only their header is decoded here.
func showImage(w io.Writer, c *runtime.Content) bool {
	if !isPicture(c.MIMEType, c.Data) || strings.HasPrefix(os.Getenv("TERM"), "screen") || os.Getenv("TMUX") != "" {
		return false // a multiplexer passes no pictures on, and inherits the environment of its terminal
	}
	switch {
	case os.Getenv("KITTY_WINDOW_ID") != "" && c.MIMEType == "image/png":
		drawKitty(w, c.Data)
	case os.Getenv("TERM_PROGRAM") == "iTerm.app", os.Getenv("TERM_PROGRAM") == "WezTerm":
		fmt.Fprintf(w, "\x1b]1337;File=inline=1;size=%d:%s\a\n", len(c.Data), base64.StdEncoding.EncodeToString(c.Data))
	default:
		return false
	}
	return true
}

// isPicture reports whether data begins as its type says, and is within the bounds.
func isPicture(mimeType string, data []byte) bool {
	header, known := map[string]func(io.Reader) (image.Config, error){
		"image/png": png.DecodeConfig, "image/jpeg": jpeg.DecodeConfig, "image/gif": gif.DecodeConfig,
	}[mimeType]
	if !known || len(data) > maxPicture {
		return false
	}
	size, err := header(bytes.NewReader(data))
	return err == nil && size.Width > 0 && size.Height > 0 && size.Width <= maxPixels/size.Height
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
