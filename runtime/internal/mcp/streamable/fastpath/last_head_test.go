package fastpath

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

const plainHead = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Name: text://a\r\nContent-Length: 7\r\n\r\n"

// checkHeads holds what a connection makes of heads, one after the other, to what parseHead makes of each. The bytes of each head are
// overwritten before the next comes, as in the buffer of a connection.
func checkHeads(t *testing.T, heads ...[]byte) (repeated int) {
	t.Helper()
	var last lastHead
	room := make([]byte, 0, 64<<10)
	for _, b := range heads {
		got, again := last.begins(append(room[:0], b...))
		if again {
			repeated++
		} else {
			got = last.parse(append(room[:0], b...))
		}
		if want := parseHead(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v (repeated: %v)", b, got, want, again)
		}
		copy(room[:cap(room)], bytes.Repeat([]byte("x"), len(b)))
	}
	return repeated
}

func TestARepeatedHeadIsNotParsedAgain(t *testing.T) {
	other := strings.Replace(plainHead, "text://a", "text://b", 1)
	long := strings.Replace(plainHead, "\r\n\r\n", "\r\nX: "+strings.Repeat("x", maxLastHead)+"\r\n\r\n", 1)
	secret := strings.Replace(plainHead, "\r\n\r\n", "\r\nAuthorization: Bearer x\r\n\r\n", 1)
	odd := strings.Replace(plainHead, "\r\n\r\n", "\r\nOrigin: null\r\n\r\n", 1)
	for name, tt := range map[string]struct {
		heads []string
		want  int
	}{
		"the same":             {[]string{plainHead, plainHead, plainHead}, 2},
		"another between":      {[]string{plainHead, other, plainHead, plainHead}, 1},
		"as long":              {[]string{plainHead, other}, 0},
		"a longer one between": {[]string{plainHead, long, long, plainHead}, 0},
		"with a credential":    {[]string{secret, secret, plainHead, secret, plainHead}, 0},
		"not plain":            {[]string{odd, odd, plainHead, odd, plainHead}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var heads [][]byte
			for _, h := range tt.heads {
				heads = append(heads, []byte(h))
			}
			if n := checkHeads(t, heads...); n != tt.want {
				t.Errorf("%d heads were not parsed, want %d", n, tt.want)
			}
		})
	}
}

// FuzzLastHead has two heads come in turns: each must be what it is alone.
func FuzzLastHead(f *testing.F) {
	for i, h := range heads {
		f.Add([]byte(h), []byte(heads[(i+1)%len(heads)]))
		f.Add([]byte(plainHead), []byte(h))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		whole := func(b []byte) bool { return len(b) < 32<<10 && bytes.Index(b, []byte("\r\n\r\n")) == len(b)-4 }
		if whole(a) && whole(b) {
			checkHeads(t, a, a, b, a, b, b, a)
		}
	})
}
