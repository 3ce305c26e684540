// Package kvtest is a test suite for the behaviour that all key-value stores share.
//
// The tests of package kvcap and of the packages below it run it.
package kvtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

// An Open opens an empty store for a test, which closes it.
type Open func(t *testing.T, quota kvcap.Quota, now func() time.Time) kvcap.Store

// Run tests the stores that open opens.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(s *subject){
		"gives back what was put":              (*subject).roundTrip,
		"keeps no slice of the caller's":       (*subject).keepsNothing,
		"minds conditions":                     (*subject).conditions,
		"gives no version twice":               (*subject).versions,
		"forgets what has expired":             (*subject).expiry,
		"lists in order, page by page":         (*subject).list,
		"lists what begins with a prefix":      (*subject).prefixes,
		"refuses what is over the quota":       (*subject).quota,
		"does not count what has expired":      (*subject).expiredIsFree,
		"lets a full store shrink":             (*subject).shrink,
		"swaps atomically":                     (*subject).swaps,
		"holds to the quota when hurried":      (*subject).hurried,
		"does nothing for a call that is over": (*subject).cancelled,
		"closes once, and then fails":          (*subject).closes,
		"does as a map would":                  (*subject).programs,
	} {
		t.Run(name, func(t *testing.T) {
			test(&subject{T: t, open: open, clock: NewClock()})
		})
	}
}

// A Clock is moved by tests alone. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

// NewClock makes a clock that moves only by Advance.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A subject is a test with its store and clock.
type subject struct {
	*testing.T
	open  Open
	clock *Clock
	kvcap.Store
}

// begin opens the store.
func (s *subject) begin(quota kvcap.Quota) {
	s.Helper()
	s.Store = s.open(s.T, quota, s.clock.Now)
	s.Cleanup(func() {
		if err := s.Close(); err != nil {
			s.Errorf("close: %v", err)
		}
	})
}

func (s *subject) put(key, value string) abi.KVEntry {
	s.Helper()
	return s.putWith(kvcap.Put{Key: key, Value: []byte(value)})
}

func (s *subject) putWith(p kvcap.Put) abi.KVEntry {
	s.Helper()
	entry, err := s.Put(s.Context(), p)
	if err != nil {
		s.Fatalf("put %q: %v", p.Key, err)
	}
	want := abi.KVEntry{
		Key: p.Key, Size: uint64(len(p.Value)),
		ExpiresMillis: kvcap.Expiry(p.TTL, s.clock.Now()), Version: max(entry.Version, 1),
	}
	if entry != want {
		s.Errorf("put %q: got %+v, want %+v", p.Key, entry, want)
	}
	return entry
}

// expect checks the value of a key; nil for none.
func (s *subject) expect(key string, want []byte) {
	s.Helper()
	entry, value, err := s.Get(s.Context(), key)
	if want == nil {
		if !errors.Is(err, kvcap.ErrNotFound) || entry != (abi.KVEntry{}) || value != nil {
			s.Errorf("get %q: got %+v, %.40q, %v; want nothing", key, entry, value, err)
		}
		return
	}
	if err != nil || !bytes.Equal(value, want) || entry.Size != uint64(len(want)) || entry.Key != key {
		s.Errorf("get %q: got %+v, %.40q, %v; want %.40q", key, entry, value, err, want)
	}
}

func (s *subject) usage(keys int, bytes int64) {
	s.Helper()
	if u, err := s.Usage(s.Context()); u != (kvcap.Usage{Keys: keys, Bytes: bytes}) || err != nil {
		s.Errorf("usage: got %+v, %v; want %d keys, %d bytes", u, err, keys, bytes)
	}
}

func (s *subject) roundTrip() {
	s.begin(kvcap.Quota{})
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	values := map[string][]byte{
		"a": []byte("text"), "empty": {}, "bytes": all, "Größe – 日本": []byte("wide"), "a/b/../c?%00'\"": []byte("odd"),
		strings.Repeat("k", abi.MaxKey): bytes.Repeat([]byte{0xff}, 1<<20),
	}
	sum := 0
	for key, value := range values {
		s.expect(key, nil)
		s.put(key, string(value))
		sum += len(key) + len(value)
	}
	for key, value := range values {
		s.expect(key, value)
	}
	s.usage(len(values), int64(sum))
	s.put("a", "another")
	s.expect("a", []byte("another"))
	s.usage(len(values), int64(sum+3))
	for key := range values {
		if entry, err := s.Delete(s.Context(), key, 0); entry.Version != 0 || err != nil {
			s.Errorf("delete %.40q: got %+v, %v", key, entry, err)
		}
		s.expect(key, nil)
	}
	if _, err := s.Delete(s.Context(), "a", 0); err != nil {
		s.Errorf("delete again: %v", err)
	}
	s.usage(0, 0)
}

