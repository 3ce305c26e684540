package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Format gives p as the text of a policy file, the same for the same policy. [Parse] makes p of it again.
func (p *Policy) Format() []byte {
	var w writer
	w.fields(policyForm.write(*p.canonical()).(fields), 0)
	return []byte(w.String())
}

// canonical gives p with what has no order in one.
func (p *Policy) canonical() *Policy {
	c := p.clone()
	slices.SortFunc(c.Storage, func(a, b Storage) int {
		return cmp.Or(strings.Compare(a.Guest, b.Guest), strings.Compare(a.Host, b.Host))
	})
	for i := range c.Network {
		n := &c.Network[i]
		slices.Sort(n.Schemes)
		slices.Sort(n.Ports)
		slices.Sort(n.Methods)
		slices.Sort(n.Paths)
		slices.Sort(n.Secrets)
	}
	slices.SortFunc(c.Network, func(a, b Network) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	slices.Sort(c.Environment)
	slices.SortFunc(c.Secrets, func(a, b Secret) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(c.SQL, func(a, b SQL) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// A writer writes YAML in block style, lists of single words in brackets.
type writer struct{ strings.Builder }

func (w *writer) fields(f fields, indent int) {
	for _, one := range f {
		fmt.Fprintf(w, "%s%s:", strings.Repeat("  ", indent), quoted(one.name))
		w.value(one.value, indent)
	}
}

// value writes what stands behind a key, with the end of the line.
func (w *writer) value(v any, indent int) {
	switch v := v.(type) {
	case fields:
		if len(v) == 0 {
			fmt.Fprintln(w, " {}")
			return
		}
		fmt.Fprintln(w)
		w.fields(v, indent+1)
	case []any:
		if inline(v) {
			fmt.Fprintf(w, " [%s]\n", strings.Join(wordsOf(v), ", "))
			return
		}
		fmt.Fprintln(w)
		for _, item := range v {
			w.item(item.(fields), indent+1)
		}
	default:
		fmt.Fprintf(w, " %s\n", wordOf(v))
	}
}

// item writes an entry of a list, whose first key stands behind the dash.
func (w *writer) item(f fields, indent int) {
	var inner writer
	inner.fields(f, indent+1)
	lead := strings.Repeat("  ", indent)
	fmt.Fprintf(w, "%s- %s", lead, strings.TrimPrefix(inner.String(), lead+"  "))
}

func inline(v []any) bool {
	return !slices.ContainsFunc(v, func(item any) bool { _, deep := item.(fields); return deep })
}

func wordsOf(v []any) []string {
	words := make([]string, len(v))
	for i := range v {
		words[i] = wordOf(v[i])
	}
	return words
}

func wordOf(v any) string {
	if s, ok := v.(string); ok {
		return quoted(s)
	}
	return fmt.Sprint(v)
}

// quoted gives a text as it stands, when YAML takes it for the text it is, and otherwise in quotes.
func quoted(s string) string {
	plain := func(r rune) bool { return word(r) || r == '-' || r == '.' || r == '/' }
	first := s != "" && (word(rune(s[0])) && (s[0] < '0' || s[0] > '9') || s[0] == '/')
	if first && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) && !reserved(s) {
		return s
	}
	return strconv.Quote(s)
}

// reserved reports whether YAML takes a word for something else, in some version of it.
func reserved(s string) bool {
	return slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s))
}
