package abi

import "unsafe"

// Weight returns how many bytes of memory r takes, roughly. Shared strings count in full.
func (r *Resource) Weight() int {
	return 2*int(unsafe.Sizeof(*r)) + len(r.URI) + len(r.Name) + len(r.Title) + len(r.Description) + len(r.MIMEType) +
		len(r.LastModified) + len(r.Meta) + weightOf(r.Icons)
}

// Weight returns how many bytes of memory t takes, roughly. Shared strings count in full.
func (t *Template) Weight() int {
	return 2*int(unsafe.Sizeof(*t)) + len(t.URITemplate) + len(t.Name) + len(t.Title) + len(t.Description) + len(t.MIMEType) +
		len(t.Meta) + weightOf(t.Icons)
}

func weightOf(icons []Icon) (n int) {
	for i := range icons {
		c := &icons[i]
		n += 2*int(unsafe.Sizeof(*c)) + len(c.Source) + len(c.MIMEType) + len(c.Theme)
		for _, size := range c.Sizes {
			n += 2*int(unsafe.Sizeof(size)) + len(size)
		}
	}
	return n
}
