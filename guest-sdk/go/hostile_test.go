package wasmres

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// An answerer is a host whose services all give one answer, for a while.
type answerer struct {
	recorder
	message, body string
	calls         int
}

func (h *answerer) Call(uint32, []byte) (code, size uint32) {
	if h.calls++; h.calls > 10 {
		return codeUnavailable, 0
	}
	return codeOK, uint32(len(h.message))
}

func (h *answerer) Take(channel uint32, dst []byte, off uint32) uint32 {
	src := h.message
	if channel == channelBody {
		src = h.body
	}
	return uint32(copy(dst, src[min(int(off), len(src)):]))
}

// What no host should answer is an error, not half of it.
func TestMalformedAnswers(t *testing.T) {
	get := func() error { _, err := KV().Get("a"); return err }
	put := func() error { _, err := KV().Put("a", nil); return err }
	list := func() error { _, err := fs.ReadDir(Dir("/a"), "."); return err }
	write := func() error { _, err := Dir("/a").WriteFile("b", nil); return err }
	remove := func() error { return Dir("/a").Remove("b") }
	fetch := func() error { _, err := Get("https://a"); return err }
	row := func() error { _, err := QueryRow("main", "select"); return err }
	keys := func() (err error) {
		for _, err = range KV().Keys("") {
		}
		return err
	}
	for name, c := range map[string]struct {
		call          func() error
		message, body string
	}{
		"cut":                     {get, "\x0a\x05", ""},
		"entry cut":               {get, "\x0a\x02\x0a\x05", ""},
		"value shorter than told": {get, "\x0a\x02\x10\x05", "abcd"},
		"value longer than told":  {get, "\x0a\x02\x10\x05", "abcdef"},
		"value of 2^63 bytes":     {get, "\x0a\x0b\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "a"},
		"value of 2^63-1 bytes":   {get, "\x0a\x0a\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "a"},
		"value without entry":     {get, "", ""},
		"put without entry":       {put, "", ""},
		"more keys, but none":     {keys, "\x10\x01", ""},
		"more files, but none":    {list, "\x10\x01", ""},
		"file cut":                {list, "\x0a\x02\x0a\x05", ""},
		"written file cut":        {write, "\x0a\x02\x0a\x05", ""},
		"write without file":      {write, "", ""},
		"write of two files":      {write, "\x0a\x02\x10\x01\x0a\x02\x10\x02", ""},
		"file of 2^63 bytes":      {write, "\x0a\x0b\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", ""},
		"removal cut":             {remove, "\x0a\x05", ""},
		"field of the header cut": {fetch, "\x08\xc8\x01\x12\x02\x0a\x05", ""},
		"column cut":              {row, "\x0a\x02\x0a\x05", ""},
		"value of a row cut":      {row, "\x0a\x03\x0a\x01a\x12\x04\x0a\x02\x22\x05", ""},
		"row cut":                 {row, "\x0a\x03\x0a\x01a\x12\x02\x0a\x05", ""},
		"row of too few values":   {row, "\x0a\x03\x0a\x01a\x12\x00", ""},
		"row of too many values":  {row, "\x12\x02\x0a\x00", ""},
	} {
		t.Run(name, func(t *testing.T) {
			defer use(&answerer{message: c.message, body: c.body})()
			if err := c.call(); !errors.Is(err, ErrInternal) {
				t.Errorf("got %v, want internal", err)
			}
		})
	}
}

// Whatever services answer, nothing panics, and no value is another one than there is.
func FuzzAnswers(f *testing.F) {
	f.Add("\x0a\x05\x10\x04\x0a\x01a", "body")
	f.Add("\x08\xc8\x01\x12\x06\x0a\x01a\x12\x01b\x20\x01", "body")
	f.Add("\x0a\x03\x0a\x01a\x12\x07\x0a\x05\x08\x04\x22\x01x\x18\x01", "")
	f.Add("\x0a\x0a\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "body") // an entry of 2^63-1 bytes
	f.Add("\x0a\x0b\x10\xf0\xff\xff\xff\xff\xff\xff\xff\xff\x01", "body")
	f.Fuzz(func(t *testing.T, message, body string) {
		host := &answerer{message: message, body: body}
		defer use(host)()
		again := func() { host.calls = 0 }
		if value, _, err := KV().GetEntry("a"); err == nil && string(value) != body {
			t.Errorf("got the value %q of %q", value, body)
		}
		again()
		for _, err := range KV().Keys("") {
			_ = err
		}
		again()
		if answer, err := Get("https://a"); err == nil {
			if b, err := io.ReadAll(answer.Body); err == nil && !strings.HasPrefix(string(b), body) {
				t.Errorf("got the body %q of %q", b, body)
			}
			_ = answer.Err()
		}
		again()
		if rows, err := Query("main", "select"); err == nil {
			for row := range rows.All() {
				if len(row.Values()) != len(rows.Columns()) {
					t.Errorf("got %d values for %d columns", len(row.Values()), len(rows.Columns()))
				}
				var v Value
				_ = row.Scan(&v)
			}
		}
		again()
		_, _ = fs.ReadDir(Dir("/a"), ".")
		again()
		_, _ = fs.ReadFile(Dir("/a"), "b")
		again()
		if info, err := Dir("/a").WriteFile("b", nil); err == nil && info.Size() < 0 {
			t.Errorf("got a file of %d bytes", info.Size())
		}
		again()
		_ = Dir("/a").Remove("b")
		again()
		_, _ = (&Request{}).Env("A")
	})
}
