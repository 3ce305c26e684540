package abi

import "strings"

// IsMIMEType reports whether s is a MIME type as a client can rely on: type/subtype with names of RFC 6838 section 4.2,
// and parameters of RFC 9110 section 5.6.6. It allocates nothing.
func IsMIMEType(s string) bool {
	if isPlainType(s) {
		return true
	}
	base, params, _ := strings.Cut(s, ";")
	kind, subtype, _ := strings.Cut(trimBlanks(base), "/")
	if base != "" && isBlank(base[0]) || !isRestrictedName(kind) || !isRestrictedName(subtype) {
		return false
	}
	for params != "" {
		rest, ok := cutParameter(params)
		if !ok {
			return false
		}
		params = rest
	}
	return true
}

// isPlainType reports whether s is a type of few kinds of characters without parameters, as most are: in one pass, since
// each read checks one.
func isPlainType(s string) bool {
	slash := -1
	for i := range len(s) {
		switch c := s[i]; {
		case isAlphanumeric(c):
		case i == slash+1: // a name begins with a letter or digit
			return false
		case c == '/' && slash < 0:
			slash = i
		case c != '-' && c != '.' && c != '+':
			return false
		}
	}
	return slash > 0 && slash < len(s)-1 && len(s) <= 127
}

// isRestrictedName reports whether s is a restricted-name of RFC 6838.
func isRestrictedName(s string) bool {
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && (i == 0 || strings.IndexByte("!#$&-^_.+", s[i]) < 0) {
			return false
		}
	}
	return s != "" && len(s) <= 127
}

// cutParameter removes one parameter, and the semicolon that follows it. The last parameter may be empty.
func cutParameter(s string) (rest string, ok bool) {
	if s = trimBlanks(s); s == "" {
		return "", true
	}
	name := tokenLength(s)
	if name == 0 || name == len(s) || s[name] != '=' {
		return "", false
	}
	s = s[name+1:]
	value := tokenLength(s)
	if strings.HasPrefix(s, `"`) {
		value = quotedLength(s)
	}
	if value == 0 {
		return "", false
	}
	s = trimBlanks(s[value:])
	if s != "" && s[0] != ';' {
		return "", false
	}
	return strings.TrimPrefix(s, ";"), true
}

// tokenLength returns how many bytes of s are a token of RFC 9110.
func tokenLength(s string) int {
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && strings.IndexByte("!#$%&'*+-.^_`|~", s[i]) < 0 {
			return i
		}
	}
	return len(s)
}

// quotedLength returns how many bytes of s, which begins with a quotation mark, are a quoted string; 0 when it has no end.
func quotedLength(s string) int {
	escaped := false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ' && c != '\t' || c >= 0x7f:
			return 0
		case c == '"' && !escaped:
			return i + 1
		default:
			escaped = c == '\\' && !escaped
		}
	}
	return 0
}

func trimBlanks(s string) string { return strings.Trim(s, " \t") }

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func isAlphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}
