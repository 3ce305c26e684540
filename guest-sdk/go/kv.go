package wasmres

import (
	"errors"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

const (
	kvPage    = 256 // entries one service call of a KVStore lists
	kvUpdates = 16  // how often KVStore.Update tries
)

// A KVStore keeps values from one request to the next. It belongs to this provider alone; several instances of it, in
// several processes, may use it at once.
//
// Keys are texts of 1 to 1024 bytes without control characters, values any bytes, close to 1 MiB at most. There is a
// quota, by default of 10,000 keys and 16 MiB: what is over it is [ErrTooLarge]. Other errors are [ErrInvalid] for a
// key that is none, [ErrDenied] when the power "kv" is not granted, or only for reading, and [ErrUnavailable] when it
// may work later.
type KVStore struct{}

// KV gives the provider's key-value store. It needs the power "kv": see [Ask].
//
// In native tests wasmrestest keeps the values.
func KV() KVStore { return KVStore{} }

// A KVEntry describes a value.
type KVEntry struct {
	Key     string
	Size    int64     // bytes
	Version uint64    // another one after each put, never one that the key had before; 0 for no value
	Expires time.Time // zero for never
}

// ErrConflict says that a value has another version than was asked for, or is there although it should not.
var ErrConflict = errors.New("the value is not the expected one")

// A PutOption says more about a put.
type PutOption func(*kvRequest)

// TTL makes a value go after some time, which is more than none. Without it, a put makes it stay.
func TTL(d time.Duration) PutOption { return func(q *kvRequest) { q.passing, q.ttl = true, d } }

// IfVersion puts only when the value that is there has this version.
func IfVersion(version uint64) PutOption {
	return func(q *kvRequest) { q.conditional, q.ifVersion = true, version }
}

// IfAbsent puts only when no value is there.
func IfAbsent() PutOption { return func(q *kvRequest) { q.ifAbsent = true } }

// Get gives a value. The error is [ErrNotFound] when there is none.
func (s KVStore) Get(key string) ([]byte, error) {
	value, _, err := s.GetEntry(key)
	return value, err
}

// GetEntry gives a value, which is not nil, and what describes it. The error is [ErrNotFound] when there is none.
func (KVStore) GetEntry(key string) ([]byte, KVEntry, error) {
	answer, err := (&kvRequest{key: key}).ask(serviceKVGet)
	if err != nil {
		return nil, KVEntry{}, err
	}
	entry := answer.entry()
	if len(answer.entries) != 1 || entry.Size < 0 || entry.Size > maxService {
		return nil, KVEntry{}, ErrInternal
	}
	value := make([]byte, entry.Size+1) // one more to meet the end
	if n := host.Take(channelBody, value, 0); int64(n) != entry.Size {
		return nil, KVEntry{}, ErrInternal
	}
	return value[:entry.Size], entry, nil
}

// Put puts a value, in place of the one that may be there, and describes it. When a condition does not hold, nothing is
// put, the error is [ErrConflict], and the entry is of what is there.
func (KVStore) Put(key string, value []byte, options ...PutOption) (KVEntry, error) {
	q := kvRequest{key: key, value: value}
	for _, set := range options {
		set(&q)
	}
	if q.passing && q.ttl <= 0 {
		return KVEntry{}, Invalid("a value must last for some time, or, without TTL, for good")
	}
	if q.conditional && q.ifVersion == 0 {
		return KVEntry{}, Invalid("no value has version 0: use IfAbsent to put where there is none")
	}
	answer, err := q.ask(serviceKVPut)
	if err != nil {
		return KVEntry{}, err
	}
	if !answer.conflict && len(answer.entries) != 1 {
		return KVEntry{}, ErrInternal
	}
	return answer.entry(), answer.conflictError()
}

// Update puts what change makes of a value, for which nil stands when there is none, whoever else does so at the same
// time: when the value has changed meanwhile, change is called again. What change returns as an error, Update does.
// When others are quicker again and again, the error is [ErrUnavailable]. Of the options only [TTL] applies.
func (s KVStore) Update(key string, change func(old []byte) ([]byte, error), options ...PutOption) (KVEntry, error) {
	for range kvUpdates {
		old, entry, err := s.GetEntry(key)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return KVEntry{}, err
		}
		value, err := change(old)
		if err != nil {
			return KVEntry{}, err
		}
		entry, err = s.Put(key, value, append(options[:len(options):len(options)], onlyIf(entry))...)
		if err != ErrConflict {
			return entry, err
		}
	}
	return KVEntry{}, ErrUnavailable
}

