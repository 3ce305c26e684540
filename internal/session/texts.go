package session

import (
	"errors"
)

// A mapObjects gives a copy of an answer in which f has replaced each object that may hold a text.
type mapObjects func(v *value, f func(*value) *value) *value

// mapContents replaces the contents of a read.
func mapContents(v *value, f func(*value) *value) *value {
	contents := v.get("contents")
	if contents == nil || contents.kind != kindArray {
		return v
	}
	items := make([]*value, len(contents.members))
	for i, m := range contents.members {
		items[i] = m.value
		if m.value.kind == kindObject {
			items[i] = f(m.value)
		}
	}
	return v.with("contents", array(items))
}

// mapSelf replaces the answer of a host service, which is one object.
func mapSelf(v *value, f func(*value) *value) *value { return f(v) }

// extractTexts takes those texts out of v that JSON could not write as they are.
func extractTexts(v *value, each mapObjects) (head *value, texts []string) {
	head = each(v, func(holder *value) *value {
		t := holder.get("text")
		if t == nil || t.kind != kindString || inline(t.text) || holder.get("blob") != nil {
			return holder
		}
		texts = append(texts, t.text)
		return holder.with("text", nil)
	})
	return head, texts
}

// insertTexts puts texts back where neither a text nor a blob is. With all, none of these places may stay empty.
func insertTexts(v *value, texts []string, each mapObjects, all bool) (*value, error) {
	missing := false
	v = each(v, func(holder *value) *value {
		switch {
		case holder.get("text") != nil || holder.get("blob") != nil:
			return holder
		case len(texts) == 0:
			missing = true
			return holder
		}
		first := texts[0]
		texts = texts[1:]
		return holder.with("text", text(first))
	})
	switch {
	case missing && all:
		return nil, errTextMissing
	case len(texts) > 0:
		return nil, errTextTooMany
	}
	return v, nil
}

// appendParts appends what extractTexts has made.
func appendParts(b []byte, head *value, texts []string) []byte {
	b = append(head.append(b, ""), '\n')
	for _, t := range texts {
		b = append(b, "-- text --\n"...)
		b = appendText(b, t)
	}
	return b
}

var (
	errTextMissing = errors.New("a content has neither text nor blob, and no text section is left for it")
	errTextTooMany = errors.New("there is a text section too many: one belongs to each content without text and blob")
)
