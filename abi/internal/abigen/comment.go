package main

import (
	"bytes"
	"regexp"
	"strings"
)

// writeComment breaks text into lines that start with mark and have at most width bytes.
func writeComment(b *bytes.Buffer, mark, text string, width int) {
	line := mark
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = mark
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

var word = regexp.MustCompile(`\w+`)

// renamed returns groups with every constant called what rename makes of its name, in comments too.
func renamed(groups []group, rename func(string) string) []group {
	names := map[string]string{}
	for _, g := range groups {
		for _, c := range g.constants {
			names[c.name] = rename(c.name)
		}
	}
	inText := func(text string) string {
		return word.ReplaceAllStringFunc(text, func(w string) string {
			if name, ok := names[w]; ok {
				return name
			}
			return w
		})
	}
	out := make([]group, len(groups))
	for i, g := range groups {
		out[i].doc = inText(g.doc)
		for _, c := range g.constants {
			out[i].constants = append(out[i].constants, constantOf{
				name: names[c.name], value: c.value, doc: inText(c.doc), comment: inText(c.comment),
			})
		}
	}
	return out
}

var (
	wordEnd    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	acronymEnd = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
)

// screamingSnake writes ServiceKVGet as SERVICE_KV_GET.
func screamingSnake(name string) string {
	name = wordEnd.ReplaceAllString(name, "${1}_$2")
	return strings.ToUpper(acronymEnd.ReplaceAllString(name, "${1}_$2"))
}

// docOf is what a language that documents each constant by itself says of c: the sentence before it or the words beside
// it or, when it is the only one of g, also the group's own words.
func docOf(g group, c constantOf) string {
	switch {
	case len(g.constants) > 1 && c.doc != "":
		return c.doc
	case len(g.constants) > 1 || g.doc == "":
		return c.comment
	case c.comment == "":
		return g.doc
	}
	return strings.TrimSuffix(g.doc, ".") + ": " + c.comment + "."
}
