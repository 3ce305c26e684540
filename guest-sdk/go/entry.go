package wasmres

import (
	"strings"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// An Entry is one resource of a list. URI is required; everything else may be left out.
type Entry struct {
	URI          string
	Name         string // short; empty for the last part of the URI
	Title        string // what people see
	Description  string
	MIME         string
	Size         int64     // bytes; 0 when unknown
	Priority     float64   // 0..1; 0 for none
	LastModified time.Time // zero when unknown
	Audience     Audience  // zero for anybody
	Icons        []Icon
	Meta         string // JSON object; empty for none

	least bool // Priority 0 is meant
}

// An Audience is a set of those a resource is meant for, as in User|Assistant.
type Audience uint32

// Members of an Audience.
const (
	User      Audience = audienceUser
	Assistant Audience = audienceAssistant
)

// An Icon is a picture a client may show beside a resource.
type Icon struct {
	Source string   // https: or data:image/
	MIME   string   // empty when unknown
	Sizes  []string // as in "48x48" or "any"
	Theme  string   // "light", "dark" or empty
}

func (e *Entry) append(b []byte, num uint32) []byte {
	b, at := wire.Begin(b, num)
	b = wire.AppendString(b, 1, e.URI)
	b = wire.AppendString(b, 2, nameOf(e.Name, e.URI))
	b = wire.AppendString(b, 3, e.Title)
	b = wire.AppendString(b, 4, e.Description)
	b = wire.AppendString(b, 5, e.MIME)
	b = wire.AppendUint(b, 6, size(e.Size))
	b = e.appendPriority(b)
	b = wire.AppendString(b, 8, stamp(e.LastModified))
	b = wire.AppendUint(b, 9, uint64(e.Audience))
	for i := range e.Icons {
		b = e.Icons[i].append(b)
	}
	b = wire.AppendString(b, 11, e.Meta)
	return wire.End(b, at)
}

func (e *Entry) appendPriority(b []byte) []byte {
	if e.Priority == 0 && !e.least {
		return b
	}
	return wire.AppendFixed(b, 7, e.Priority)
}

func (i *Icon) append(b []byte) []byte {
	b, at := wire.Begin(b, 10)
	b = wire.AppendString(b, 1, i.Source)
	b = wire.AppendString(b, 2, i.MIME)
	for _, s := range i.Sizes {
		b = wire.AppendElement(b, 3, s)
	}
	b = wire.AppendString(b, 4, i.Theme)
	return wire.End(b, at)
}

// nameOf gives the name of a resource that has none of its own: the last part of its URI.
func nameOf(name, uri string) string {
	if name != "" {
		return name
	}
	if i := strings.LastIndexByte(uri, '/'); i >= 0 && i+1 < len(uri) {
		return uri[i+1:]
	}
	return uri
}

// size gives n as a count; negative is unknown.
func size(n int64) uint64 {
	if n < 0 {
		return 0
	}
	return uint64(n)
}

// stamp gives t as RFC 3339, or nothing when it is zero.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
