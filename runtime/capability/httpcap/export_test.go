package httpcap

import (
	"io"
	"net/http"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// SetNow sets the clock of h.
func (h *HTTP) SetNow(now func() time.Time) { h.now = now }

// Redact returns the body that a guest gets, without these secrets.
func Redact(secrets []string, body io.Reader) ([]byte, error) {
	return io.ReadAll(newRedactor(secrets).reader(body))
}

// Work returns a redacted text, and how many words of states that took.
func Work(secrets []string, text string) (clean string, work int) {
	s := newRedactor(secrets)
	scan := newScan(s.texts, s.reach)
	return scan.whole(text), scan.work
}

// Fields returns the function that redacts headers.
func Fields(secrets []string) func(http.Header) []abi.HTTPField { return newRedactor(secrets).fields }

// Allows reports whether a rule allows a request, and where it is sent.
func Allows(r *Rule, method, url string) (scheme, host string, port uint16, path string, ok bool) {
	c, err := compileRule(r)
	if err != nil {
		return
	}
	t, err := parseTarget(url)
	if err != nil || !c.allows(method, t) {
		return
	}
	u := t.url()
	return u.Scheme, t.host, t.port, u.Path, true
}
