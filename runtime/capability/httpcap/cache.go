package httpcap

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/lru"
)

const (
	maxCached     = 1 << 20 // bytes of the body of one entry
	entryOverhead = 1 << 10 // bytes, about
)

// A cache stores answers to GET requests, up to a number of bytes. It is private to the guests of one provider. An
// entry is for requests with one URL and one header, which covers every Vary of the server.
type cache struct{ entries *lru.Cache[string, *entry] } // by key

// newCache makes a cache; nil when it would have no bytes.
func newCache(size int64) *cache {
	if size <= 0 {
		return nil
	}
	return &cache{lru.New(size, func(_ string, e *entry) int64 { return e.size() })}
}

// An entry is an answer that is stored. It does not change.
type entry struct {
	key, url string
	header   http.Header
	body     []byte
	fetched  time.Time // less the age it had then
	lifetime time.Duration
}

func (e *entry) size() int64 {
	return int64(len(e.key) + len(e.url) + len(e.body) + entryOverhead + headerSize(e.header))
}

// headerSize is the bytes of a header's names and values.
func headerSize(header http.Header) (n int) {
	for name, values := range header {
		for _, value := range values {
			n += len(name) + len(value)
		}
	}
	return n
}

// get returns the entry of a key, or nil.
func (c *cache) get(key string) *entry {
	e, _ := c.entries.Get(key)
	return e
}

func (c *cache) put(e *entry) { c.entries.Put(e.key, e) }

// forget discards the entries of a URL, whose resource a request may have changed.
func (c *cache) forget(url string) {
	c.entries.RemoveFunc(func(_ string, e *entry) bool { return e.url == url })
}

// conditional are the header fields by which a guest validates its own cache.
var conditional = []string{"If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Range"}

// cacheable reports whether the answer to a request may be cached. It is false with credentials of the guest, since the
// answer may be for one user.
func (at *step) cacheable(secrets bool) bool {
	if at.method != http.MethodGet || len(at.body) > 0 || secrets && !at.rule.cacheSecrets {
		return false
	}
	for name, values := range at.header {
		if slices.Contains(conditional, name) {
			return false
		}
		if slices.Contains(sensitive, name) && !slices.ContainsFunc(values, hasPlaceholder) {
			return false
		}
	}
	return !directives(at.header).has("no-store")
}

// key returns the key of a request in the cache.
func (at *step) key() string {
	names := make([]string, 0, len(at.header))
	for name := range at.header {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(at.target.text)
	for _, name := range names {
		for _, value := range at.header[name] {
			b.WriteString("\n" + name + ": ")
			b.WriteString(value)
		}
	}
	return b.String()
}

// noCache reports whether a request demands an answer from the server.
func noCache(header http.Header) bool {
	d := directives(header)
	return d.has("no-cache") || d["max-age"] == "0" || strings.Contains(header.Get("Pragma"), "no-cache")
}

// cacheBody caches a storable answer when its body has been read.
func (h *HTTP) cacheBody(at *step, key string, a *answer) {
	if !storable(a) {
		return
	}
	e := &entry{key: key, url: at.target.text, header: a.header}
	e.lifetime, e.fetched = lifetime(a.header, h.now())
	a.body = &cachingBody{ReadCloser: a.body, cache: h.cache, entry: e}
}

// A cachingBody is a body that becomes an entry when it is read to its end.
type cachingBody struct {
	io.ReadCloser
	cache *cache
	entry *entry // nil when it is stored, or cannot be
}

func (k *cachingBody) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	switch {
	case k.entry == nil:
	case err != nil && err != io.EOF, len(k.entry.body)+n > maxCached:
		k.entry = nil
	default:
		k.entry.body = append(k.entry.body, p[:n]...)
		if err == io.EOF {
			k.cache.put(k.entry)
			k.entry = nil
		}
	}
	return n, err
}

// answer makes an answer from the entry.
func (e *entry) answer(now time.Time) *answer {
	header := e.header.Clone()
	header.Set("Age", seconds(now.Sub(e.fetched)))
	return &answer{
		status: http.StatusOK, header: header, body: io.NopCloser(bytes.NewReader(e.body)), length: int64(len(e.body)),
	}
}
