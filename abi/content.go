package abi

// Append appends c as a field of a frame to b. A non-nil Inline is written, even if it is empty. A nil Inline of a kind
// other than [KindNone] means that the bytes follow through body.
func (c *Content) Append(b []byte) []byte { return putMessage(b, 3, c.append) }

func (c *Content) append(b []byte) []byte {
	b = putString(b, 1, c.URI)
	b = putString(b, 2, c.MIMEType)
	switch {
	case c.Kind == KindText && c.Inline != nil:
		b = putBytes(b, 3, c.Inline)
	case c.Kind == KindBlob && c.Inline != nil:
		b = putBytes(b, 4, c.Inline)
	default:
		b = putUint(b, 5, uint64(c.Kind))
	}
	b = putUint(b, 6, c.Size)
	b = putString(b, 7, c.ETag)
	b = putString(b, 8, c.LastModified)
	b = putString(b, 9, c.Meta)
	b = putBool(b, 10, c.NotModified)
	return putUint(b, 11, c.RangeTotal)
}

// A contentDecoder fills a Content from fields in any order.
type contentDecoder struct {
	*Content      // until settle, Kind is that of Inline
	declared Kind // field kind
}

func (d *contentDecoder) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&d.URI)
	case 2:
		return f.string(&d.MIMEType)
	case 3:
		return d.setInline(KindText, f)
	case 4:
		return d.setInline(KindBlob, f)
	case 5:
		return d.declare(f)
	case 6:
		return f.uint64(&d.Size)
	case 7:
		return f.string(&d.ETag)
	case 8:
		return f.string(&d.LastModified)
	case 9:
		return f.string(&d.Meta)
	case 10:
		return f.bool(&d.NotModified)
	case 11:
		return f.uint64(&d.RangeTotal)
	}
	return nil
}

// setInline keeps a view of the field. Text is checked when the content ends, as a whole.
func (d *contentDecoder) setInline(kind Kind, f *field) error {
	if f.typ != wireBytes {
		return fault(whyWireType)
	}
	if d.Inline != nil && d.Kind != kind {
		return fault("both text and blob")
	}
	d.Kind, d.Inline = kind, f.data
	return nil
}

func (d *contentDecoder) declare(f *field) error {
	var kind uint32
	if err := f.uint32(&kind); err != nil {
		return err
	}
	if Kind(kind) > KindBlob {
		return fault(whyRange)
	}
	d.declared = Kind(kind)
	return nil
}

// settle sets Kind. A declared kind must not contradict that of the inline bytes.
func (d *contentDecoder) settle() error {
	switch {
	case d.Inline == nil:
		d.Kind = d.declared
	case d.declared != KindNone && d.declared != d.Kind:
		return fault("kind contradicts the inline bytes")
	}
	return nil
}
