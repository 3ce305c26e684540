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

// A Store stores the values of one namespace. It is safe for concurrent use, also when other stores have the same namespace
// open, in this process or in others. Expired values are never returned, and do not count.
//
// Besides the errors named below, methods return those of ctx, [ErrClosed], and errors of the store itself. Guests see
// only [abi.Error]s of them. After an error nothing has changed.
type Store interface {
	// Get returns a value. The error is [ErrNotFound] when there is none.
	Get(ctx context.Context, key string) (abi.KVEntry, []byte, error)

	// Put stores a value and returns its entry. When the condition does not hold, the error is [ErrConflict], and the
	// entry is that of the existing value; its version is 0 when there is none. Exceeding the quota is an error of
	// [Quota.Check].
	Put(ctx context.Context, put Put) (abi.KVEntry, error)

	// Delete removes the value, if there is one. If ifVersion is not 0 and not the version of the value, the error is
	// [ErrConflict] and the entry is as for Put.
	Delete(ctx context.Context, key string, ifVersion uint64) (abi.KVEntry, error)

	// List returns the entries whose keys begin with prefix and are greater than after, sorted byte by byte: at most
	// limit, and whether there are more.
	List(ctx context.Context, prefix, after string, limit int) (entries []abi.KVEntry, more bool, err error)

	// Usage returns the usage that counts towards the quota.
	Usage(ctx context.Context) (Usage, error)

	// Close releases the store. Calls that still run may fail. Closing again does nothing.
	Close() error
}

// A Put is a value to be stored, and a condition.
type Put struct {
	Key       string
	Value     []byte        // the store makes a copy
	TTL       time.Duration // rounded up to milliseconds; 0 for no end
	IfVersion uint64        // only if the existing value has this version; 0 for no condition
	IfAbsent  bool          // only if there is no value; IfVersion is 0 then
}

// Allows reports whether the condition of p holds for an existing value of that version; 0 is for none.
func (p *Put) Allows(version uint64) bool {
	return (!p.IfAbsent || version == 0) && (p.IfVersion == 0 || p.IfVersion == version)
}

// Errors of a [Store].
var (
	ErrNotFound = errors.New("no value with this key")
	ErrConflict = errors.New("the value has another version")
	ErrClosed   = errors.New("the store is closed")
)

// NextVersion returns the version of a put at the time now. last is the newest version ever given in the namespace, or
// 0. Versions grow, and each is at least the time in microseconds. So no version is given twice, even when the last
// changes are lost with a power cut, or all of them with the store.
func NextVersion(last uint64, now time.Time) uint64 {
	return max(last+1, uint64(max(now.UnixMicro(), 0)))
}

// Expiry returns when a value that is put now expires, in milliseconds since 1970; 0 for never.
func Expiry(ttl time.Duration, now time.Time) int64 {
	if ttl <= 0 {
		return 0
	}
	return max(now.Add(ttl+time.Millisecond-1).UnixMilli(), 1)
}

// A Usage is the size of a namespace.
type Usage struct {
	Keys  int
	Bytes int64 // of keys and values
}

// A Quota bounds a namespace. Zero fields take the default.
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

// WithDefaults fills the zero fields and checks the others.
func (q Quota) WithDefaults() (Quota, error) {
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

// CheckValue fails for a value that exceeds MaxValue.
func (q Quota) CheckValue(value []byte) error {
	if len(value) > q.MaxValue {
		return abi.Errorf(abi.CodeTooLarge, "a value may have at most %d bytes, this one has %d", q.MaxValue, len(value))
	}
	return nil
}

// Check fails for a change that takes a namespace above the quota, or further above it. The error is an [abi.Error] of code
// too_large that names the part of the quota.
func (q Quota) Check(before, after Usage) error {
	if after.Keys > q.MaxKeys && after.Keys > before.Keys {
		return abi.Errorf(abi.CodeTooLarge, "the key-value store may have at most %d keys", q.MaxKeys)
	}
	if after.Bytes > q.MaxBytes && after.Bytes > before.Bytes {
		return abi.Errorf(abi.CodeTooLarge, "the key-value store may have at most %d bytes of keys and values", q.MaxBytes)
	}
	return nil
}

// A Namespace names the provider and the tenant that values belong to. No two namespaces share values, quota or versions.
// Separators within names do not matter: the provider "b/c" of the tenant "a" is not "c" of "a/b".
type Namespace struct {
	Tenant   string // empty when there is only one
	Provider string // the name that the operator gave it, not that of its manifest
}

// MaxNamespace is the most bytes of each part of a [Namespace].
const MaxNamespace = 256

// Check fails for an empty provider, and for names that are too long or not plain text.
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