func (s *subject) keepsNothing() {
	s.begin(kvcap.Quota{})
	value := []byte("before")
	if _, err := s.Put(s.Context(), kvcap.Put{Key: "k", Value: value}); err != nil {
		s.Fatal(err)
	}
	copy(value, "AFTER!")
	_, got, err := s.Get(s.Context(), "k")
	if err != nil {
		s.Fatal(err)
	}
	copy(got, "AFTER!")
	s.expect("k", []byte("before"))
}

func (s *subject) conditions() {
	s.begin(kvcap.Quota{})
	first := s.put("there", "1")
	gone := s.put("gone", "1")
	if _, err := s.Delete(s.Context(), "gone", gone.Version); err != nil {
		s.Errorf("delete of the version that is there: %v", err)
	}
	for _, c := range []struct {
		name string
		put  kvcap.Put
		have uint64 // the version of the existing value, of a conflict
	}{
		{"if absent, there", kvcap.Put{Key: "there", IfAbsent: true}, first.Version},
		{"if another version, there", kvcap.Put{Key: "there", IfVersion: first.Version + 1}, first.Version},
		{"if a huge version, there", kvcap.Put{Key: "there", IfVersion: 1<<64 - 1}, first.Version},
		{"if version, absent", kvcap.Put{Key: "never", IfVersion: first.Version}, 0},
		{"if the version it had, gone", kvcap.Put{Key: "gone", IfVersion: gone.Version}, 0},
	} {
		if entry, err := s.Put(s.Context(), c.put); !errors.Is(err, kvcap.ErrConflict) || entry.Version != c.have {
			s.Errorf("%s: put: got %+v, %v; want a conflict with version %d", c.name, entry, err, c.have)
		}
		if c.put.IfAbsent {
			continue
		}
		entry, err := s.Delete(s.Context(), c.put.Key, c.put.IfVersion)
		if !errors.Is(err, kvcap.ErrConflict) || entry.Version != c.have {
			s.Errorf("%s: delete: got %+v, %v; want a conflict with version %d", c.name, entry, err, c.have)
		}
	}
	s.expect("there", []byte("1"))
	second := s.putWith(kvcap.Put{Key: "there", Value: []byte("2"), IfVersion: first.Version})
	if _, err := s.Delete(s.Context(), "there", first.Version); !errors.Is(err, kvcap.ErrConflict) {
		s.Errorf("delete of an old version: %v", err)
	}
	if _, err := s.Delete(s.Context(), "there", second.Version); err != nil {
		s.Errorf("delete: %v", err)
	}
	s.putWith(kvcap.Put{Key: "there", Value: []byte("3"), IfAbsent: true})
	s.expect("there", []byte("3"))
}

func (s *subject) versions() {
	s.begin(kvcap.Quota{})
	last := uint64(0)
	for i := range 20 {
		entry := s.put("k", "same")
		if entry.Version <= last {
			s.Fatalf("put %d: version %d follows %d", i, entry.Version, last)
		}
		last = entry.Version
		if got, _, err := s.Get(s.Context(), "k"); got != entry || err != nil {
			s.Fatalf("get: got %+v, %v; put had %+v", got, err, entry)
		}
		if i%3 == 0 {
			if _, err := s.Delete(s.Context(), "k", 0); err != nil {
				s.Fatal(err)
			}
			s.clock.Advance(-time.Hour) // a clock that is set to an earlier time repeats no version
		}
	}
}

func (s *subject) expiry() {
	s.begin(kvcap.Quota{})
	now := s.clock.Now()
	s.put("kept", "v")
	for i := range 300 { // more than are removed with one change
		s.putWith(kvcap.Put{Key: fmt.Sprintf("many/%03d", i), Value: []byte("v"), TTL: time.Minute})
	}
	short := s.putWith(kvcap.Put{Key: "short", Value: []byte("v"), TTL: 1500 * time.Microsecond})
	if want := now.UnixMilli() + 2; short.ExpiresMillis != want {
		s.Errorf("expires at %d, want %d", short.ExpiresMillis, want)
	}
	s.clock.Advance(time.Millisecond)
	s.expect("short", []byte("v"))
	s.clock.Advance(time.Millisecond)
	s.expect("short", nil)
	s.usage(301, 4+1+300*(8+1))
	entry, err := s.Put(s.Context(), kvcap.Put{Key: "short", IfVersion: short.Version})
	if !errors.Is(err, kvcap.ErrConflict) || entry.Version != 0 {
		s.Errorf("put if it has the version that expired: got %+v, %v", entry, err)
	}
	s.putWith(kvcap.Put{Key: "short", Value: []byte("again"), IfAbsent: true})
	s.expect("short", []byte("again"))
	s.clock.Advance(time.Minute)
	s.expect("many/000", nil)
	s.keys("", "", 1000, "kept short")
	s.usage(2, 4+1+5+5)
	s.put("short", "for good")
	s.putWith(kvcap.Put{Key: "kept", Value: []byte("v"), TTL: time.Second})
	s.clock.Advance(1000 * time.Hour)
	s.keys("", "", 1000, "short")
	s.usage(1, 5+8)
}

