package httpcap

import (
	"bytes"
	"math/bits"
	"strconv"
	"strings"
)

const (
	maxLayers = 3  // of escapes that are escaped themselves
	maxEscape = 15 // bytes of one escape
	// maxSpelling is the bytes one byte of a secret may take: in base64 four characters stand for three bytes.
	maxSpelling = maxEscape * 4 / 3
)

// lengths is a set of numbers of bytes, each a bit: there may be several ways to read an escape.
type lengths uint16

func (l lengths) longest() int { return max(bits.Len16(uint16(l))-1, 0) }

// of is the set of one length; empty for 0.
func of(n int) lengths { return 1 << n &^ 1 }

// escape says how many bytes at the start of b are an escape for c, and whether there may be more with what follows b.
func escape(b []byte, c byte) (set lengths, more bool) {
	switch b[0] {
	case '%':
		if set, more = percent(b, c); c == ' ' {
			plus, open := percent(b, '+')
			return set | plus, more || open
		}
		return set, more
	case '\\':
		return backslash(b, c)
	case '&':
		n, more := entity(b, c)
		return of(n), more
	case '+':
		if c == ' ' {
			return of(1), false
		}
	}
	return 0, false
}

// percent knows "%2F", and "%252F" and so on, as in a URL within a URL.
func percent(b []byte, c byte) (set lengths, more bool) {
	for at := 1; at <= 1+2*maxLayers; at += 2 {
		n, open := numeral(b, at, 2, 16, c)
		if set |= of(n); open || b[at] != '2' || b[at+1] != '5' {
			return set, open
		}
	}
	return set, false
}

// backslash knows what JSON and programs write after a backslash, or after several, as JSON within JSON.
func backslash(b []byte, c byte) (set lengths, more bool) {
	for at := 1; at <= 1<<maxLayers; at++ {
		if at == len(b) {
			return set, true
		}
		n, open := 0, false
		switch b[at] {
		case 'u':
			n, open = unicoded(b, at+1, c)
		case 'x':
			n, open = numeral(b, at+1, 2, 16, c)
		case '0', '1', '2', '3':
			n, open = numeral(b, at, 3, 8, c)
		}
		set, more = set|of(n), more || open
		if b[at] == c {
			set |= of(at + 1)
		}
		if b[at] != '\\' {
			break
		}
	}
	return set, more
}

// unicoded knows "002f" and "{2f}".
func unicoded(b []byte, at int, c byte) (n int, more bool) {
	if at < len(b) && b[at] == '{' {
		n, more = numeral(b, at+1, 2, 16, c)
		if n == len(b) {
			return 0, true
		}
		if n > 0 && b[n] != '}' {
			return 0, false
		}
		return n + min(n, 1), more
	}
	return numeral(b, at, 4, 16, c)
}

// numeral compares c with the number of so many digits that begins at b[at], and says where that ends.
func numeral(b []byte, at, digits, base int, c byte) (n int, more bool) {
	value := 0
	for i := at; i < at+digits; i++ {
		if i >= len(b) {
			return 0, true
		}
		d, ok := digit(b[i])
		if !ok || int(d) >= base {
			return 0, false
		}
		value = value*base + int(d)
	}
	if value != int(c) {
		return 0, false
	}
	return at + digits, false
}

const maxEntity = 10 // bytes

var entities = map[string]byte{
	"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\'', "sol": '/', "plus": '+', "equals": '=', "lowbar": '_',
	"num": '#', "percnt": '%', "dollar": '$', "commat": '@', "colon": ':', "semi": ';', "excl": '!', "quest": '?', "ast": '*',
	"bsol": '\\', "comma": ',', "period": '.',
}

func entity(b []byte, c byte) (n int, more bool) {
	end := bytes.IndexByte(b[:min(len(b), maxEntity)], ';')
	if end < 0 {
		return 0, len(b) < maxEntity
	}
	name := string(b[1:end])
	if known, ok := entities[name]; ok && known == c || numbered(name) == int(c) {
		return end + 1, false
	}
	return 0, false
}

// numbered gives the number of a name such as #38 or #x26; -1 when it is none.
func numbered(name string) int {
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return -1
	}
	base := 10
	if hex := strings.TrimLeft(digits, "xX"); hex != digits {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 8)
	if err != nil {
		return -1
	}
	return int(n)
}

// escapable are the characters of base64 that are escaped somewhere.
const escapable = "+/-_="

// character gives the character at the start of b, which may be one of base64 that is escaped, and how many bytes it
// takes. more says that this depends on what follows b.
func character(b []byte) (c byte, n int, more bool) {
	if len(b) == 0 {
		return 0, 0, true
	}
	if b[0] != '%' && b[0] != '\\' && b[0] != '&' {
		return b[0], 1, false
	}
	for _, c := range []byte(escapable) {
		set, open := escape(b, c)
		if set != 0 {
			return c, set.longest(), false
		}
		more = more || open
	}
	return b[0], 1, more
}

// lineEnd gives how many bytes at the start of b are the end of a line, or a part of one, as they are or as in JSON.
func lineEnd(b []byte) int {
	switch {
	case len(b) > 0 && (b[0] == '\r' || b[0] == '\n'):
		return 1
	case len(b) > 1 && b[0] == '\\' && (b[1] == 'r' || b[1] == 'n'):
		return 2
	}
	return 0
}
