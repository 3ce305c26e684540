package peers_test

import (
	"fmt"
	"testing"
)

// TestAllAnswerTheSame makes the comparison honest: the same bytes everywhere, and what is called clean is.
func TestAllAnswerTheSame(t *testing.T) {
	for _, g := range guests {
		for _, h := range hosts {
			t.Run(g.name+"/"+h.name, func(t *testing.T) {
				ask := h.open(t, g)
				checkAnswer(t, h, ask, text, "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore!")
				checkAnswer(t, h, ask, format, `resource "format://guests/one", whose name has 19 bytes: Lorem ipsum dolor sit amet, consectetur adipisci`)
				checkAnswer(t, h, ask, lookup, g.end())
				checkVisits(t, h, ask)
			})
		}
	}
}

// end is what guests are to say about their document.
func (g guest) end() string {
	if g.kib == 0 {
		return "0"
	}
	return "1048576vefrcjpgjtslchkrqtqtjhaowhiptaxe"
}

func checkAnswer(t *testing.T, h host, ask asked, uri []byte, want string) {
	t.Helper()
	if got := h.text(t, ask, uri); got != want {
		t.Errorf("%s: got %q, want %q", uri, got, want)
	}
}

// checkVisits asks twice how many requests the instance has seen.
func checkVisits(t *testing.T, h host, ask asked) {
	t.Helper()
	first, second := h.text(t, ask, visits), h.text(t, ask, visits)
	if h.clean {
		if want := "visit 1"; first != want || second != want {
			t.Errorf("got %q and %q, want %q: it is not clean", first, second, want)
		}
		return
	}
	var before, after int
	_, _ = fmt.Sscanf(first, "visit %d", &before)
	_, _ = fmt.Sscanf(second, "visit %d", &after)
	if before < 1 || after != before+1 {
		t.Errorf("got %q and %q, want numbers that follow each other", first, second)
	}
}

func (h host) text(t *testing.T, ask asked, uri []byte) string {
	t.Helper()
	got, err := ask(uri)
	check(t, err)
	if h.decode != nil {
		got = h.decode(t, got)
	}
	return string(got)
}
