package mcp

import (
	"math"
	"strconv"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/textenc"
)

// maxInteger is the greatest integer that every JSON parser represents exactly.
const maxInteger = 1<<53 - 1

// appendMember appends a string member after another member; an empty one is left out. name needs no escapes.
func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return textenc.AppendString(b, value)
}

func (f *typeFilter) appendResource(b []byte, r *abi.Resource, links bool) []byte {
	b = append(b, `{"uri":`...)
	b = textenc.AppendString(b, abi.NormalURI(r.URI))
	b = appendDescription(b, r.Name, r.Title, r.Description)
	b = f.appendType(b, r.MIMEType, r.URI)
	if 0 < r.Size && r.Size <= maxInteger {
		b = append(b, `,"size":`...)
		b = strconv.AppendUint(b, r.Size, 10)
	}
	b = f.appendIcons(b, r.Icons, r.URI)
	b = appendAnnotations(b, r.Audience, r.Priority, r.LastModified)
	b = appendResourceMeta(b, r, links)
	return append(b, '}')
}

func (f *typeFilter) appendTemplate(b []byte, t *abi.Template) []byte {
	b = append(b, `{"uriTemplate":`...)
	b = textenc.AppendString(b, abi.NormalURI(t.URITemplate))
	b = appendDescription(b, t.Name, t.Title, t.Description)
	b = f.appendType(b, t.MIMEType, t.URITemplate)
	b = f.appendIcons(b, t.Icons, t.URITemplate)
	b = appendAnnotations(b, t.Audience, t.Priority, "")
	b = appendMeta(b, t.Meta, "", "", "")
	return append(b, '}')
}

func appendDescription(b []byte, name, title, description string) []byte {
	b = append(b, `,"name":`...)
	b = textenc.AppendString(b, name)
	b = appendMember(b, "title", title)
	return appendMember(b, "description", description)
}

// appendIcons appends the member icons of a resource or a template, which where names, if there are any.
func (f *typeFilter) appendIcons(b []byte, icons []abi.Icon, where string) []byte {
	if len(icons) == 0 {
		return b
	}
	b = append(b, `,"icons":[`...)
	for i := range icons {
		b = comma(b, i)
		b = append(b, `{"src":`...)
		b = textenc.AppendString(b, icons[i].Source)
		b = f.appendType(b, icons[i].MIMEType, where)
		if len(icons[i].Sizes) > 0 {
			b = append(b, `,"sizes":`...)
			b = appendStrings(b, icons[i].Sizes)
		}
		b = appendMember(b, "theme", icons[i].Theme)
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendAnnotations appends the member annotations, if there are any. A priority outside of 0..1, or NaN, is left out.
func appendAnnotations(b []byte, audience abi.Audience, priority float64, lastModified string) []byte {
	begin := len(b)
	switch audience & (abi.AudienceUser | abi.AudienceAssistant) {
	case abi.AudienceUser:
		b = append(b, `,"audience":["user"]`...)
	case abi.AudienceAssistant:
		b = append(b, `,"audience":["assistant"]`...)
	case abi.AudienceUser | abi.AudienceAssistant:
		b = append(b, `,"audience":["user","assistant"]`...)
	}
	if 0 <= priority && priority <= 1 {
		b = append(b, `,"priority":`...)
		b = appendFloat(b, priority)
	}
	b = appendMember(b, "lastModified", lastModified)
	if len(b) == begin {
		return b
	}
	members := string(b[begin+1:])
	b = append(b[:begin], `,"annotations":{`...)
	b = append(b, members...)
	return append(b, '}')
}

// appendMeta appends the member _meta: that of the guest without reserved keys, and the host's own keys. uri is for what has
// no member of its own for that; empty for none.
func appendMeta(b []byte, guest, etag, lastModified, uri string) []byte {
	guest = abi.WithoutReservedMeta(guest)
	if guest == "" && etag == "" && lastModified == "" && uri == "" {
		return b
	}
	b = append(b, `,"_meta":`...)
	begin := len(b)
	b = append(b, '{')
	if guest != "" {
		b = appendCompact(b[:begin], guest)
		b = b[:len(b)-1]
	}
	own := len(b)
	b = appendMember(b, "io.github.wasmres/etag", etag)
	b = appendMember(b, "io.github.wasmres/lastModified", lastModified)
	b = appendMember(b, "io.github.wasmres/uri", uri)
	if own == begin+1 && len(b) > own { // no comma before the first
		b = append(b[:own], b[own+1:]...)
	}
	return append(b, '}')
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		b = comma(b, i)
		b = textenc.AppendString(b, s)
	}
	return append(b, ']')
}

// appendFloat appends a finite number.
func appendFloat(b []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}

// comma separates item i from the one before it.
func comma(b []byte, i int) []byte {
	if i == 0 {
		return b
	}
	return append(b, ',')
}