// keys checks a list, and whether there are more: then want ends in "…".
func (s *subject) keys(prefix, after string, limit int, want string) {
	s.Helper()
	entries, more, err := s.List(s.Context(), prefix, after, limit)
	var names []string
	for _, e := range entries {
		names = append(names, e.Key)
	}
	if more {
		names = append(names, "…")
	}
	if got := strings.Join(names, " "); got != want || err != nil {
		s.Errorf("list %q after %q, %d: got %q, %v; want %q", prefix, after, limit, got, err, want)
	}
}

func (s *subject) list() {
	s.begin(kvcap.Quota{})
	s.keys("", "", 3, "")
	want := map[string]abi.KVEntry{}
	var order []string
	for _, key := range []string{"b", "a", "Z", "ä", "a/b", "a-b", "日", "aa", "\U0001F600", "10", "9"} {
		want[key] = s.putWith(kvcap.Put{Key: key, Value: []byte(key + key), TTL: time.Hour})
		order = append(order, key)
	}
	slices.Sort(order)
	for _, limit := range []int{1, 2, 3, 5, len(order), 100} {
		var got []string
		for after, more := "", true; more; {
			var page []abi.KVEntry
			var err error
			if page, more, err = s.List(s.Context(), "", after, limit); err != nil {
				s.Fatal(err)
			}
			if len(page) > limit || len(page) == 0 {
				s.Fatalf("a page of %d has %d entries", limit, len(page))
			}
			for _, e := range page {
				if e != want[e.Key] {
					s.Errorf("listed as %+v, put as %+v", e, want[e.Key])
				}
				got = append(got, e.Key)
				after = e.Key
			}
		}
		if !slices.Equal(got, order) {
			s.Errorf("pages of %d: got %q, want %q", limit, got, order)
		}
	}
}

func (s *subject) prefixes() {
	s.begin(kvcap.Quota{})
	for _, key := range []string{"a", "a/", "a/1", "a/2", "a/3", "a0", "b/1", "ÿ", "ÿÿ", "%_", "*"} {
		s.put(key, "v")
	}
	s.keys("a/", "", 10, "a/ a/1 a/2 a/3")
	s.keys("a/", "", 2, "a/ a/1 …")
	s.keys("a/", "a/1", 10, "a/2 a/3")
	s.keys("a/", "a/1", 1, "a/2 …")
	s.keys("a/", "a/1x", 10, "a/2 a/3")
	s.keys("a/", "a/3", 10, "")
	s.keys("a/", "b", 10, "")
	s.keys("b/", "a", 10, "b/1")
	s.keys("a/1", "", 1, "a/1")
	s.keys("ÿ", "", 10, "ÿ ÿÿ")
	s.keys("%", "", 10, "%_")
	s.keys("_", "", 10, "")
	s.keys("*", "", 10, "*")
	s.keys("nothing", "", 10, "")
}

