package kvcap

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A Memory is a [Store] in memory. Close discards its values.
type Memory struct {
	quota Quota
	now   func() time.Time

	mu         sync.Mutex
	values     map[string]memoryValue // guarded by mu, as all below; nil after Close
	keys       []string               // of values, sorted
	bytes      int64                  // of keys and values
	version    uint64                 // the newest one
	nextExpiry int64                  // no value expires before this time, in milliseconds; 0: none expires
}

type memoryValue struct {
	entry abi.KVEntry
	value []byte
}

// NewMemory makes an empty store. now gives the time; nil is for [time.Now].
func NewMemory(quota Quota, now func() time.Time) (*Memory, error) {
	quota, err := quota.WithDefaults()
	if err != nil {
		return nil, err
	}
	if now == nil {
		now = time.Now
	}
	return &Memory{quota: quota, now: now, values: map[string]memoryValue{}}, nil
}

// lock takes the lock and removes expired values. The caller unlocks m.mu, unless there is an error.
func (m *Memory) lock(ctx context.Context) (now time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return now, err
	}
	m.mu.Lock()
	if m.values == nil {
		m.mu.Unlock()
		return now, ErrClosed
	}
	now = m.now()
	m.expire(now.UnixMilli())
	return now, nil
}

// expire removes expired values, if there can be any. The caller holds m.mu.
func (m *Memory) expire(now int64) {
	if m.nextExpiry == 0 || now < m.nextExpiry {
		return
	}
	m.nextExpiry = 0
	m.keys = slices.DeleteFunc(m.keys, func(key string) bool {
		v := m.values[key]
		at := v.entry.ExpiresMillis
		if at > 0 && at <= now {
			m.bytes -= v.bytes()
			delete(m.values, key)
			return true
		}
		m.noteExpiry(at)
		return false
	})
}

// noteExpiry notes that a value expires at that time; 0 is for never. The caller holds m.mu.
func (m *Memory) noteExpiry(at int64) {
	if at > 0 && (m.nextExpiry == 0 || at < m.nextExpiry) {
		m.nextExpiry = at
	}
}

func (v *memoryValue) bytes() int64 { return int64(len(v.entry.Key) + len(v.value)) }

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, key string) (abi.KVEntry, []byte, error) {
	if _, err := m.lock(ctx); err != nil {
		return abi.KVEntry{}, nil, err
	}
	defer m.mu.Unlock()
	v, ok := m.values[key]
	if !ok {
		return abi.KVEntry{}, nil, ErrNotFound
	}
	return v.entry, slices.Clone(v.value), nil
}

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, p Put) (abi.KVEntry, error) {
	if err := m.quota.CheckValue(p.Value); err != nil {
		return abi.KVEntry{}, err
	}
	now, err := m.lock(ctx)
	if err != nil {
		return abi.KVEntry{}, err
	}
	defer m.mu.Unlock()
	old, replaced := m.values[p.Key]
	if !p.Allows(old.entry.Version) {
		return old.entry, ErrConflict
	}
	v := memoryValue{value: slices.Clone(p.Value), entry: abi.KVEntry{
		Key: strings.Clone(p.Key), Size: uint64(len(p.Value)),
		ExpiresMillis: Expiry(p.TTL, now), Version: NextVersion(m.version, now),
	}}
	before := Usage{Keys: len(m.keys), Bytes: m.bytes}
	after := Usage{Keys: before.Keys, Bytes: before.Bytes + v.bytes() - old.bytes()}
	if !replaced {
		after.Keys++
	}
	if err := m.quota.Check(before, after); err != nil {
		return abi.KVEntry{}, err
	}
	if at, _ := slices.BinarySearch(m.keys, p.Key); !replaced {
		m.keys = slices.Insert(m.keys, at, v.entry.Key)
	}
	m.values[v.entry.Key], m.bytes, m.version = v, after.Bytes, v.entry.Version
	m.noteExpiry(v.entry.ExpiresMillis)
	return v.entry, nil
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, key string, ifVersion uint64) (abi.KVEntry, error) {
	if _, err := m.lock(ctx); err != nil {
		return abi.KVEntry{}, err
	}
	defer m.mu.Unlock()
	v, ok := m.values[key]
	if ifVersion != 0 && ifVersion != v.entry.Version {
		return v.entry, ErrConflict
	}
	if !ok {
		return abi.KVEntry{}, nil
	}
	at, _ := slices.BinarySearch(m.keys, key)
	m.keys = slices.Delete(m.keys, at, at+1)
	m.bytes -= v.bytes()
	delete(m.values, key)
	return abi.KVEntry{}, nil
}

// List implements [Store].
func (m *Memory) List(ctx context.Context, prefix, after string, limit int) ([]abi.KVEntry, bool, error) {
	if _, err := m.lock(ctx); err != nil {
		return nil, false, err
	}
	defer m.mu.Unlock()
	var entries []abi.KVEntry
	at, found := slices.BinarySearch(m.keys, max(prefix, after))
	if found && m.keys[at] == after {
		at++
	}
	for _, key := range m.keys[at:] {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		if len(entries) == limit {
			return entries, true, nil
		}
		entries = append(entries, m.values[key].entry)
	}
	return entries, false, nil
}

// Usage implements [Store].
func (m *Memory) Usage(ctx context.Context) (Usage, error) {
	if _, err := m.lock(ctx); err != nil {
		return Usage{}, err
	}
	defer m.mu.Unlock()
	return Usage{Keys: len(m.keys), Bytes: m.bytes}, nil
}

// Close implements [Store].
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values, m.keys = nil, nil
	return nil
}
