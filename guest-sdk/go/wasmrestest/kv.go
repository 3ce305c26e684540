package wasmrestest

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// A KV is a key-value store for tests. The zero value is empty. It has no quota; the time it goes by is that of
// [Provider.Now].
type KV struct {
	values map[string]kvValue
	newest uint64 // version
}

type kvValue struct {
	text    string
	expires int64 // milliseconds since 1970; 0 for never
	version uint64
}

// Set puts a value that stays.
func (s *KV) Set(key, value string) { s.put(key, kvValue{text: value}) }

// Value gives a value, and whether there was one when the provider last used the store.
func (s *KV) Value(key string) (value string, ok bool) {
	v, ok := s.values[key]
	return v.text, ok
}

// Keys gives the keys of the values there were when the provider last used the store, sorted.
func (s *KV) Keys() []string { return slices.Sorted(maps.Keys(s.values)) }

// granted gives the bits of the services that are granted.
func (s *KV) granted() int64 {
	if s == nil {
		return 0
	}
	return 1<<serviceKVGet | 1<<serviceKVPut | 1<<serviceKVDelete | 1<<serviceKVList
}

func (s *KV) put(key string, v kvValue) {
	if s.values == nil {
		s.values = map[string]kvValue{}
	}
	s.newest++
	v.version = s.newest
	s.values[key] = v
}

// expire removes what is gone at a time.
func (s *KV) expire(now time.Time) {
	maps.DeleteFunc(s.values, func(_ string, v kvValue) bool { return v.expires > 0 && v.expires <= now.UnixMilli() })
}

// A kvRequest is what the services may be asked.
type kvRequest struct {
	key, value    string
	ttl           uint64
	ifVersion     uint64
	ifAbsent      bool
	prefix, after string
	limit         uint64
}

func decodeKV(s string) (q kvRequest, ok bool) {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return q, false
		}
		switch f.Num {
		case 1:
			q.key = f.Text
		case 2:
			q.value = f.Text
		case 3:
			q.ttl = f.Bits
		case 4:
			q.ifVersion = f.Bits
		case 5:
			q.ifAbsent = f.Bits != 0
		case 6:
			q.prefix = f.Text
		case 7:
			q.after = f.Text
		case 8:
			q.limit = f.Bits
		}
		s = rest
	}
	return q, true
}

// kv answers one of the key-value services.
func (c *call) kv(service uint32, request string) (code uint32) {
	store := c.p.KV
	q, ok := decodeKV(request)
	switch {
	case store == nil:
		return codeDenied
	case !ok, service != serviceKVList && !isKey(q.key), q.ifAbsent && q.ifVersion != 0:
		return codeInvalidParams
	}
	now := c.p.now()
	store.expire(now)
	found, there := store.values[q.key]
	conflict := q.ifAbsent && there || q.ifVersion != 0 && q.ifVersion != found.version
	switch {
	case service == serviceKVList:
		c.response = store.list(&q)
		return codeOK
	case service == serviceKVGet && !there:
		return codeNotFound
	case service == serviceKVGet:
		c.bytes = []byte(found.text)
	case conflict:
	case service == serviceKVPut:
		v := kvValue{text: q.value}
		if q.ttl > 0 {
			v.expires = now.Add(time.Duration(q.ttl) * time.Millisecond).UnixMilli()
		}
		store.put(q.key, v)
	case service == serviceKVDelete:
		delete(store.values, q.key)
	}
	c.response = wire.AppendBool(store.describe(nil, q.key), 3, conflict && service != serviceKVGet)
	return codeOK
}

// describe appends what is known of a value, if there is one.
func (s *KV) describe(b []byte, key string) []byte {
	v, ok := s.values[key]
	if !ok {
		return b
	}
	b, at := wire.Begin(b, 1)
	b = wire.AppendString(b, 1, key)
	b = wire.AppendUint(b, 2, uint64(len(v.text)))
	b = wire.AppendUint(b, 3, uint64(v.expires))
	b = wire.AppendUint(b, 4, v.version)
	return wire.End(b, at)
}

// list answers with the entries after q.after.
func (s *KV) list(q *kvRequest) (b []byte) {
	limit := uint64(listMax)
	if q.limit > 0 {
		limit = min(q.limit, listMax)
	}
	for _, key := range s.Keys() {
		if key <= q.after || !strings.HasPrefix(key, q.prefix) {
			continue
		}
		if limit == 0 {
			return wire.AppendBool(b, 2, true)
		}
		limit--
		b = s.describe(b, key)
	}
	return b
}

func isKey(key string) bool {
	return key != "" && len(key) <= maxKey && !strings.ContainsFunc(key, unicode.IsControl)
}
