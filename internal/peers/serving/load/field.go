package load

import (
	"bytes"
	"fmt"
)

// value gives the value of a header field, whose name is given in small letters between line end and colon; nil when it
// is absent.
func value(head, name []byte) []byte {
	for {
		at := bytes.IndexByte(head, '\r')
		if at < 0 || at+len(name) >= len(head) {
			return nil
		}
		head = head[at:]
		if hasPrefixFold(head, name) {
			return bytes.TrimSpace(head[len(name) : len(name)+bytes.IndexByte(head[len(name):], '\r')])
		}
		head = head[1:]
	}
}

func hasPrefixFold(b, name []byte) bool {
	for i, c := range name {
		if lower(b[i]) != c {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// bodyMax is the most bytes a body or chunk may say it has.
const bodyMax = 1 << 40

// number reads digits of that base, which is 10 or 16.
func number(digits []byte, base int64) (n int64, err error) {
	for _, c := range digits {
		digit := bytes.IndexByte([]byte("0123456789abcdef")[:base], lower(c))
		if n = n*base + int64(digit); digit < 0 || n > bodyMax {
			return 0, fmt.Errorf("%q for a length", digits)
		}
	}
	return n, nil
}
