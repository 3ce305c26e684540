package kvtest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

// ProgramQuota is the quota of a store for [Program]: small, so that programs reach it.
var ProgramQuota = kvcap.Quota{MaxKeys: 5, MaxBytes: 60, MaxValue: 20}

func (s *subject) programs() {
	seed := rand.Uint64()
	s.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 10 {
		program := make([]byte, 400)
		for i := range program {
			program[i] = byte(random.UintN(256))
		}
		clock := NewClock()
		Program(s.T, s.open(s.T, ProgramQuota, clock.Now), clock, program)
	}
}

// Program runs a program on an empty store and on a map, compares the two after each step, and closes the store.
func Program(t *testing.T, store kvcap.Store, clock *Clock, program []byte) {
	m := &model{t: t, store: store, clock: clock, values: map[string]modelValue{}, program: program}
	for step := 0; len(m.program) > 0; step++ {
		what := m.step()
		if t.Failed() {
			t.Fatalf("step %d: %s", step, what)
		}
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// A model is the expected state of a store.
type model struct {
	t       *testing.T
	store   kvcap.Store
	clock   *Clock
	values  map[string]modelValue
	newest  uint64
	program []byte // the steps that remain
}

type modelValue struct {
	entry abi.KVEntry
	value []byte
}

// next reads a number below n from the program.
func (m *model) next(n int) int {
	if len(m.program) == 0 {
		return 0
	}
	b := m.program[0]
	m.program = m.program[1:]
	return int(b) % n
}

var programKeys = []string{"a", "a/", "a/1", "a/2", "b", "ä", "Z", "long key of some bytes"}

func (m *model) key() string { return programKeys[m.next(len(programKeys))] }

// step runs one step and gives its name.
func (m *model) step() string {
	for key, v := range m.values {
		if at := v.entry.ExpiresMillis; at > 0 && at <= m.clock.Now().UnixMilli() {
			delete(m.values, key)
		}
	}
	switch m.next(6) {
	case 0:
		return m.get(m.key())
	case 1, 2:
		return m.put()
	case 3:
		return m.delete()
	case 4:
		return m.list()
	}
	d := time.Duration(m.next(40)) * time.Millisecond
	m.clock.Advance(d)
	return fmt.Sprintf("wait %v", d)
}

func (m *model) get(key string) string {
	entry, value, err := m.store.Get(m.t.Context(), key)
	want, ok := m.values[key]
	found := !errors.Is(err, kvcap.ErrNotFound)
	if found && err != nil || found != ok || entry != want.entry || !bytes.Equal(value, want.value) {
		m.t.Errorf("got %+v, %q, %v; want %+v, %q", entry, value, err, want.entry, want.value)
	}
	return "get " + key
}

// version picks no version, the existing one, or another.
func (m *model) version(key string) uint64 {
	return [...]uint64{0, m.values[key].entry.Version, m.newest, 1}[m.next(4)]
}

func (m *model) put() string {
	p := kvcap.Put{Key: m.key(), Value: bytes.Repeat([]byte{byte(m.next(256))}, m.next(22))}
	switch m.next(4) {
	case 0:
		p.IfVersion = m.version(p.Key)
	case 1:
		p.IfAbsent = true
	}
	if m.next(2) == 0 {
		p.TTL = time.Duration(m.next(50)) * time.Millisecond
	}
	what := fmt.Sprintf("put %+v", p)
	old, replaced := m.values[p.Key]
	entry, err := m.store.Put(m.t.Context(), p)
	switch {
	case len(p.Value) > ProgramQuota.MaxValue:
		m.want(err, abi.CodeTooLarge)
	case p.IfAbsent && replaced || p.IfVersion != 0 && p.IfVersion != old.entry.Version:
		m.conflict(entry, err, old.entry)
	case m.over(&p):
		m.want(err, abi.CodeTooLarge)
	case err != nil || entry.Key != p.Key || entry.Size != uint64(len(p.Value)) || entry.Version <= m.newest:
		m.t.Errorf("got %+v, %v; the newest version was %d", entry, err, m.newest)
	default:
		m.newest = entry.Version
		m.values[p.Key] = modelValue{entry, p.Value}
		if want := m.expires(p.TTL); entry.ExpiresMillis != want {
			m.t.Errorf("it expires at %d, want %d", entry.ExpiresMillis, want)
		}
	}
	m.usage()
	return what
}

func (m *model) expires(ttl time.Duration) int64 {
	if ttl == 0 {
		return 0
	}
	return m.clock.Now().UnixMilli() + ttl.Milliseconds()
}

// over reports whether a put takes the model above the quota, or further above it.
func (m *model) over(p *kvcap.Put) bool {
	before := m.sum(m.values)
	changed := maps.Clone(m.values)
	changed[p.Key] = modelValue{value: p.Value}
	after := m.sum(changed)
	return after.Keys > ProgramQuota.MaxKeys && after.Keys > before.Keys ||
		after.Bytes > ProgramQuota.MaxBytes && after.Bytes > before.Bytes
}

func (m *model) sum(values map[string]modelValue) kvcap.Usage {
	u := kvcap.Usage{Keys: len(values)}
	for key, v := range values {
		u.Bytes += int64(len(key) + len(v.value))
	}
	return u
}

func (m *model) delete() string {
	key := m.key()
	version := m.version(key)
	old := m.values[key].entry
	entry, err := m.store.Delete(m.t.Context(), key, version)
	if version != 0 && version != old.Version {
		m.conflict(entry, err, old)
	} else {
		m.want(err, abi.CodeOK)
		delete(m.values, key)
	}
	m.usage()
	return fmt.Sprintf("delete %s, version %d", key, version)
}

func (m *model) list() string {
	prefix := []string{"", "a", "a/", "ä", "x"}[m.next(5)]
	after := append(programKeys, "")[m.next(len(programKeys)+1)]
	limit := 1 + m.next(6)
	var want []abi.KVEntry
	for _, key := range slices.Sorted(maps.Keys(m.values)) {
		if strings.HasPrefix(key, prefix) && key > after {
			want = append(want, m.values[key].entry)
		}
	}
	got, more, err := m.store.List(m.t.Context(), prefix, after, limit)
	if !slices.Equal(got, want[:min(limit, len(want))]) || more != (len(want) > limit) || err != nil {
		m.t.Errorf("got %+v, more %t, %v; want the first %d of %+v", got, more, err, limit, want)
	}
	return fmt.Sprintf("list %q after %q, %d", prefix, after, limit)
}

func (m *model) conflict(entry abi.KVEntry, err error, there abi.KVEntry) {
	if !errors.Is(err, kvcap.ErrConflict) || entry != there {
		m.t.Errorf("got %+v, %v; want a conflict with %+v", entry, err, there)
	}
}

func (m *model) want(err error, code abi.Code) {
	if abi.CodeOf(err) != code {
		m.t.Errorf("got %v, want %v", err, code)
	}
}

func (m *model) usage() {
	if got, err := m.store.Usage(m.t.Context()); got != m.sum(m.values) || err != nil {
		m.t.Errorf("usage: got %+v, %v; want %+v", got, err, m.sum(m.values))
	}
}
