package pathpattern

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
)

func compileAll(t testing.TB, texts ...string) (list []*Pattern) {
	t.Helper()
	for _, text := range texts {
		p, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// A Set matches what any of its patterns does.
func TestSet(t *testing.T) {
	patterns := []string{
		"notes://**", "notes://drafts", "a://x/", "a://x/y", "b://*", "b://*/x/**", "b://**/z", "b://q/*", "c://d**", "c://da**", "c://e***", "f://", "/",
	}
	texts := []string{
		"", "/", "//", "a", "notes:", "notes://", "notes://a/b", "a://x", "a://x/", "a://x/y/z", "a://xy", "a://", "b://", "b://1", "b://1/x", "b://1/x/2",
		"b://1/2/z", "b://q/7", "b://q/7/8", "c://d", "c://dab", "c://c", "c://e", "c://e/f", "f:", "f:/", "f://", "f://g", "f:///g", "z",
	}
	for n := range 1 << len(patterns) {
		if bits.OnesCount(uint(n)) > 3 && n&(n+1) != 0 {
			continue // a few together, and the first ones together
		}
		var some []string
		for i, p := range patterns {
			if n&(1<<i) != 0 {
				some = append(some, p)
			}
		}
		list := compileAll(t, some...)
		s := NewSet(list)
		for _, text := range texts {
			want := slices.ContainsFunc(list, func(p *Pattern) bool { return p.Match(text) })
			if got := s.Match(text); got != want {
				t.Fatalf("%q of %q: got %v", text, some, got)
			}
			may := slices.ContainsFunc(list, func(p *Pattern) bool { return p.MayMatch(text) })
			if got := s.MayMatch(text); got != may {
				t.Fatalf("%q begins one of %q: got %v", text, some, got)
			}
		}
	}
	if s := NewSet(nil); !s.IsEmpty() || s.Match("") || s.MayMatch("") || s.MatchesAll() {
		t.Error("an empty set matches")
	}
	if s := NewSet(compileAll(t, "x", "**")); !s.MatchesAll() || s.IsEmpty() || !s.Match("a") {
		t.Error("** does not match all")
	}
}

// A Set and its patterns, each by itself, always agree.
func FuzzSet(f *testing.F) {
	f.Add("notes://** a://x b://*/c", "notes://a")
	f.Add("a a/ a** a*b", "a/b")
	f.Fuzz(func(t *testing.T, patterns, text string) {
		var list []*Pattern
		for _, one := range strings.Fields(patterns) {
			if p, err := Compile(one); err == nil && len(list) < 20 {
				list = append(list, p)
			}
		}
		want := slices.ContainsFunc(list, func(p *Pattern) bool { return p.Match(text) })
		if got := NewSet(list).Match(text); got != want {
			t.Errorf("%q of %q: got %v, want %v", text, patterns, got, want)
		}
	})
}

func BenchmarkSet(b *testing.B) {
	for _, form := range []string{"notes://team-%d/**", "notes://team-%d", "notes://team-%d/*/x"} {
		for _, n := range []int{1, 1000} {
			var texts []string
			for i := range n {
				texts = append(texts, fmt.Sprintf(form, i))
			}
			s := NewSet(compileAll(b, texts...))
			b.Run(fmt.Sprintf("%s/%d", form[len("notes://team-%d"):], n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Match("notes://team-0/2026/x")
					s.Match("notes://other/2026/x")
				}
			})
		}
	}
}
