package contents_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi/sixel"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/contents"
	"github.com/wasmres/wasmres/runtime"
)

// picture returns a PNG of 2 by 2 pixels whose header says another size, unless that is 0.
func picture(t *testing.T, width, height uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	if width > 0 {
		header := data[12:29] // IHDR: the type, the size and five bytes; its checksum follows
		binary.BigEndian.PutUint32(header[4:], width)
		binary.BigEndian.PutUint32(header[8:], height)
		binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(header))
	}
	return data
}

func TestPictures(t *testing.T) {
	for name, tt := range map[string]struct {
		data     []byte
		mimeType string
		env      [2]string
		begins   string
	}{
		"kitty":        {picture(t, 0, 0), "image/png", [2]string{"KITTY_WINDOW_ID", "1"}, "\x1b_Ga=T,f=100,m=0;"},
		"iTerm2":       {picture(t, 0, 0), "image/png", [2]string{"TERM_PROGRAM", "iTerm.app"}, "\x1b]1337;File=inline=1;size="},
		"no support":   {picture(t, 0, 0), "image/png", [2]string{"TERM", "xterm"}, "75 B of image/png"},
		"in tmux":      {picture(t, 0, 0), "image/png", [2]string{"TMUX", "x"}, "75 B of image/png"},
		"another type": {[]byte("%PDF-1.7"), "image/png", [2]string{"KITTY_WINDOW_ID", "1"}, "8 B of image/png"},
		"huge":         {picture(t, 1<<20, 1<<20), "image/png", [2]string{"KITTY_WINDOW_ID", "1"}, "75 B of image/png"},
		"hostile type": {[]byte("x"), "image/png\x1b[2J", [2]string{"KITTY_WINDOW_ID", "1"}, `1 B of image/png\x1b[2J`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, unset := range []string{"KITTY_WINDOW_ID", "TERM_PROGRAM", "TMUX", "TERM"} {
				t.Setenv(unset, "")
			}
			t.Setenv("KITTY_WINDOW_ID", map[bool]string{true: "1"}[name == "in tmux"])
			t.Setenv(tt.env[0], tt.env[1])
			var out bytes.Buffer
			c := runtime.Content{Content: abi.Content{MIMEType: tt.mimeType, Kind: abi.KindBlob}, Data: tt.data}
			if err := (contents.Style{}).Write(&out, &c); err != nil || !strings.HasPrefix(out.String(), tt.begins) {
				t.Errorf("got %v, %q", err, out.String())
			}
		})
	}
}

// TestSixels decodes what is drawn.
func TestSixels(t *testing.T) {
	blue := color.NRGBA{B: 255, A: 255}
	for _, tt := range []struct{ width, height, roomX, roomY, wantX, wantY int }{
		{1, 1, 100, 100, 1, 1}, {5, 7, 100, 100, 5, 7}, {64, 32, 100, 100, 64, 32}, {400, 100, 100, 100, 100, 25},
		{100, 400, 100, 100, 25, 100}, {3000, 1, 100, 100, 100, 1}, {2000, 2000, 5000, 5000, 768, 768}, {9, 9, 0, -1, 1, 1},
	} {
		all := image.NewNRGBA(image.Rect(0, 0, tt.width, tt.height))
		draw.Draw(all, all.Bounds(), image.NewUniform(blue), image.Point{}, draw.Src)
		var file, out bytes.Buffer
		if err := png.Encode(&file, all); err != nil {
			t.Fatal(err)
		}
		if !contents.DrawSixels(&out, "image/png", file.Bytes(), image.Pt(tt.roomX, tt.roomY)) {
			t.Fatalf("%+v: not drawn", tt)
		}
		pixels, ok := strings.CutPrefix(out.String(), "\x1bP0;1q")
		pixels, hasEnd := strings.CutSuffix(pixels, "\x1b\\\n")
		if !ok || !hasEnd || strings.ContainsFunc(pixels, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%+v: got %.100q", tt, out.String())
		}
		got, err := new(sixel.Decoder).Decode(strings.NewReader(pixels))
		if err != nil || got.Bounds().Dx() != tt.wantX || got.Bounds().Dy() != tt.wantY {
			t.Fatalf("%+v: got %v, %v", tt, got.Bounds(), err)
		}
		if r, g, b, _ := got.At(got.Bounds().Dx()-1, got.Bounds().Dy()-1).RGBA(); r>>8 != 0 || g>>8 != 0 || b>>8 != 255 {
			t.Errorf("%+v: the last pixel is %d, %d, %d", tt, r>>8, g>>8, b>>8)
		}
	}
	if contents.DrawSixels(io.Discard, "image/png", picture(t, 0, 0)[:50], image.Pt(100, 100)) {
		t.Error("half a picture is drawn")
	}
}

func FuzzSixels(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"), "image/png", 100, 100)
	f.Add([]byte("GIF89a"), "image/gif", 1, 1)
	f.Add([]byte("\xff\xd8\xff"), "image/jpeg", 0, 0)
	f.Fuzz(func(t *testing.T, data []byte, mimeType string, x, y int) {
		var out bytes.Buffer
		isDrawn := contents.DrawSixels(&out, mimeType, data, image.Pt(x, y))
		pixels := strings.TrimSuffix(strings.TrimPrefix(out.String(), "\x1bP0;1q"), "\x1b\\\n")
		if isDrawn != (out.Len() > 0) || strings.ContainsFunc(pixels, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("got %v, %q", isDrawn, out.String())
		}
	})
}

func FuzzPicture(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"), "image/png")
	f.Add([]byte("GIF89a"), "image/gif")
	f.Add([]byte("\xff\xd8\xff"), "image/jpeg")
	f.Fuzz(func(t *testing.T, data []byte, mimeType string) {
		t.Setenv("TERM_PROGRAM", "iTerm.app")
		var out bytes.Buffer
		c := runtime.Content{Content: abi.Content{MIMEType: mimeType, Kind: abi.KindBlob}, Data: data}
		if err := (contents.Style{}).Write(&out, &c); err != nil {
			t.Fatal(err)
		}
		if text, isDrawn := strings.CutPrefix(out.String(), "\x1b]1337;"); strings.Contains(text, "\x1b") || !isDrawn && text != out.String() {
			t.Fatalf("got %q", out.String())
		}
	})
}
