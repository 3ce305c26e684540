package httpcap

import (
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// SetNow has h read the time from a clock of the test's.
func (h *HTTP) SetNow(now func() time.Time) { h.now = now }

// Special says why an address is not a public one.
func Special(addr netip.Addr) string { return special(addr) }

// Scrub gives what a guest gets of a body with these secrets, when it is read like that.
func Scrub(secrets []string, body io.Reader) ([]byte, error) {
	return io.ReadAll(newScrubber(secrets).reader(body))
}

// Work gives a whole text as guests get it, and how many words of states were followed for that.
func Work(secrets []string, text string) (clean string, work int) {
	s := newScrubber(secrets)
	scan := newScan(s.texts, s.reach)
	return scan.whole(text), scan.work
}

// Fields gives what guests get of headers.
func Fields(secrets []string) func(http.Header) []abi.HTTPField { return newScrubber(secrets).fields }

// Allows reports which place a rule sends a request to; nothing when it refuses it.
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