// onlyIf makes a put hold to what was seen before.
func onlyIf(seen KVEntry) PutOption {
	return func(q *kvRequest) {
		q.ifVersion, q.ifAbsent = seen.Version, seen.Version == 0
		q.conditional = !q.ifAbsent
	}
}

// Delete removes a value if there is one.
func (KVStore) Delete(key string) error {
	_, err := (&kvRequest{key: key}).ask(serviceKVDelete)
	return err
}

// DeleteVersion removes a value if it has a version. Otherwise the error is [ErrConflict].
func (KVStore) DeleteVersion(key string, version uint64) error {
	if version == 0 {
		return Invalid("no value has version 0: use Delete to delete any")
	}
	answer, err := (&kvRequest{key: key, ifVersion: version}).ask(serviceKVDelete)
	if err != nil {
		return err
	}
	return answer.conflictError()
}

// Keys goes over the values whose keys begin with prefix, in the order of their bytes:
//
//	for entry, err := range wasmres.KV().Keys("notes/") {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// An error is the last thing it gives. Values that come or go meanwhile are met or not.
func (s KVStore) Keys(prefix string) func(yield func(KVEntry, error) bool) {
	return s.KeysAfter(prefix, "")
}

// KeysAfter is Keys from the first key after one on, as from the cursor of a [Page].
func (KVStore) KeysAfter(prefix, after string) func(yield func(KVEntry, error) bool) {
	return func(yield func(KVEntry, error) bool) {
		q := kvRequest{prefix: prefix, after: after, limit: kvPage}
		for more := true; more; {
			page, err := q.ask(serviceKVList)
			if more = page.more; more && len(page.entries) == 0 {
				err = ErrInternal
			}
			if err != nil {
				yield(KVEntry{}, err)
				return
			}
			for _, e := range page.entries {
				if !yield(e, nil) {
					return
				}
				q.after = e.Key
			}
		}
	}
}

// A kvRequest is what a service is asked.
type kvRequest struct {
	key           string
	value         []byte
	passing       bool // TTL was given
	ttl           time.Duration
	conditional   bool // IfVersion was given
	ifVersion     uint64
	ifAbsent      bool
	prefix, after string
	limit         uint64
}

func (q *kvRequest) append(b []byte) []byte {
	b = wire.AppendString(b, 1, q.key)
	if len(q.value) > 0 {
		b = wire.AppendBytes(b, 2, q.value)
	}
	b = wire.AppendUint(b, 3, millis(q.ttl))
	b = wire.AppendUint(b, 4, q.ifVersion)
	b = wire.AppendBool(b, 5, q.ifAbsent)
	b = wire.AppendString(b, 6, q.prefix)
	b = wire.AppendString(b, 7, q.after)
	return wire.AppendUint(b, 8, q.limit)
}

// ask calls one of the services.
func (q *kvRequest) ask(service uint32) (answer kvAnswer, err error) {
	if len(q.value) > maxService {
		return answer, ErrTooLarge
	}
	b := q.append(make([]byte, 0, 64+len(q.key)+len(q.value)+len(q.prefix)+len(q.after)))
	if len(b) > maxService {
		return answer, ErrTooLarge
	}
	code, n := host.Call(service, b)
	if code != codeOK {
		return answer, codeError(code)
	}
	if !answer.decode(response(n)) {
		return answer, ErrInternal
	}
	return answer, nil
}

// A kvAnswer is what a service answers.
type kvAnswer struct {
	entries  []KVEntry
	more     bool
	conflict bool
}

// entry gives the only entry, or none.
func (a *kvAnswer) entry() KVEntry {
	if len(a.entries) == 0 {
		return KVEntry{}
	}
	return a.entries[0]
}

func (a *kvAnswer) conflictError() error {
	if a.conflict {
		return ErrConflict
	}
	return nil
}

// decode fills a and reports whether s was well formed.
func (a *kvAnswer) decode(s string) bool {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return false
		}
		switch f.Num {
		case 1:
			var e KVEntry
			if !e.decode(f.Text) {
				return false
			}
			a.entries = append(a.entries, e)
		case 2:
			a.more = f.Bits != 0
		case 3:
			a.conflict = f.Bits != 0
		}
		s = rest
	}
	return true
}

func (e *KVEntry) decode(s string) bool {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return false
		}
		switch f.Num {
		case 1:
			e.Key = f.Text
		case 2:
			e.Size = int64(f.Bits)
		case 3:
			e.Expires = time.UnixMilli(int64(f.Bits)).UTC()
		case 4:
			e.Version = f.Bits
		}
		s = rest
	}
	return true
}
