package remote_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/netaddr"
	"github.com/wasmres/wasmres/registry/internal/remote"
)

func FuzzContentRange(f *testing.F) {
	for _, value := range []string{"bytes 0-9/10", "bytes 5-9/*", "bytes 9-5/10", "bytes +1-2/3", "bytes -", "bytes 1-99999999999999999999/2"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		first, last, size, ok := remote.ParseContentRange(value)
		if ok && (first < 0 || last < first || size >= 0 && last >= size || size < -1 || !strings.HasPrefix(value, "bytes ")) {
			t.Errorf("%q is %d-%d/%d", value, first, last, size)
		}
	})
}

func FuzzPlaces(f *testing.F) {
	for _, place := range []string{"https://cdn.example/x", "http://r.example/", "https://r.example:8443", "file:///etc/passwd", "https://169.254.169.254",
		"https://[::ffff:7f00:1]/", "https://2130706433/", "https://0x7f.1/", "https://localhost./", "https:///x", "//x", "https://a@10.0.0.1"} {
		f.Add(place)
	}
	f.Fuzz(func(t *testing.T, place string) {
		u, err := url.Parse(place)
		if err != nil || remote.CheckPlace("r.example", u) != nil {
			return
		}
		name := u.Hostname()
		if u.Scheme != "https" || name == "" {
			t.Errorf("%q was accepted", place)
		}
		if addr, err := netip.ParseAddr(name); err == nil && netaddr.Special(addr) != "" {
			t.Errorf("%q was accepted, which is not public", place)
		}
	})
}
