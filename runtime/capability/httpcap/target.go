package httpcap

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/wasmres/wasmres/abi"
)

const maxURL = 8 << 10 // bytes

// A target is the URL of a request, in the canonical spelling in which it is matched and sent.
type target struct {
	scheme string // "http" or "https"
	host   string // a lower-case ASCII name without a dot at its end, or an address as [netip] writes it
	port   uint16
	path   string // decoded; begins with a slash, and has no dot segments, empty segments or backslashes
	query  string // encoded

	authority string // the host as in a URL, with the port unless it is the default
	text      string // the URL
}

// parseTarget reads a URL. One that no rule can allow is a deniedError.
func parseTarget(raw string) (*target, error) {
	u, err := parseURL(raw)
	if err != nil {
		return nil, err
	}
	return targetOf(u)
}

// parseURL reads a URL, and refuses text that parsers interpret differently.
func parseURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, abi.Errorf(abi.CodeInvalidParams, "the URL has more than %d bytes", maxURL)
	}
	if !utf8.ValidString(raw) {
		return nil, abi.Errorf(abi.CodeInvalidParams, "the URL is not UTF-8")
	}
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c == 0x7f || c == '"' || c == '<' || c == '>' {
			return nil, abi.Errorf(abi.CodeInvalidParams, "the URL has the character %q: percent-encode it", c)
		}
	}
	if strings.Contains(raw, `\`) {
		return nil, denied(`url: no "\"`)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalidParams, "malformed URL").Because(err)
	}
	return u, nil
}

func targetOf(u *url.URL) (*target, error) {
	t := &target{scheme: strings.ToLower(u.Scheme), path: u.Path, query: escapeQuery(u.RawQuery)}
	switch {
	case t.scheme != "http" && t.scheme != "https":
		return nil, denied("url: scheme http or https")
	case u.User != nil:
		return nil, denied("url: no user information")
	case u.Opaque != "" || u.Host == "":
		return nil, abi.Errorf(abi.CodeInvalidParams, "the URL has no host")
	}
	var err error
	if t.host, err = canonicalHost(u.Hostname()); err != nil {
		return nil, err
	}
	if t.port, err = portOf(u.Port(), t.scheme); err != nil {
		return nil, err
	}
	if t.path == "" {
		t.path = "/"
	}
	if err := checkPath(t.path, u.EscapedPath()); err != nil {
		return nil, err
	}
	t.authority = t.join()
	t.text = t.scheme + "://" + t.authority + (&url.URL{Path: t.path}).EscapedPath()
	if t.query != "" {
		t.text += "?" + t.query
	}
	return t, nil
}

func portOf(port, scheme string) (uint16, error) {
	if port == "" {
		return defaultPort(scheme), nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return 0, abi.Errorf(abi.CodeInvalidParams, "%.16q is not a port", port)
	}
	return uint16(n), nil
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// canonicalHost returns the spelling of a host that is compared with rules.
func canonicalHost(host string) (string, error) {
	host = strings.TrimSuffix(host, ".")
	if strings.Contains(host, ":") {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return "", denied("host: an IPv6 address without a zone")
		}
		return addr.Unmap().String(), nil
	}
	if !ascii(host) {
		mapped, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", abi.Errorf(abi.CodeInvalidParams, "malformed host").Because(err)
		}
		host = strings.TrimSuffix(mapped, ".")
	}
	host = strings.ToLower(host)
	if !isAddress(host) {
		return host, checkName(host)
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return "", denied("host: an IPv4 address as in 192.0.2.1")
	}
	return addr.String(), nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const (
	maxName  = 253 // bytes of a host name
	maxLabel = 63  // bytes between its dots
)

// isAddress reports whether a resolver may read a host as an address, as 0x7f.1: then its last label is a number.
func isAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && number(last)
}

// checkName fails unless host is a valid host name.
func checkName(host string) error {
	if len(host) > maxName {
		return abi.Errorf(abi.CodeInvalidParams, "the host has more than %d bytes", maxName)
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > maxLabel || strings.ContainsFunc(label, notInLabel) {
			return abi.Errorf(abi.CodeInvalidParams, "malformed host %.64q", host)
		}
	}
	return nil
}

func notInLabel(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// number reports whether a label is a decimal, octal or hexadecimal number.
func number(label string) bool {
	digits, hex := strings.CutPrefix(label, "0x")
	return !strings.ContainsFunc(digits, func(r rune) bool {
		return (r < '0' || r > '9') && !(hex && 'a' <= r && r <= 'f')
	})
}

// maxDecodings bounds how often a path may have been percent-encoded.
const maxDecodings = 4

// checkPath refuses paths that a server may read as another path than the matched one, however often it decodes them.
func checkPath(path, encoded string) error {
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return denied("path: text without control characters")
	}
	for range maxDecodings {
		if hasEncoded(encoded, "%2f") || hasEncoded(encoded, "%5c") {
			return denied("path: no encoded slash or backslash")
		}
		if err := checkSegments(path); err != nil {
			return err
		}
		decoded := unescape(path)
		if decoded == path {
			return nil
		}
		path, encoded = decoded, path
	}
	return denied("path: encoded once")
}

func hasEncoded(path, code string) bool {
	return strings.Contains(path, "%") && strings.Contains(strings.ToLower(path), code)
}

func checkSegments(path string) error {
	if strings.ContainsAny(path, "\\\x00") {
		return denied(`path: no "\"`)
	}
	for rest, more := path[1:], true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		name, _, _ := strings.Cut(segment, ";") // some servers read parameters after it
		switch {
		case name == "." || name == "..":
			return denied("path: no dot segments")
		case name == "" && (more || segment != ""):
			return denied("path: no empty segments")
		}
	}
	return nil
}

// unescape decodes valid percent-encoding and leaves the rest as it is, as lenient servers do.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(c))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// escapeQuery percent-encodes bytes that are not ASCII.
func escapeQuery(query string) string {
	if ascii(query) {
		return query
	}
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c), 16)))
		}
	}
	return b.String()
}

func (t *target) join() string {
	if t.port != defaultPort(t.scheme) {
		return net.JoinHostPort(t.host, strconv.Itoa(int(t.port)))
	}
	if strings.Contains(t.host, ":") {
		return "[" + t.host + "]"
	}
	return t.host
}

func (t *target) url() *url.URL {
	return &url.URL{Scheme: t.scheme, Host: t.authority, Path: t.path, RawQuery: t.query}
}

// place is the URL without its query, for logs and messages.
func (t *target) place() string {
	place, _, _ := strings.Cut(t.text, "?")
	return place
}

func (t *target) sameOrigin(other *target) bool {
	return t.scheme == other.scheme && t.host == other.host && t.port == other.port
}
