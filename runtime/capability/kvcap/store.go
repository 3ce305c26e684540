package kvcap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
)

// A Store keeps the values of one namespace. It is safe for concurrent use, and so is the namespace where several
// stores have it open, in this process or in others. What has expired is never answered, and does not count.
//
// Besides the errors named below, methods return those of ctx when it ends, [ErrClosed], and errors of the store's own;
// an [abi.Error] among them says what a guest may know. Whatever the error, nothing is changed in part.
type Store interface {
	// Get gives a value. The error is [ErrNotFound] when there is none.
	Get(ctx context.Context, key string) (abi.KVEntry, []byte, error)

	// Put puts a value and describes it. When the condition does not hold, the error is [ErrConflict] and the entry is
	// what is there, of version 0 when nothing is. What is over the quota is an error of [Quota.Check].
	Put(ctx context.Context, put Put) (abi.KVEntry, error)

	// Delete removes a value if there is one, or, if ifVersion is not 0, if it has that version; otherwise the error is
	// [ErrConflict] and the entry is as for Put.
	Delete(ctx context.Context, key string, ifVersion uint64) (abi.KVEntry, error)

	// List gives entries whose keys begin with prefix and come after a key, sorted byte by byte: at most limit of them,
	// and whether there are more.
	List(ctx context.Context, prefix, after string, limit int) (entries []abi.KVEntry, more bool, err error)

	// Usage gives what counts towards the quota.
	Usage(ctx context.Context) (Usage, error)

	// Close releases the store. Calls that still run may fail. Closing again does nothing.
	Close() error
}

// A Put is a value to be put, and when.
type Put struct {
	Key       string
	Value     []byte        // not kept
	TTL       time.Duration // rounded up to milliseconds; 0 keeps it
	IfVersion uint64        // only if this is the version of what is there; 0 for whatever is there
	IfAbsent  bool          // only if nothing is there; IfVersion is 0 then
}

// Allows reports whether the condition of p holds where there is a value of a version, which is 0 for none.
func (p *Put) Allows(version uint64) bool {
	return (!p.IfAbsent || version == 0) && (p.IfVersion == 0 || p.IfVersion == version)
}

// Errors of a [Store].
var (
	ErrNotFound = errors.New("there is no such value")
	ErrConflict = errors.New("the value is not the expected one")
	ErrClosed   = errors.New("the store is closed")
)

// NextVersion gives the version of a put at a time, where last is the newest one ever given in the namespace, or 0.
// Versions grow, so that none comes again; they begin with the time, so that none does either where what was put last
// is lost with a power cut, or everything with the store.
func NextVersion(last uint64, now time.Time) uint64 {
	return max(last+1, uint64(max(now.UnixMicro(), 0)))
}

// Expiry gives when a value put at a time is gone, in milliseconds since 1970; 0 for never.
func Expiry(ttl time.Duration, now time.Time) int64 {
	if ttl <= 0 {
		return 0
	}
	return max(now.Add(ttl+time.Millisecond-1).UnixMilli(), 1)
}

// A Usage is what a namespace has.
type Usage struct {
	Keys  int
	Bytes int64 // of keys and values
}

// A Quota is the most a namespace may have. The zero value of a field stands for the default.
type Quota struct {
	MaxKeys  int   // by default 10,000
	MaxBytes int64 // of keys and values together; by default 16 MiB
	MaxValue int   // bytes of one value; by default, and at most, 1 MiB
}

const (
	defaultKeys  = 10_000
	defaultBytes = 16 << 20
	maxValue     = 1 << 20 // what an answer can carry
)

// Fill puts the defaults in, and refuses numbers that make no sense.
func (q Quota) Fill() (Quota, error) {
	if q.MaxKeys == 0 {
		q.MaxKeys = defaultKeys
	}
	if q.MaxBytes == 0 {
		q.MaxBytes = defaultBytes
	}
	if q.MaxValue == 0 {
		q.MaxValue = maxValue
	}
	switch {
	case q.MaxKeys < 0:
		return q, fmt.Errorf("key-value quota: %d keys: use a number from 1 on, or 0 for %d", q.MaxKeys, defaultKeys)
	case q.MaxBytes < 0:
		return q, fmt.Errorf("key-value quota: %d bytes: use a number from 1 on, or 0 for %d", q.MaxBytes, defaultBytes)
	case q.MaxValue < 0, q.MaxValue > maxValue:
		return q, fmt.Errorf("key-value quota: %d bytes for a value: use 1 to %d, or 0 for the most", q.MaxValue, maxValue)
	}
	return q, nil
}

// CheckValue refuses a value that is too large by itself.
func (q Quota) CheckValue(value []byte) error {
	if len(value) > q.MaxValue {
		return abi.Errorf(abi.CodeTooLarge, "a value may have %d bytes, this one has %d", q.MaxValue, len(value))
	}
	return nil
}

// Check refuses a change that takes a namespace over the quota, or further over it. The error is an [abi.Error] of code
// too_large that says which part of the quota it is.
func (q Quota) Check(before, after Usage) error {
	if after.Keys > q.MaxKeys && after.Keys > before.Keys {
		return abi.Errorf(abi.CodeTooLarge, "the key-value store may have %d keys", q.MaxKeys)
	}
	if after.Bytes > q.MaxBytes && after.Bytes > before.Bytes {
		return abi.Errorf(abi.CodeTooLarge, "the key-value store may have %d bytes of keys and values", q.MaxBytes)
	}
	return nil
}

// A Namespace says whose values a store has: those of a provider, for a tenant. No two of them share values, quota or
// versions, whatever the names are made of: the provider "b/c" of the tenant "a" is not "c" of "a/b".
type Namespace struct {
	Tenant   string // empty where there is only one
	Provider string // what wasmres knows it by, and not what it calls itself
}

// MaxNamespace is the bytes of each part of a [Namespace].
const MaxNamespace = 256

// Check refuses names that are empty, too long, or not plain text.
func (n Namespace) Check() error {
	if n.Provider == "" {
		return errors.New("key-value namespace: the provider has no name")
	}
	for what, name := range map[string]string{"tenant": n.Tenant, "provider": n.Provider} {
		if len(name) > MaxNamespace || !plain(name) {
			return fmt.Errorf("key-value namespace: %s %.64q: use at most %d bytes of UTF-8 without control characters",
				what, name, MaxNamespace)
		}
	}
	return nil
}

// plain reports whether s is UTF-8 without control characters.
func plain(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) }
