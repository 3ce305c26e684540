package mcp

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// maxDepth bounds the nesting of clients' messages.
const maxDepth = 64

// skip returns the end of the JSON value that begins at b[i], or -1 if there is none or it is nested deeper than depth.
func skip(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return skipString(b, i)
	case c == '{':
		return eachField(b, i, depth, func(name, value []byte) {})
	case c == '[':
		return eachItem(b, i, depth, func(value []byte) {})
	case c == '-' || '0' <= c && c <= '9':
		return skipNumber(b, i)
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	return -1
}

// eachField calls visit with each name, quoted, and value of the object that begins at b[i]. It returns the end of the
// object, or -1.
func eachField(b []byte, i, depth int, visit func(name, value []byte)) int {
	if depth == 0 {
		return -1
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		begin := i
		if i >= len(b) || b[i] != '"' {
			return -1
		}
		if i = skipString(b, i); i < 0 {
			return -1
		}
		name := b[begin:i]
		if i = space(b, i); i >= len(b) || b[i] != ':' {
			return -1
		}
		begin = space(b, i+1)
		if i = skip(b, begin, depth-1); i < 0 {
			return -1
		}
		visit(name, b[begin:i:i])
		if i = space(b, i); i >= len(b) || b[i] != ',' {
			return closing(b, i, '}')
		}
		i = space(b, i+1)
	}
}

// eachItem calls visit with each item of the array that begins at b[i]. It returns the end of the array, or -1.
func eachItem(b []byte, i, depth int, visit func(value []byte)) int {
	if depth == 0 {
		return -1
	}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		begin := i
		if i = skip(b, i, depth-1); i < 0 {
			return -1
		}
		visit(b[begin:i:i])
		if i = space(b, i); i >= len(b) || b[i] != ',' {
			return closing(b, i, ']')
		}
		i = space(b, i+1)
	}
}

func closing(b []byte, i int, c byte) int {
	if i < len(b) && b[i] == c {
		return i + 1
	}
	return -1
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i = plainEnd(b, i+1); i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i >= len(b) {
				return -1
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(b) || !isHex(b[i+1:i+5]) {
					return -1
				}
				i += 4
			default:
				return -1
			}
		}
	}
	return -1
}

// plainEnd returns the index of the first byte from b[i] on that may be a quotation mark, a backslash or a control
// character, or an index less than 8 before the end of b.
func plainEnd(b []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(b)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		if odd := ((w - ones*' ') &^ w) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash); odd&tops != 0 {
			return i + bits.TrailingZeros64(odd&tops)/8
		}
	}
	return i
}

func isHex(p []byte) bool {
	for _, c := range p {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

func skipNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	begin := i
	if i = digits(b, i); i == begin || b[begin] == '0' && i > begin+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		begin = i + 1
		if i = digits(b, begin); i == begin {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		begin = i
		if i = digits(b, i); i == begin {
			return -1
		}
	}
	return i
}

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

// unquote decodes a JSON string. ok is false for any other value.
func unquote(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var decoded string
	err := json.Unmarshal(value, &decoded)
	return decoded, err == nil
}

// unquoteKnown is unquote, quicker for frequent values.
func unquoteKnown(value []byte) (s string, ok bool) {
	switch string(value) {
	case `"` + string(Revision20260728) + `"`:
		return string(Revision20260728), true
	case `"resources/read"`:
		return "resources/read", true
	case `"resources/list"`:
		return "resources/list", true
	}
	return unquote(value)
}

// isNull reports whether an optional value is absent or null.
func isNull(value []byte) bool { return len(value) == 0 || string(value) == "null" }

func isString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// appendCompact appends valid JSON without white space between tokens.
func appendCompact(dst []byte, s string) []byte {
	for begin := 0; ; {
		i := begin
		for i < len(s) && s[i] != '"' && s[i] > ' ' {
			i++
		}
		if i < len(s) && s[i] == '"' {
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(s))
		}
		dst = append(dst, s[begin:i]...)
		for i < len(s) && s[i] <= ' ' {
			i++
		}
		if begin = i; begin == len(s) {
			return dst
		}
	}
}
