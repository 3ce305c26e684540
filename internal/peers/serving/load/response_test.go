package load_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

const (
	sized   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-LENGTH: 5\r\n\r\nhello"
	chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1B\r\n, this is a body of chunks.\r\n0\r\n\r\n"
	empty   = "HTTP/1.1 202 Accepted\r\nDate: now\r\n\r\n"
	nothing = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
)

func TestResponse(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"sized":   {sized, []string{"hello"}},
		"chunked": {chunked, []string{"hello, this is a body of chunks."}},
		"empty":   {empty, []string{""}},
		"nothing": {nothing, []string{""}},
	} {
		for n := 1; n <= len(c.stream); n++ {
			if got, err := load.Bodies([]byte(c.stream), n); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s, %d bytes at a time: got %q, %v, want %q", name, n, got, err, c.want)
			}
		}
	}
	several := []byte(sized + chunked + sized)
	if got, err := load.Bodies(several, 1); err != nil || len(got) != 3 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestResponseRefused(t *testing.T) {
	for name, stream := range map[string]string{
		"no length":      "HTTP/1.1 200 OK\r\n\r\nhello",
		"too much":       sized + "!",
		"a head alone":   "HTTP\r\n\r\n",
		"no hexadecimal": strings.Replace(chunked, "1B", "xx", 1),
		"no decimal":     strings.Replace(sized, ": 5", ": -5", 1),
		"huge":           strings.Replace(sized, ": 5", ": 99999999999999999999", 1),
		"huge chunk":     strings.Replace(chunked, "1B", "7fffffffffffffff", 1),
		"no end":         "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 20_000),
	} {
		if got, err := load.Bodies([]byte(stream), len(stream)); err == nil {
			t.Errorf("%s: got %q without an error", name, got)
		}
	}
}

// FuzzResponse compares with net/http, which accepts less of what no server sends.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{sized, chunked, empty, nothing} {
		f.Add([]byte(s), uint8(7))
	}
	f.Fuzz(func(t *testing.T, stream []byte, n uint8) {
		got, err := load.Bodies(stream, int(n)+1)
		res, oracle := http.ReadResponse(bufio.NewReader(bytes.NewReader(stream)), nil)
		if oracle != nil || err != nil || len(got) == 0 {
			return
		}
		if res.StatusCode < 200 || res.StatusCode == 204 || res.StatusCode == 304 { // have no body
			return
		}
		if res.ContentLength < 0 && len(res.TransferEncoding) == 0 || len(res.Trailer) > 0 {
			return
		}
		want, oracle := io.ReadAll(res.Body)
		if oracle == nil && got[0] != string(want) {
			t.Errorf("got body %q, want %q", got[0], want)
		}
	})
}