// refused checks that a put fails as too large with message, and changes nothing.
func (s *subject) refused(p kvcap.Put, message string) {
	s.Helper()
	before, err := s.Usage(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	_, old, err := s.Get(s.Context(), p.Key)
	if err == nil {
		old = append([]byte{}, old...) // not nil, which is for no value
	}
	_, err = s.Put(s.Context(), p)
	var public *abi.Error
	if !errors.As(err, &public) || public.Code != abi.CodeTooLarge || !strings.Contains(public.Message, message) {
		s.Errorf("put %q of %d bytes: got %v, want too_large with %q", p.Key, len(p.Value), err, message)
	}
	s.usage(before.Keys, before.Bytes)
	s.expect(p.Key, old)
}

func (s *subject) quota() {
	s.begin(kvcap.Quota{MaxKeys: 3, MaxBytes: 20, MaxValue: 15})
	s.refused(kvcap.Put{Key: "a", Value: make([]byte, 16)}, "15 bytes")
	s.put("a", strings.Repeat("v", 15))
	s.refused(kvcap.Put{Key: "b", Value: make([]byte, 4)}, "20 bytes")
	s.put("b", "vvv")
	s.refused(kvcap.Put{Key: "b", Value: make([]byte, 4)}, "20 bytes")
	s.put("b", "")
	s.put("c", "")
	s.refused(kvcap.Put{Key: "d"}, "3 keys")
	s.put("c", "vv")
	s.refused(kvcap.Put{Key: "b", Value: make([]byte, 1)}, "20 bytes")
	if _, err := s.Delete(s.Context(), "c", 0); err != nil {
		s.Fatal(err)
	}
	s.put("d", "")
	s.usage(3, 18)
}

func (s *subject) expiredIsFree() {
	const keys = 250
	s.begin(kvcap.Quota{MaxKeys: keys, MaxBytes: keys * 5})
	for round := range 3 {
		for i := range keys {
			s.putWith(kvcap.Put{Key: fmt.Sprintf("%d%03d", round, i), Value: []byte("v"), TTL: time.Second})
		}
		s.refused(kvcap.Put{Key: "one more"}, "keys")
		s.clock.Advance(time.Second)
	}
	s.usage(0, 0)
	s.put("all", strings.Repeat("v", keys*5-3))
	s.usage(1, keys*5)
}

func (s *subject) shrink() {
	s.begin(kvcap.Quota{MaxKeys: 2, MaxBytes: 10})
	s.put("a", "vvvv")
	s.put("b", "vvvv")
	s.put("a", "vvv")
	s.put("b", "")
	s.usage(2, 5)
}

// swaps increments one value by compare-and-swap from many goroutines.
func (s *subject) swaps() {
	s.begin(kvcap.Quota{})
	const goroutines, each = 6, 20
	s.put("count", "")
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			for range each {
				if err := Increment(s.Context(), s.Store, "count"); err != nil {
					s.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	s.expect("count", bytes.Repeat([]byte{'+'}, goroutines*each))
}

// Increment adds a plus sign to an existing value, also while others do so.
func Increment(ctx context.Context, store kvcap.Store, key string) error {
	for {
		entry, value, err := store.Get(ctx, key)
		if err != nil {
			return err
		}
		_, err = store.Put(ctx, kvcap.Put{Key: key, Value: append(value, '+'), IfVersion: entry.Version})
		if !errors.Is(err, kvcap.ErrConflict) {
			return err
		}
	}
}

// hurried puts values that exceed the quota together, from many goroutines.
func (s *subject) hurried() {
	const keys, goroutines = 30, 6
	s.begin(kvcap.Quota{MaxKeys: keys})
	var running sync.WaitGroup
	var mu sync.Mutex
	var put []string
	for g := range goroutines {
		running.Go(func() {
			for i := range keys {
				key := fmt.Sprintf("%d/%02d", g, i)
				_, err := s.Put(s.Context(), kvcap.Put{Key: key, Value: []byte("v")})
				if err != nil && abi.CodeOf(err) != abi.CodeTooLarge {
					s.Error(err)
				}
				if err == nil {
					mu.Lock()
					put = append(put, key)
					mu.Unlock()
				}
			}
		})
	}
	running.Wait()
	if len(put) != keys {
		s.Errorf("%d puts were let in, want %d", len(put), keys)
	}
	s.usage(keys, keys*5)
	slices.Sort(put)
	s.keys("", "", keys, strings.Join(put, " "))
}

func (s *subject) cancelled() {
	s.begin(kvcap.Quota{})
	s.put("k", "v")
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	for name, err := range s.everything(ctx) {
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%s: got %v", name, err)
		}
	}
	s.expect("k", []byte("v"))
	s.usage(1, 2)
}

func (s *subject) closes() {
	s.begin(kvcap.Quota{})
	s.put("k", "v")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		s.Fatal(err)
	}
	for name, err := range s.everything(s.Context()) {
		if !errors.Is(err, kvcap.ErrClosed) {
			s.Errorf("%s: got %v", name, err)
		}
	}
}

// everything calls each method and returns its errors by the name of the method.
func (s *subject) everything(ctx context.Context) map[string]error {
	errs := map[string]error{}
	_, _, errs["get"] = s.Get(ctx, "k")
	_, errs["put"] = s.Put(ctx, kvcap.Put{Key: "k"})
	_, errs["delete"] = s.Delete(ctx, "k", 0)
	_, _, errs["list"] = s.List(ctx, "", "", 1)
	_, errs["usage"] = s.Usage(ctx)
	return errs
}
