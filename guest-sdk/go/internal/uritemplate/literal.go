// Code generated from abi/uritemplate by go generate ./guest-sdk. DO NOT EDIT.

package uritemplate

import "unicode/utf8"

// A literal is text between expressions, in normal form.
type literal struct {
	text   []symbol
	border []int // longest proper prefix of text[:i+1] that is a suffix of it too
}

func newLiteral(source string) literal {
	l := literal{text: symbols(source)}
	l.border = make([]int, len(l.text))
	for i, k := 1, 0; i < len(l.text); i++ {
		for k > 0 && l.text[k] != l.text[i] {
			k = l.border[k-1]
		}
		if l.text[k] == l.text[i] {
			k++
		}
		l.border[i] = k
	}
	return l
}

// advance adds to the set to every position at which l ends in text, having
// begun at a member of from (Knuth-Morris-Pratt).
func (l *literal) advance(text []symbol, from, to bitset) {
	begin := from.next(0)
	if begin < 0 {
		return
	}
	k := 0
	for i := begin; i < len(text); i++ {
		for k > 0 && l.text[k] != text[i] {
			k = l.border[k-1]
		}
		if l.text[k] == text[i] {
			k++
		}
		if k < len(l.text) {
			continue
		}
		if from.has(i + 1 - k) {
			to.set(i + 1)
		}
		k = l.border[k-1]
	}
}

// begins reports whether text begins with l.
func (l *literal) begins(text []symbol) bool {
	if len(text) < len(l.text) {
		return false
	}
	for i, s := range l.text {
		if s != text[i] {
			return false
		}
	}
	return true
}

// head returns the plain ASCII that text begins with.
func head(text []symbol) string {
	var b []byte
	for _, s := range text {
		if s >= utf8.RuneSelf {
			break
		}
		b = append(b, byte(s))
	}
	return string(b)
}

// hasHead reports whether uri may begin with head; it does not look beyond an
// escape, which may stand for anything.
func hasHead(uri, head string) bool {
	for i := range len(head) {
		if i == len(uri) {
			return false
		}
		if uri[i] == '%' {
			return true
		}
		if uri[i] != head[i] {
			return false
		}
	}
	return true
}
