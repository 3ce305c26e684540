package lru_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/lru"
)

// bytes is the cost of an entry in most tests: of its key and its value.
func bytes(k, v string) int64 { return int64(len(k) + len(v)) }

// stored lists the entries of c as "key=value", the least recently used one first. RemoveFunc visits them in that order
// and changes nothing when it matches none.
func stored(c *lru.Cache[string, string]) string {
	var all []string
	c.RemoveFunc(func(k, v string) bool {
		all = append(all, k+"="+v)
		return false
	})
	return strings.Join(all, " ")
}

func TestEntriesAreDiscardedByCostAndLastUse(t *testing.T) {
	// Ten bytes: three entries of a one-byte key and a two-byte value, but not four.
	full := "put a 11, put b 22, put c 33"
	for name, tt := range map[string]struct{ steps, want string }{
		"all fit":                           {full, "a=11 b=22 c=33"},
		"the oldest goes":                   {full + ", put d 44", "b=22 c=33 d=44"},
		"the one just got stays":            {full + ", get a, put d 44", "c=33 a=11 d=44"},
		"a missing key changes nothing":     {full + ", get x", "a=11 b=22 c=33"},
		"a value is replaced":               {full + ", put a 1", "b=22 c=33 a=1"},
		"a replaced value frees its cost":   {full + ", put a 1, put d 4", "b=22 c=33 a=1 d=4"},
		"a greater value needs room":        {full + ", put a 1111", "c=33 a=1111"},
		"one value may take all":            {full + ", put d 123456789", "d=123456789"},
		"one that never fits goes nowhere":  {full + ", put d 1234567890", "a=11 b=22 c=33"},
		"nor does the value it replaces":    {full + ", put b 1234567890", "a=11 c=33"},
		"removed":                           {full + ", remove b", "a=11 c=33"},
		"removing a missing key":            {full + ", remove x", "a=11 b=22 c=33"},
		"removing frees the cost":           {full + ", remove b, put d 44", "a=11 c=33 d=44"},
		"removed by value":                  {full + ", put d 33, removevalue 33", "b=22"},
		"removing by value keeps the order": {full + ", get b, get a, removevalue 22, put d 44, put e 55", "a=11 d=44 e=55"},
		"cleared":                           {full + ", clear", ""},
		"clearing frees the cost":           {full + ", clear, put d 123456789", "d=123456789"},
	} {
		t.Run(name, func(t *testing.T) {
			c := lru.New(10, bytes)
			for step := range strings.SplitSeq(tt.steps, ", ") {
				apply(c, strings.Fields(step))
			}
			if got := stored(c); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func apply(c *lru.Cache[string, string], step []string) {
	switch step[0] {
	case "put":
		c.Put(step[1], step[2])
	case "get":
		c.Get(step[1])
	case "remove":
		c.Remove(step[1])
	case "removevalue":
		c.RemoveFunc(func(_, v string) bool { return v == step[1] })
	case "clear":
		c.Clear()
	}
}

// Entries that would cost nothing count as 1, so that their number has a bound, too.
func TestEntriesThatCostNothingAreBounded(t *testing.T) {
	c := lru.New(10, func(string, string) int64 { return -1 })
	for i := range 100 {
		c.Put(strconv.Itoa(i), "")
	}
	if got := len(strings.Fields(stored(c))); got != 10 {
		t.Errorf("%d entries are stored, want 10", got)
	}
}

func TestACacheIsSafeForConcurrentUse(t *testing.T) {
	c := lru.New(100, bytes)
	var done sync.WaitGroup
	for i := range 8 {
		done.Go(func() {
			for j := range 200 {
				k := strconv.Itoa((i * j) % 20)
				if v, ok := c.Get(k); ok && v != "value "+k {
					t.Errorf("%s has %q", k, v)
				}
				c.Put(k, "value "+k)
				if j%50 == 0 {
					c.RemoveFunc(func(other, _ string) bool { return other == k })
				}
			}
		})
	}
	done.Wait()
}

// A model is the simplest cache there can be: a list of entries, the least recently used one first.
type model struct {
	max     int64
	entries [][2]string
}

func (m *model) at(k string) int {
	return slices.IndexFunc(m.entries, func(e [2]string) bool { return e[0] == k })
}

func (m *model) remove(k string) {
	m.entries = slices.DeleteFunc(m.entries, func(e [2]string) bool { return e[0] == k })
}

func (m *model) get(k string) {
	if i := m.at(k); i >= 0 {
		e := m.entries[i]
		m.remove(k)
		m.entries = append(m.entries, e)
	}
}

func (m *model) put(k, v string) {
	m.remove(k)
	if bytes(k, v) > m.max {
		return
	}
	m.entries = append(m.entries, [2]string{k, v})
	for m.cost() > m.max {
		m.entries = m.entries[1:]
	}
}

func (m *model) cost() (sum int64) {
	for _, e := range m.entries {
		sum += bytes(e[0], e[1])
	}
	return sum
}

func (m *model) String() string {
	var all []string
	for _, e := range m.entries {
		all = append(all, e[0]+"="+e[1])
	}
	return strings.Join(all, " ")
}

// FuzzCache does the same to a cache and to a model of it, as the input says by two bytes a step.
func FuzzCache(f *testing.F) {
	f.Add(uint8(20), []byte("a0b1c2d3a4e5f6g7a8"))
	f.Add(uint8(3), []byte{0, 1, 4, 200, 8, 2, 1, 0, 3, 3})
	f.Add(uint8(0), []byte{0, 0})
	f.Fuzz(func(t *testing.T, most uint8, steps []byte) {
		c, m := lru.New(int64(most), bytes), &model{max: int64(most)}
		for ; len(steps) >= 2; steps = steps[2:] {
			k, v := string('a'+steps[0]>>2%16), strings.Repeat("v", int(steps[1]%32))
			switch steps[0] % 4 {
			case 0, 1:
				c.Put(k, v)
				m.put(k, v)
			case 2:
				_, ok := c.Get(k)
				if want := m.at(k) >= 0; ok != want {
					t.Fatalf("%s is stored: %t, want %t", k, ok, want)
				}
				m.get(k)
			case 3:
				c.RemoveFunc(func(_, stored string) bool { return stored == v })
				m.entries = slices.DeleteFunc(m.entries, func(e [2]string) bool { return e[1] == v })
			}
			if got, want := stored(c), m.String(); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
	})
}

func BenchmarkGet(b *testing.B) {
	c := lru.New(1<<20, bytes)
	for i := range 1000 {
		c.Put(strconv.Itoa(i), "value")
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Get("500")
	}
}
