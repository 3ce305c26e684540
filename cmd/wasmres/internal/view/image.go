package view

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wasmres/wasmres/runtime"
)

// showImage draws an image on a terminal that supports it, and reports whether it did.
func showImage(w io.Writer, c *runtime.Content) bool {
	if !strings.HasPrefix(c.MIMEType, "image/") || len(c.Data) == 0 {
		return false
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
