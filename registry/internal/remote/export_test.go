package remote

import "net/url"

// ParseContentRange returns the parts of a header Content-Range.
func ParseContentRange(value string) (first, last, size int64, ok bool) {
	r, ok := parseContentRange(value)
	return r.first, r.last, r.size, ok
}

// CheckPlace says whether a registry may lead its client to a URL.
func CheckPlace(registry string, u *url.URL) error {
	return newEndpoint(registry, &Options{}, nil).places.check(u, false)
}
