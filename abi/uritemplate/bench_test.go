package uritemplate_test

import (
	"strings"
	"testing"
)

func BenchmarkMatch(b *testing.B) {
	benchmarks := []struct {
		name, template, uri string
		match               bool
	}{
		{"simple", "db://users/{user_id}", "db://users/42", true},
		{"path", "file:///{+path}", "file:///home/someone/src/project/README.md", true},
		{"query", "x://search{?q,limit}", "x://search?limit=10&q=web%20assembly", true},
		{"miss", "db://users/{user_id}", "file:///home/someone/src/project/README.md", false},
	}
	for _, bb := range benchmarks {
		b.Run(bb.name, func(b *testing.B) { benchmark(b, bb.template, bb.uri, bb.match) })
	}
}

// BenchmarkMatchHostile is the worst that is known: none may come near 1 ms.
func BenchmarkMatchHostile(b *testing.B) {
	for _, h := range hostile() {
		b.Run(h.name, func(b *testing.B) { benchmark(b, h.template, h.uri, h.match) })
	}
}

// TestMatchHostile makes sure that the hostile cases are what they claim.
func TestMatchHostile(t *testing.T) {
	for _, h := range hostile() {
		if _, ok := mustParse(t, h.template).Match(h.uri); ok != h.match {
			t.Errorf("%s: got match %v, want %v", h.name, ok, h.match)
		}
	}
}

type hostileCase struct {
	name, template, uri string
	match               bool
}

func hostile() []hostileCase {
	const size = 8192
	as := strings.Repeat("a", size-1)
	return []hostileCase{
		{"adjacent", repeat("{+v#}", 32), as + "!", true},
		{"adjacent without a match", repeat("{v#}", 32), as + "!", false},
		{"literals", repeat("{+v#}a", 31), as + "!", false},
		{"long literals", repeat("{+v#}"+strings.Repeat("a", 50), 31) + "{z}", as + "!", false},
		{"prefixes", repeat("{v#:8190}", 32), as + "a", true},
		{"prefixes of two", repeat("{+v#:8190,w#:8189}", 32), as + "a", true},
		{"lists", repeat("{+v#*,w#*}", 32), strings.Repeat(",", size), false},
		{"path lists", repeat("{/v#*}", 32), strings.Repeat("/", size), false},
		{"labels", repeat("{.v#,w#}", 32), strings.Repeat(".a", 64), true},
		{"queries", repeat("{&v#*}", 32), strings.Repeat("&v1=", size/4), false},
		{"parameters", "{;a" + repeat(",v#", 63) + "}", strings.Repeat(";a", size/2), false},
		{"parameters after a path", "{+p}{;a*" + repeat(",v#*", 62) + "}", strings.Repeat(";a", size/2), false},
		{"ampersands", repeat("{&v#*}", 32), strings.Repeat("&", size), false},
		{"escapes", repeat("{v#}", 32), strings.Repeat("%F0%9F%98%80", size/12), true},
	}
}

func benchmark(b *testing.B, template, uri string, match bool) {
	t := mustParse(b, template)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := t.Match(uri); ok != match {
			b.Fatalf("got match %v, want %v", ok, match)
		}
	}
}
