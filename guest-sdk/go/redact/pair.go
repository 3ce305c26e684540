package redact

import "strings"

// pairs hides the values of secret names, as in Password=…, "token": "…", <secret>…</secret> and --password ….
func (s *scanner) pairs() {
	for at := 0; at < len(s.text); {
		if !isName(s.text[at]) {
			at++
			continue
		}
		from := at
		for at < len(s.text) && isName(s.text[at]) {
			at++
		}
		value, separator := s.separated(from, at)
		if separator == 0 || !isSecretName(s.text[from:at]) {
			continue
		}
		beginning, to := s.value(from, value, separator, min(value+window, len(s.text)))
		if beginning >= to || !IsSecret(s.text[from:at], s.text[beginning:to]) {
			continue
		}
		value, at = s.value(from, value, separator, len(s.text))
		s.hide(value, at)
	}
}

// separated returns where the value of a name begins, and what stands before it: =, :, > or a space; 0 for no value.
func (s *scanner) separated(from, to int) (value int, separator byte) {
	at := to
	if at < len(s.text) && strings.IndexByte(quotes, s.text[at]) >= 0 {
		at++
	}
	if at < len(s.text) && s.text[at] == ']' {
		at++
	}
	at = s.skip(at)
	if at == len(s.text) {
		return 0, 0
	}
	switch c := s.text[at]; {
	case c == '=' || c == ':':
		if at+1 < len(s.text) && (s.text[at+1] == '=' || s.text[at+1] == '>') { // := and =>
			at++
		}
		if c == ':' && strings.HasPrefix(s.text[at:], "://") {
			return 0, 0
		}
		return s.skip(at + 1), c
	case c == '>' && at == to && from > 0 && (s.text[from-1] == '<' || s.text[from-1] == ':'):
		return at + 1, c
	case strings.HasPrefix(s.text[from:], "--") && at > to:
		return at, ' '
	}
	return 0, 0
}

// value returns the range of a value that begins at a place, without its quotes, and ends at last at the latest.
func (s *scanner) value(name, at int, separator byte, last int) (from, to int) {
	if separator == '>' {
		return at, s.until(at, last, "<")
	}
	if at < len(s.text) && strings.IndexByte(quotes, s.text[at]) >= 0 {
		return at + 1, s.quoted(at, last)
	}
	line := s.text[at:min(at+window, len(s.text))]
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	switch {
	case separator == ' ':
		return at, s.until(at, last, spaces)
	case strings.IndexByte(line, ';') >= 0:
		return at, s.until(at, last, ";\r\n")
	case separator == '=' && strings.IndexByte(line, '&') >= 0:
		return at, s.until(at, last, "&"+spaces)
	case s.isFirst(name) || s.previous(name) == ';' || isScheme(s.lower[at:at+len(line)]):
		return at, s.until(at, last, "\r\n")
	}
	return at, s.until(at, last, spaces)
}

// quoted returns where the text ends that a quote at a place begins, or last. A text without an end goes to that of the
// line.
func (s *scanner) quoted(at, last int) int {
	quote := s.text[at]
	for i := at + 1; i < last; i++ {
		switch c := s.text[i]; {
		case c == quote, c == '\n':
			return i
		case c == '\\' && !strings.HasPrefix(s.text[i+1:], "\n"):
			i++
		}
	}
	return last
}

// isScheme reports whether a value has two words, of which the second is the credential.
func isScheme(value string) bool {
	for _, scheme := range []string{"bearer ", "basic ", "digest ", "token ", "apikey ", "negotiate ", "aws4-hmac-sha256 "} {
		if strings.HasPrefix(value, scheme) {
			return true
		}
	}
	return false
}

// isFirst reports whether nothing stands before a name in its line but what a list or a comment begins with.
func (s *scanner) isFirst(name int) bool {
	for name--; name >= 0 && s.text[name] != '\n'; name-- {
		if strings.IndexByte(" \t-#*\"'[", s.text[name]) < 0 {
			return false
		}
	}
	return true
}

// previous returns the last character before a name that is no space; 0 for none.
func (s *scanner) previous(name int) byte {
	if name == 0 {
		return 0
	}
	return s.text[s.back(name)]
}

func isName(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' }
