package wasmrestest

import (
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// A reply is everything a provider emitted in one call.
type reply struct {
	entries     []Entry
	contents    []Content
	next        string
	err         wasmres.Error
	completions []string
	total       int
	more        bool
	manifest    Manifest
	ttl         time.Duration
	public      bool
	every       time.Duration
	progress    []Progress
	counted     int64 // inline bytes already accounted for
}

// A Content is one piece of what a read answered.
type Content struct {
	URI          string
	MIME         string
	Text         bool // else it is binary
	Data         []byte
	ETag         string
	LastModified string // RFC 3339
	Meta         string
	NotModified  bool
	RangeOf      uint64 // bytes of the whole when this is a range

	inline int
}

// Progress is one report on a running read.
type Progress struct {
	Done, Total float64
	Message     string
}

// An Entry is one listed resource or template.
type Entry struct {
	URI          string // of a template: its text
	Name         string
	Title        string
	Description  string
	MIME         string
	Size         uint64
	Priority     float64
	LastModified string
	Audience     wasmres.Audience
	Icons        []wasmres.Icon
	Meta         string
	Completes    []string // variables the provider completes
	Ranges       bool
	TTL          time.Duration
	Public       bool
}

// A Manifest is what a provider says of itself.
type Manifest struct {
	Name, Version      string
	Title, Description string
	Templates          []Entry
	Resources          []Entry
	Ops                uint32 // bit n is set when operation n is implemented
	Capabilities       []Capability
	Prefixes           []string
	SDK                string
	ConfigSchema       string
}

// A Capability is a power a provider asks for.
type Capability struct {
	Name, Params, Reason string
	Optional             bool
}

// each calls set for every field of s and reports whether all went well.
func each(s string, set func(wire.Field) bool) bool {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok || !set(f) {
			return false
		}
		s = rest
	}
	return true
}

// merge adds one frame.
func (r *reply) merge(frame string) bool {
	r.counted = 0
	for _, c := range r.contents {
		r.counted += int64(c.inline)
	}
	return each(frame, r.set)
}

func (r *reply) set(f wire.Field) bool {
	switch f.Num {
	case 1:
		return add(&r.entries, f, (*Entry).set)
	case 3:
		return add(&r.contents, f, (*Content).set)
	case 4:
		r.next = f.Text
	case 5:
		return each(f.Text, func(f wire.Field) bool { return setError(&r.err, f) })
	case 6:
		r.completions = append(r.completions, f.Text)
	case 7:
		r.total = int(f.Bits)
	case 8:
		r.more = f.Bits != 0
	case 9:
		return each(f.Text, r.manifest.set)
	case 10:
		r.ttl = time.Duration(f.Bits) * time.Millisecond
	case 11:
		r.public = f.Bits == cachePublic
	case 14:
		r.every = time.Duration(f.Bits) * time.Millisecond
	case 15:
		return add(&r.progress, f, (*Progress).set)
	}
	return true
}

// add appends an embedded message to list.
func add[T any](list *[]T, f wire.Field, set func(*T, wire.Field) bool) bool {
	var item T
	ok := f.Type == wire.Bytes && each(f.Text, func(f wire.Field) bool { return set(&item, f) })
	*list = append(*list, item)
	return ok
}

func setError(e *wasmres.Error, f wire.Field) bool {
	switch f.Num {
	case 1:
		e.Message = f.Text
	case 2:
		e.Data = f.Text
	case 3:
		e.RetryAfter = time.Duration(f.Bits) * time.Millisecond
	}
	return true
}

func (c *Content) set(f wire.Field) bool {
	switch f.Num {
	case 1:
		c.URI = f.Text
	case 2:
		c.MIME = f.Text
	case 3, 4:
		c.Text, c.Data, c.inline = f.Num == 3, []byte(f.Text), len(f.Text)
	case 5:
		c.Text = f.Bits == kindText
		return f.Bits == kindText || f.Bits == kindBlob
	case 7:
		c.ETag = f.Text
	case 8:
		c.LastModified = f.Text
	case 9:
		c.Meta = f.Text
	case 10:
		c.NotModified = f.Bits != 0
	case 11:
		c.RangeOf = f.Bits
	}
	return true
}

func (p *Progress) set(f wire.Field) bool {
	switch f.Num {
	case 1:
		p.Done = f.Float()
	case 2:
		p.Total = f.Float()
	case 3:
		p.Message = f.Text
	}
	return true
}

// set reads a resource or a template: the numbers of their fields do not collide.
func (e *Entry) set(f wire.Field) bool {
	switch f.Num {
	case 1:
		e.URI = f.Text
	case 2:
		e.Name = f.Text
	case 3:
		e.Title = f.Text
	case 4:
		e.Description = f.Text
	case 5:
		e.MIME = f.Text
	case 6:
		e.Size = f.Bits
	case 7:
		e.Priority = f.Float()
	case 8:
		e.LastModified = f.Text
	case 9:
		e.Audience = wasmres.Audience(f.Bits)
	case 10:
		return add(&e.Icons, f, setIcon)
	case 11:
		e.Meta = f.Text
	case 12:
		e.Completes = append(e.Completes, f.Text)
	case 13:
		e.Ranges = f.Bits != 0
	case 14:
		e.TTL = time.Duration(f.Bits) * time.Millisecond
	case 15:
		e.Public = f.Bits == cachePublic
	}
	return true
}

func setIcon(i *wasmres.Icon, f wire.Field) bool {
	switch f.Num {
	case 1:
		i.Source = f.Text
	case 2:
		i.MIME = f.Text
	case 3:
		i.Sizes = append(i.Sizes, f.Text)
	case 4:
		i.Theme = f.Text
	}
	return true
}

func (m *Manifest) set(f wire.Field) bool {
	switch f.Num {
	case 2:
		m.Name = f.Text
	case 3:
		m.Version = f.Text
	case 4:
		m.Title = f.Text
	case 5:
		m.Description = f.Text
	case 6:
		return add(&m.Templates, f, (*Entry).set)
	case 7:
		return add(&m.Resources, f, (*Entry).set)
	case 8:
		m.Ops = uint32(f.Bits)
	case 9:
		return add(&m.Capabilities, f, (*Capability).set)
	case 11:
		m.Prefixes = append(m.Prefixes, f.Text)
	case 12:
		m.SDK = f.Text
	case 13:
		m.ConfigSchema = f.Text
	}
	return true
}

func (c *Capability) set(f wire.Field) bool {
	switch f.Num {
	case 1:
		c.Name = f.Text
	case 2:
		c.Params = f.Text
	case 3:
		c.Optional = f.Bits != 0
	case 4:
		c.Reason = f.Text
	}
	return true
}
