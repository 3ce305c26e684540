package abi

const (
	maxIcons       = 16
	maxIconSizes   = 16
	maxCompletions = 1000
	maxCompletes   = 64
)

// An Emission takes the items of a frame that are not fields of a [Reply]. Arguments are valid until the method
// returns.
type Emission interface {
	Content(c *Content) error
	Progress(p Progress)
	// Continue is called after every 1,024 fields of a frame. Its error ends the decoding.
	Continue() error
}

// continueEvery is how many fields are decoded between two calls of Continue: they take some 100 µs.
const continueEvery = 1024

// A Merger decodes the frames of one call. Set its exported fields before the first frame.
type Merger struct {
	// Reply collects the decoded fields. It is invalid after an error.
	Reply *Reply
	// MaxItems bounds len(Reply.Resources) and len(Reply.Templates). More is [CodeTooMany].
	MaxItems int
	// To gets contents and progress in the order of the frame. Invalid progress reports are dropped.
	To Emission

	field   field
	content Content // the one at hand
}

// Merge decodes one emitted frame of at most [MaxFrame] bytes. A malformed frame is [CodeProtocol], and so is a second
// manifest. It does not check URIs and the like: see Check of each message.
func (m *Merger) Merge(frame []byte) error {
	if len(frame) > MaxFrame {
		return tooLong("frame", len(frame), MaxFrame)
	}
	m.field = field{text: texts{left: len(frame)}, to: m.To}
	err := m.field.each(frame, m.set)
	m.field, m.content = field{}, Content{} // which point into frame
	return asProtocol("frame", err)
}

// Merge decodes one emitted frame, as [Merger.Merge] does.
func (r *Reply) Merge(frame []byte, maxItems int, e Emission) error {
	m := Merger{Reply: r, MaxItems: maxItems, To: e}
	return m.Merge(frame)
}

func (m *Merger) set(f *field) error {
	r := m.Reply
	switch f.num {
	case 1:
		return addResource(&r.Resources, m.MaxItems, f)
	case 2:
		return addTemplate(&r.Templates, m.MaxItems, f)
	case 3:
		return m.emitContent(f)
	case 4:
		return f.bounded(&r.NextCursor, "next_cursor", maxCursor)
	case 5:
		if r.Error == nil {
			r.Error = &GuestError{}
		}
		*r.Error = GuestError{}
		return f.message(r.Error.set)
	case 6:
		s, err := grow(&r.Completions, "completions", maxCompletions)
		if err != nil {
			return err
		}
		return f.bounded(s, "completion", MaxURI)
	case 7:
		return f.uint32(&r.CompletionTotal)
	case 8:
		return f.bool(&r.CompletionMore)
	case 9:
		return r.setManifest(f)
	case 10:
		return f.uint64(&r.TTLMillis)
	case 11:
		return f.uint32((*uint32)(&r.CacheScope))
	case 14:
		return f.uint32(&r.PollMillis)
	case 15:
		return m.emitProgress(f)
	}
	return nil
}

// bounded stores a text of at most limit bytes: a Reply lives as long as its call.
func (f *field) bounded(dst *string, what string, limit int) error {
	if len(f.data) > limit {
		return tooLong(what, len(f.data), limit)
	}
	return f.string(dst)
}

// setManifest decodes the first manifest and refuses further ones: decoding costs far more than a guest pays for
// sending.
func (r *Reply) setManifest(f *field) error {
	if r.Manifest != nil {
		return fault("second manifest")
	}
	r.Manifest = &Manifest{}
	return f.message(r.Manifest.set)
}

func (m *Merger) emitContent(f *field) error {
	m.content = Content{}
	d := contentDecoder{Content: &m.content}
	if err := f.message(d.set); err != nil {
		return err
	}
	if err := d.settle(); err != nil {
		return err
	}
	return m.To.Content(&m.content)
}

func (m *Merger) emitProgress(f *field) error {
	var p Progress
	if err := f.message(p.set); err != nil {
		return err
	}
	if p.Check() == nil {
		m.To.Progress(p)
	}
	return nil
}

// Append appends r as one frame to b. Contents and progress are appended by their own methods.
func (r *Reply) Append(b []byte) []byte {
	for i := range r.Resources {
		b = putMessage(b, 1, r.Resources[i].append)
	}
	for i := range r.Templates {
		b = putMessage(b, 2, r.Templates[i].append)
	}
	b = putString(b, 4, r.NextCursor)
	if r.Error != nil {
		b = putMessage(b, 5, r.Error.append)
	}
	b = putStrings(b, 6, r.Completions)
	b = putUint(b, 7, uint64(r.CompletionTotal))
	b = putBool(b, 8, r.CompletionMore)
	if r.Manifest != nil {
		b = putMessage(b, 9, r.Manifest.Append)
	}
	b = putUint(b, 10, r.TTLMillis)
	b = putUint(b, 11, uint64(r.CacheScope))
	return putUint(b, 14, uint64(r.PollMillis))
}

func (e *GuestError) append(b []byte) []byte {
	b = putString(b, 1, e.Message)
	b = putString(b, 2, e.Data)
	return putUint(b, 3, e.RetryAfterMillis)
}

func (e *GuestError) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&e.Message)
	case 2:
		return f.string(&e.Data)
	case 3:
		return f.uint64(&e.RetryAfterMillis)
	}
	return nil
}

// Append appends p as a field of a frame to b.
func (p *Progress) Append(b []byte) []byte { return putMessage(b, 15, p.append) }

func (p *Progress) append(b []byte) []byte {
	b = putFloat(b, 1, p.Done)
	b = putFloat(b, 2, p.Total)
	return putString(b, 3, p.Message)
}

func (p *Progress) set(f *field) error {
	switch f.num {
	case 1:
		return f.float64(&p.Done)
	case 2:
		return f.float64(&p.Total)
	case 3:
		return f.string(&p.Message)
	}
	return nil
}
