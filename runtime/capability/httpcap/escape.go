package httpcap

import (
	"bytes"
	"strconv"
	"strings"
)

const (
	maxLayers = 3                    // of escapes within escapes
	maxEscape = 15                   // bytes of one escape
	maxBreak  = 10                   // bytes of a line break between two characters of base64
	maxAhead  = maxBreak + maxEscape // bytes that decide what is at a place
	// maxSpelling is the bytes that one byte of a secret may take: base64 writes three bytes as four characters. At most
	// one in four characters of an ASCII text in base64 is ever escaped, so this includes line breaks.
	maxSpelling = maxEscape * 4 / 3
	maxEnds     = 2 * (maxBreak + maxEscape) // further bytes: the first and the last character of base64 may be any
)

// A reading is a character that the next n bytes of a text may be an escape of.
type reading struct {
	c byte
	n int
}

// leads are the bytes that may begin an escape or the end of a line.
var leads = [256]bool{'%': true, '\\': true, '&': true, '+': true, '\r': true, '\n': true}

// escapes appends all readings of an escape at the start of b, as in URLs, JSON or HTML, to all, which is empty.
func escapes(all []reading, b []byte) []reading {
	switch b[0] {
	case '%':
		all = percent(all, b)
	case '\\':
		all = backslash(all, b)
	case '&':
		all = entity(all, b, 1)
	case '+':
		all = append(all, reading{' ', 1})
	}
	for i := 0; i < len(all); i++ { // "&lt;" within HTML is "&amp;lt;", and within JSON "\u0026lt;"
		if all[i].c == '&' {
			all = entity(all, b, all[i].n)
		}
	}
	return all
}

// percent reads "%2F", and "%252F" and so on, as in a URL within a URL.
func percent(all []reading, b []byte) []reading {
	for at := 1; at <= 1+2*maxLayers; at += 2 {
		r, ok := numeral(b, at, 2, 16)
		if !ok {
			return all
		}
		switch all = append(all, r); r.c {
		case '+':
			return append(all, reading{' ', r.n})
		case '%':
		default:
			return all
		}
	}
	return all
}

// backslash reads escapes of JSON and programming languages, after one backslash or several, as in JSON within JSON.
func backslash(all []reading, b []byte) []reading {
	for at := 1; at <= 1<<maxLayers && at < len(b); at++ {
		all = append(all, reading{b[at], at + 1})
		if b[at] == '\\' {
			continue
		}
		if r, ok := numbered(b, at); ok {
			all = append(all, r)
		}
		return all
	}
	return all
}

// numbered reads "u002f", "u{2f}", "x2f" and "057".
func numbered(b []byte, at int) (r reading, ok bool) {
	switch b[at] {
	case 'u':
		return unicoded(b, at+1)
	case 'x':
		return numeral(b, at+1, 2, 16)
	case '0', '1', '2', '3':
		return numeral(b, at, 3, 8)
	}
	return reading{}, false
}

// unicoded reads "002f" and "{2f}".
func unicoded(b []byte, at int) (r reading, ok bool) {
	if at == len(b) || b[at] != '{' {
		return numeral(b, at, 4, 16)
	}
	r, ok = numeral(b, at+1, 2, 16)
	if !ok || r.n == len(b) || b[r.n] != '}' {
		return reading{}, false
	}
	return reading{r.c, r.n + 1}, true
}

// numeral reads the code of a character, of that many digits, at b[at].
func numeral(b []byte, at, digits, base int) (r reading, ok bool) {
	if at+digits > len(b) {
		return reading{}, false
	}
	value := 0
	for _, c := range b[at : at+digits] {
		d, ok := digit(c)
		if !ok || int(d) >= base {
			return reading{}, false
		}
		value = value*base + int(d)
	}
	return reading{byte(value), at + digits}, value <= 0xff
}

func digit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

const maxEntity = 9 // bytes after the ampersand

var entities = map[string]byte{
	"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\'', "sol": '/', "plus": '+', "equals": '=', "lowbar": '_',
	"num": '#', "percnt": '%', "dollar": '$', "commat": '@', "colon": ':', "semi": ';', "excl": '!', "quest": '?', "ast": '*',
	"bsol": '\\', "comma": ',', "period": '.',
}

// entity reads "lt;" and so on, at b[at], after an ampersand.
func entity(all []reading, b []byte, at int) []reading {
	length := bytes.IndexByte(b[at:min(len(b), at+maxEntity, maxEscape)], ';')
	if length < 0 {
		return all
	}
	name := string(b[at : at+length])
	c, ok := entities[name]
	if !ok {
		c, ok = ordinal(name)
	}
	if !ok {
		return all
	}
	return append(all, reading{c, at + length + 1})
}

// ordinal returns the character of a name such as #38 or #x26.
func ordinal(name string) (c byte, ok bool) {
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0, false
	}
	base := 10
	if hex := strings.TrimLeft(digits, "xX"); hex != digits {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 8)
	return byte(n), err == nil
}

// lineBreak returns the bytes of line ends at the start of b, with blanks after them; 0 if there are too many.
func lineBreak(b []byte) (n int) {
	for n < len(b) && n <= maxBreak {
		size := lineEnd(b[n:])
		if size == 0 && n > 0 && (b[n] == ' ' || b[n] == '\t') {
			size = 1
		}
		if size == 0 {
			return n
		}
		n += size
	}
	if n > maxBreak {
		return 0
	}
	return n
}

// lineEnd returns the bytes of a line end at the start of b, or of a part of one, plain or escaped.
func lineEnd(b []byte) int {
	if b[0] == '\r' || b[0] == '\n' {
		return 1
	}
	var room [16]reading
	for _, r := range escapes(room[:0], b) {
		letter := b[0] == '\\' && r.c == b[r.n-1] // as in "\n"
		if r.c == '\r' || r.c == '\n' || letter && (r.c == 'r' || r.c == 'n') {
			return r.n
		}
	}
	return 0
}
