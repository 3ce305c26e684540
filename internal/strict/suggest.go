package strict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Word returns s if it is one of known. Otherwise the error says that there is no what of this name, and suggests one.
func Word(what, s string, known []string) (string, error) {
	if slices.Contains(known, s) {
		return s, nil
	}
	return "", fmt.Errorf("there is no %s %q: %s", what, Clip(s), Suggest(s, known))
}

// Suggest names the known word that typed is probably a misspelling of, or all known words.
func Suggest(typed string, known []string) string {
	if near := Nearest(typed, known); near != "" {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	return "it is one of " + strings.Join(known, ", ")
}

// Nearest returns the known word that is most like typed; empty when none is like it.
func Nearest(typed string, known []string) string {
	best, at := "", max(1, min(len(typed), maxTyped)/3)
	for _, k := range known {
		if d := distance(strings.ToLower(typed), strings.ToLower(k)); d <= at && (best == "" || d < at) {
			best, at = k, d
		}
	}
	return best
}

// maxTyped bounds the length of words that are compared, in bytes.
const maxTyped = 64

// distance counts the letters to insert, remove, change or swap with the next to turn a into b.
func distance(a, b string) int {
	if len(a) > maxTyped {
		return len(a)
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Clip shortens an untrusted text for a message.
func Clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
