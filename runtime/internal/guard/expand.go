package guard

import (
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// expand gives the URI that a completion makes of its template, in normal form, as far as it is known: up to the first
// expression with an unknown variable, several variables or a modifier. whole says that it is the whole URI.
func expand(req *resource.Request, value string) (uri string, whole bool) {
	var b strings.Builder
	rest := req.Template
	for {
		literal, after, found := strings.Cut(rest, "{")
		b.WriteString(literal)
		if !found {
			return abi.NormalURI(b.String()), true
		}
		expression, next, closed := strings.Cut(after, "}")
		if !closed || !expandOne(&b, expression, req, value) {
			return abi.NormalURI(b.String()), false
		}
		rest = next
	}
}

// expandOne appends the expansion of one expression (RFC 6570); ok is false if that is not known.
func expandOne(b *strings.Builder, expression string, req *resource.Request, value string) (ok bool) {
	name := strings.TrimLeft(expression, "+#./;?&")
	operator := expression[:len(expression)-len(name)]
	v, known := valueOf(req, name, value)
	if !known || len(operator) > 1 {
		return false
	}
	reserved := false
	switch operator {
	case "+", "#":
		reserved = true
		b.WriteString(strings.TrimPrefix(operator, "+"))
	case ";", "?", "&":
		b.WriteString(operator + name + "=")
	default:
		b.WriteString(operator)
	}
	appendValue(b, v, reserved)
	return true
}

// valueOf gives the value of a variable: the one that is completed, or one that the client knows.
func valueOf(req *resource.Request, name, value string) (v string, known bool) {
	if name == req.Arg {
		return value, true
	}
	for _, one := range req.Vars {
		if one.Name == name {
			return one.Value, true
		}
	}
	return "", false
}

// appendValue appends a value, escaped but for unreserved and, if that is said, reserved characters.
func appendValue(b *strings.Builder, v string, reserved bool) {
	const hex = "0123456789ABCDEF"
	for i := range len(v) {
		c := v[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if letter || strings.IndexByte("-._~", c) >= 0 || reserved && strings.IndexByte(":/?#[]@!$&'()*+,;=%", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
}
