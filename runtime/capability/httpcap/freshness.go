package httpcap

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A directiveSet has the directives of Cache-Control fields.
type directiveSet map[string]string

func (d directiveSet) has(name string) bool {
	_, ok := d[name]
	return ok
}

func directives(header http.Header) directiveSet {
	fields := header["Cache-Control"]
	if len(fields) == 0 {
		return nil
	}
	d := directiveSet{}
	for part := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		d[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(value), `"`)
	}
	return d
}

// storable reports whether a private cache may store an answer and can use it again.
func storable(a *answer) bool {
	d := directives(a.header)
	if a.status != http.StatusOK || a.length > maxCached || d.has("no-store") {
		return false
	}
	for _, value := range a.header["Vary"] {
		if strings.Contains(value, "*") {
			return false
		}
	}
	return d.has("max-age") || a.header.Get("Expires") != "" || a.header.Get("Etag") != "" ||
		a.header.Get("Last-Modified") != ""
}

// lifetime returns how long an answer that arrived now stays fresh, and since when. There is no heuristic freshness:
// without a directive of the server an answer is stale at once, and is revalidated.
func lifetime(header http.Header, now time.Time) (stays time.Duration, since time.Time) {
	since = now.Add(-delta(header.Get("Age")))
	d := directives(header)
	if d.has("no-cache") {
		return 0, since
	}
	if d.has("max-age") {
		return delta(d["max-age"]), since
	}
	expires, err := http.ParseTime(header.Get("Expires"))
	if err != nil {
		return 0, since
	}
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		date = now
	}
	return max(expires.Sub(date), 0), since
}

// delta reads a number of seconds; anything else is 0.
func delta(s string) time.Duration {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

func seconds(d time.Duration) string {
	return strconv.FormatInt(int64(math.Max(d.Seconds(), 0)), 10)
}

// fresh reports whether an entry may be used without revalidation. A nil entry is not.
func (e *entry) fresh(now time.Time) bool { return e != nil && now.Sub(e.fetched) < e.lifetime }

// validate returns the header that asks the server whether an entry is still valid.
func (e *entry) validate(header http.Header) http.Header {
	if e == nil {
		return header
	}
	header = header.Clone()
	if etag := e.header.Get("Etag"); etag != "" {
		header.Set("If-None-Match", etag)
	}
	if modified := e.header.Get("Last-Modified"); modified != "" {
		header.Set("If-Modified-Since", modified)
	}
	return header
}

// renewed returns the entry with the header of a 304 response.
func (e *entry) renewed(said http.Header, now time.Time) *entry {
	r := *e
	r.header = e.header.Clone()
	r.header.Del("Age")
	for name, values := range said {
		if name != "Content-Length" && name != "Content-Encoding" {
			r.header[name] = values
		}
	}
	if headerSize(r.header) > maxResponseHeader {
		r.header = e.header // otherwise a server could let the header grow without end
	}
	r.lifetime, r.fetched = lifetime(r.header, now)
	return &r
}
