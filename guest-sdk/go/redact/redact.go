// Package redact keeps secrets out of what a provider shows: it puts [Mark] in the place of what is a secret by the name
// of a setting or by its shape.
//
// It finds user information of URLs and of data source names, values of pairs as Password=… and token: …, bearer and
// basic credentials, private keys in PEM, password hashes, and tokens of common services. It cannot find a password that
// stands alone, and is no reason to serve a file of secrets.
package redact

import (
	"encoding/base64"
	"strings"
)

// Mark stands in the place of a secret.
const Mark = "[redacted]"

// Value returns the value of a setting as clients may see it: only Mark if its name says that it is a secret, and
// otherwise as Text has it. The name may have several parts, as in database.password or DB_PASSWORD.
func Value(name, value string) string {
	if value != "" && IsSecret(name, value) {
		return Mark
	}
	return Text(value)
}

// Text returns a text, of one line or many, with Mark in the place of each secret in it.
func Text(text string) string {
	s := scanner{text: text, lower: lower(text)}
	s.pem()
	s.pairs()
	s.addresses()
	s.credentials()
	s.tokens()
	return s.marked()
}

// A scanner finds secrets in a text.
type scanner struct {
	text, lower string // of the same length
	secret      []bool // of each byte; nil while there is none
}

// hide makes bytes secret, but for an empty range.
func (s *scanner) hide(from, to int) {
	if from >= to {
		return
	}
	if s.secret == nil {
		s.secret = make([]bool, len(s.text))
	}
	for i := from; i < to; i++ {
		s.secret[i] = true
	}
}

// marked returns the text with a mark for each run of secret bytes.
func (s *scanner) marked() string {
	if s.secret == nil {
		return s.text
	}
	var b strings.Builder
	for i := 0; i < len(s.text); i++ {
		switch {
		case !s.secret[i]:
			b.WriteByte(s.text[i])
		case i == 0 || !s.secret[i-1]:
			b.WriteString(Mark)
		}
	}
	return b.String()
}

// end returns where a run of bytes ends that begins at from: at the first one that stop names, or at the end.
func (s *scanner) end(from int, stop string) int { return s.until(from, len(s.text), stop) }

// until is end up to last.
func (s *scanner) until(from, last int, stop string) int {
	for i := from; i < last; i++ {
		if strings.IndexByte(stop, s.text[i]) >= 0 {
			return i
		}
	}
	return last
}

// near is end within the window: it keeps the time for a hostile text linear.
func (s *scanner) near(from int, stop string) int {
	if i := strings.IndexAny(s.text[from:min(from+window, len(s.text))], stop); i >= 0 {
		return from + i
	}
	return min(from+window, len(s.text))
}

// skip returns the first place from one on without spaces and tabs.
func (s *scanner) skip(from int) int {
	for from < len(s.text) && (s.text[from] == ' ' || s.text[from] == '\t') {
		from++
	}
	return from
}

// pem hides blocks in PEM, to the end of the text if a block has none. Certificates and public keys are no secrets.
func (s *scanner) pem() {
	const begin, end = "-----BEGIN ", "-----END "
	for at := 0; ; {
		i := strings.Index(s.text[at:], begin)
		if i < 0 {
			return
		}
		from := at + i
		at = from + len(begin)
		label := s.text[at:min(at+64, len(s.text))]
		if j := strings.Index(label, "-----"); j >= 0 && isPublic(label[:j]) {
			continue
		}
		to := len(s.text)
		if j := strings.Index(s.text[at:], end); j >= 0 {
			at += j + len(end)
			to = at
			if k := strings.Index(s.text[at:min(at+64, len(s.text))], "-----"); k >= 0 {
				to = at + k + len("-----")
			}
		}
		s.hide(from, to)
		at = to
	}
}

func isPublic(label string) bool {
	return !strings.Contains(label, "PRIVATE") &&
		(strings.Contains(label, "CERTIFICATE") || strings.Contains(label, "PUBLIC") || strings.Contains(label, "CRL"))
}

const (
	window = 1 << 10 // bytes after a place that are looked at for what a value ends with
	spaces = " \t\r\n"
	quotes = "\"'`"
)

// addresses hides the user information of URLs, as in postgres://user:secret@host, and of data source names, as in
// user:secret@tcp(host). Of a web address it is a secret as a whole, since a token may stand for the user.
func (s *scanner) addresses() {
	for at := 0; at < len(s.text); at++ {
		switch {
		case strings.HasPrefix(s.text[at:], "://"):
			s.url(at)
		case s.text[at] == ':' && !strings.HasPrefix(s.text[at:], "://"):
			s.account(at)
		case s.text[at] == '/' && strings.HasPrefix(s.before(at, 64), "jdbc:oracle:"):
			s.hide(at+1, s.lastAt(at+1))
		}
	}
	for _, hook := range []string{"hooks.slack.com/services/", "/api/webhooks/", "/webhookb2/"} {
		for at := 0; ; {
			i := strings.Index(s.lower[at:], hook)
			if i < 0 {
				break
			}
			from := at + i + len(hook)
			at = s.end(from, spaces+quotes+"<>")
			s.hide(from, at)
		}
	}
}

