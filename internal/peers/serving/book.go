package main

import (
	"encoding/json"
	"os"
	"slices"
)

// A book holds what was measured.
type book struct {
	samples map[[2]string][]sample // by workload and target
	out     *os.File               // nil when nothing is kept
}

// openBook appends to that file as well, unless its name is empty.
func openBook(file string) (b *book, err error) {
	b = &book{samples: make(map[[2]string][]sample)}
	if file != "" {
		b.out, err = os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	}
	return b, err
}

func (b *book) close() {
	if b.out != nil {
		_ = b.out.Close()
	}
}

func (b *book) add(w workload, t target, round int, s sample) {
	key := [2]string{w.name, t.name}
	b.samples[key] = append(b.samples[key], s)
	if b.out == nil {
		return
	}
	_ = json.NewEncoder(b.out).Encode(struct {
		Workload, Target string
		Round            int
		Sample           sample
	}{w.name, t.name, round, s})
}

// median gives the middle of the rounds' figures; ok is false when there are none.
func (b *book) median(w workload, t target, m metric) (value float64, ok bool) {
	var all []float64
	for _, s := range b.samples[[2]string{w.name, t.name}] {
		if v, has := s[m.key]; has {
			all = append(all, v)
		}
	}
	return middle(all), len(all) > 0
}

// middle gives the median; 0 of nothing.
func middle(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
