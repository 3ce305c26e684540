package abi

import (
	"math"
	"slices"
)

func (r *Resource) append(b []byte) []byte {
	b = putString(b, 1, r.URI)
	b = putString(b, 2, r.Name)
	b = putString(b, 3, r.Title)
	b = putString(b, 4, r.Description)
	b = putString(b, 5, r.MIMEType)
	b = putUint(b, 6, r.Size)
	b = putPriority(b, r.Priority)
	b = putString(b, 8, r.LastModified)
	b = putUint(b, 9, uint64(r.Audience))
	for i := range r.Icons {
		b = putMessage(b, 10, r.Icons[i].append)
	}
	return putString(b, 11, r.Meta)
}

// minEntry is a low estimate of the size of a list's entry, in bytes.
const minEntry = 64

// addResource makes room for as many entries of this one's size as the rest of the message can hold. Allocation is at
// most 2.5 bytes for each byte of the message, however small the entries are.
func addResource(list *[]Resource, limit int, f *field) error {
	if n := len(*list); n == cap(*list) && n < limit {
		*list = slices.Grow(*list, min(f.text.left/max(len(f.data), minEntry)+1, limit-n))
	}
	r, err := grow(list, "resources", limit)
	if err != nil {
		return err
	}
	r.Priority = math.NaN()
	return f.message(r.set)
}

func (r *Resource) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&r.URI)
	case 2:
		return f.string(&r.Name)
	case 3:
		return f.string(&r.Title)
	case 4:
		return f.string(&r.Description)
	case 5:
		return f.string(&r.MIMEType)
	case 6:
		return f.uint64(&r.Size)
	case 7:
		return f.float64(&r.Priority)
	case 8:
		return f.string(&r.LastModified)
	case 9:
		return f.uint32((*uint32)(&r.Audience))
	case 10:
		return addIcon(&r.Icons, f)
	case 11:
		return f.string(&r.Meta)
	}
	return nil
}

func (t *Template) append(b []byte) []byte {
	b = putString(b, 1, t.URITemplate)
	b = putString(b, 2, t.Name)
	b = putString(b, 3, t.Title)
	b = putString(b, 4, t.Description)
	b = putString(b, 5, t.MIMEType)
	b = putPriority(b, t.Priority)
	b = putUint(b, 9, uint64(t.Audience))
	for i := range t.Icons {
		b = putMessage(b, 10, t.Icons[i].append)
	}
	b = putString(b, 11, t.Meta)
	b = putStrings(b, 12, t.Completes)
	b = putBool(b, 13, t.Ranges)
	b = putUint(b, 14, t.TTLMillis)
	return putUint(b, 15, uint64(t.CacheScope))
}

func addTemplate(list *[]Template, limit int, f *field) error {
	t, err := grow(list, "templates", limit)
	if err != nil {
		return err
	}
	t.Priority = math.NaN()
	return f.message(t.set)
}

func (t *Template) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&t.URITemplate)
	case 2:
		return f.string(&t.Name)
	case 3:
		return f.string(&t.Title)
	case 4:
		return f.string(&t.Description)
	case 5:
		return f.string(&t.MIMEType)
	case 7:
		return f.float64(&t.Priority)
	case 9:
		return f.uint32((*uint32)(&t.Audience))
	case 10:
		return addIcon(&t.Icons, f)
	case 11:
		return f.string(&t.Meta)
	case 12:
		return f.strings(&t.Completes, "completed variables", maxCompletes)
	case 13:
		return f.bool(&t.Ranges)
	case 14:
		return f.uint64(&t.TTLMillis)
	case 15:
		return f.uint32((*uint32)(&t.CacheScope))
	}
	return nil
}

func (i *Icon) append(b []byte) []byte {
	b = putString(b, 1, i.Source)
	b = putString(b, 2, i.MIMEType)
	b = putStrings(b, 3, i.Sizes)
	return putString(b, 4, i.Theme)
}

func addIcon(icons *[]Icon, f *field) error {
	i, err := grow(icons, "icons", maxIcons)
	if err != nil {
		return err
	}
	return f.message(i.set)
}

func (i *Icon) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&i.Source)
	case 2:
		return f.string(&i.MIMEType)
	case 3:
		return f.strings(&i.Sizes, "icon sizes", maxIconSizes)
	case 4:
		return f.string(&i.Theme)
	}
	return nil
}
