package abi

const maxFiles = 10_000

// Append appends the encoding of r to b.
func (r *ConfigRequest) Append(b []byte) []byte { return putString(b, 1, r.Key) }

// Decode fills r from its encoding.
func (r *ConfigRequest) Decode(b []byte) error { return decodeString("request", b, &r.Key) }

// Append appends the encoding of r to b.
func (r *ConfigResponse) Append(b []byte) []byte { return putString(b, 1, r.Value) }

// Decode fills r from its encoding.
func (r *ConfigResponse) Decode(b []byte) error { return decodeString("response", b, &r.Value) }

// Append appends the encoding of r to b.
func (r *NotifyRequest) Append(b []byte) []byte { return putString(b, 1, r.URI) }

// Decode fills r from its encoding.
func (r *NotifyRequest) Decode(b []byte) error { return decodeString("request", b, &r.URI) }

// decodeString reads a message whose only field is a string.
func decodeString(what string, b []byte, dst *string) error {
	*dst = ""
	return asProtocol(what, decode(b, func(f *field) error {
		if f.num != 1 {
			return nil
		}
		return f.string(dst)
	}))
}

// Append appends the encoding of r to b.
func (r *FileRequest) Append(b []byte) []byte {
	b = putString(b, 1, r.Path)
	b = putUint(b, 2, r.Offset)
	b = putUint(b, 3, r.Length)
	b = putString(b, 4, r.After)
	if len(r.Data) > 0 {
		b = putBytes(b, 5, r.Data)
	}
	return putBool(b, 6, r.Appends)
}

// Decode fills r from its encoding. Data is a view of b.
func (r *FileRequest) Decode(b []byte) error {
	*r = FileRequest{}
	return asProtocol("request", decode(b, r.set))
}

func (r *FileRequest) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&r.Path)
	case 2:
		return f.uint64(&r.Offset)
	case 3:
		return f.uint64(&r.Length)
	case 4:
		return f.string(&r.After)
	case 5:
		return f.view(&r.Data)
	case 6:
		return f.bool(&r.Appends)
	}
	return nil
}

// Append appends the encoding of r to b.
func (r *FileResponse) Append(b []byte) []byte {
	for i := range r.Files {
		b = putMessage(b, 1, r.Files[i].append)
	}
	return putBool(b, 2, r.More)
}

// Decode fills r from its encoding.
func (r *FileResponse) Decode(b []byte) error {
	*r = FileResponse{}
	return asProtocol("response", decode(b, r.set))
}

func (r *FileResponse) set(f *field) error {
	switch f.num {
	case 1:
		file, err := grow(&r.Files, "files", maxFiles)
		if err != nil {
			return err
		}
		return f.message(file.set)
	case 2:
		return f.bool(&r.More)
	}
	return nil
}

func (e *File) append(b []byte) []byte {
	b = putString(b, 1, e.Name)
	b = putUint(b, 2, e.Size)
	b = putUint(b, 3, uint64(e.ModifiedMillis))
	return putBool(b, 4, e.Dir)
}

func (e *File) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&e.Name)
	case 2:
		return f.uint64(&e.Size)
	case 3:
		return f.int64(&e.ModifiedMillis)
	case 4:
		return f.bool(&e.Dir)
	}
	return nil
}