// before returns the run of bytes before a place, in lower case, at most n of them.
func (s *scanner) before(at, n int) string {
	from := at
	for from > 0 && at-from < n && strings.IndexByte(spaces+quotes+"=<>(", s.text[from-1]) < 0 {
		from--
	}
	return s.lower[from:at]
}

// lastAt returns the place of the last @ in the run of bytes from one on, or from itself if there is none.
func (s *scanner) lastAt(from int) int {
	to := s.near(from, spaces+quotes+"<>")
	return from + max(strings.LastIndexByte(s.text[from:to], '@'), 0)
}

// url hides the user information of the URL whose :// is at a place.
func (s *scanner) url(at int) {
	from := at + len("://")
	authority := s.near(from, spaces+quotes+"<>/?#")
	colon := strings.IndexByte(s.text[from:authority], ':')
	to := from + max(strings.LastIndexByte(s.text[from:authority], '@'), 0)
	if colon >= 0 && !isPort(s.text[from+colon+1:authority]) {
		to = s.lastAt(from) // the password may have slashes
	}
	if to == from {
		return
	}
	scheme := s.before(at, 16)
	isWeb := strings.HasSuffix(scheme, "http") || strings.HasSuffix(scheme, "https") || strings.HasSuffix(scheme, "ws") ||
		strings.HasSuffix(scheme, "wss")
	switch {
	case isWeb:
		s.hide(from, to)
	case colon >= 0:
		s.hide(from+colon+1, to)
	}
}

func isPort(s string) bool { return s != "" && isMadeOf(s, isDigit) }

// accounts are what stands before a colon where an @ follows and no password is between.
const accounts = " mailto sip sips acct xmpp im npm pkg github git workspace file tel "

// account hides the password of user:password@host, whose colon is at a place.
func (s *scanner) account(at int) {
	from := at
	for from > 0 && (isAlnum(s.text[from-1]) || strings.IndexByte("_.-%", s.text[from-1]) >= 0) {
		from--
	}
	to := s.lastAt(at + 1)
	host := s.lower[min(to+1, len(s.text)):]
	switch {
	case from == at, from > 0 && s.text[from-1] == '/', to <= at+1, strings.Contains(accounts, " "+s.lower[from:at]+" "):
		return
	case strings.HasPrefix(host, "sha256:"), strings.HasPrefix(host, "sha512:"), host == "" || !isAlnum(host[0]) && host[0] != '[':
		return
	case strings.HasPrefix(s.text[at+1:], "//"): // a URL without a scheme
		return
	}
	s.hide(at+1, to)
}

// credentials hides what stands after Bearer and Basic.
func (s *scanner) credentials() {
	for _, scheme := range []string{"bearer", "basic"} {
		for at := 0; ; {
			i := strings.Index(s.lower[at:], scheme)
			if i < 0 {
				break
			}
			start := at + i
			at = start + len(scheme)
			from := s.skip(at)
			if from == at || start > 0 && isAlnum(s.text[start-1]) {
				continue
			}
			to := s.end(from, spaces+quotes+",;<>")
			isValue := start == 0 || strings.IndexByte("=:\"'`\n", s.text[s.back(start)]) >= 0
			word := s.text[from:to]
			if scheme == "bearer" && (isValue && to-from >= 4 || looksRandom(word)) || scheme == "basic" && isBasic(word) {
				s.hide(from, to)
			}
		}
	}
}

// back returns the last place before one that is no space, or 0.
func (s *scanner) back(at int) int {
	for at--; at > 0 && (s.text[at] == ' ' || s.text[at] == '\t'); at-- {
		continue
	}
	return at
}

// looksRandom reports whether a word is none of a language: it has a digit, or capital letters after small ones.
func looksRandom(word string) bool {
	if len(word) < 6 {
		return false
	}
	for i := range len(word) {
		if isDigit(word[i]) || i > 0 && isUpper(word[i]) && isLower(word[i-1]) || strings.IndexByte("_+/=~", word[i]) >= 0 {
			return true
		}
	}
	return false
}

// isBasic reports whether a word is user:password in base64.
func isBasic(word string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(word, "="))
	return err == nil && len(b) > 2 && strings.IndexByte(string(b), ':') >= 0
}

// tokens hides words that begin as the tokens of a service do, and are as long.
func (s *scanner) tokens() {
	for at := 0; at < len(s.text); {
		if !isToken(s.text[at]) {
			at++
			continue
		}
		to := at
		for to < len(s.text) && isToken(s.text[to]) {
			to++
		}
		s.word(at, to)
		at = to
	}
}

// word hides the part of a word from which on it is a token. A token begins where the word does, or after a character
// that no token begins with.
func (s *scanner) word(from, to int) {
	for at := from; at < to; at++ {
		if at > from && isAlnum(s.text[at-1]) {
			continue
		}
		if isServiceToken(s.text[at:min(to, at+window)]) {
			s.hide(at, to)
			return
		}
	}
}
