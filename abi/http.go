package abi

const (
	maxHeaders = 256 // fields of one request or response
)

// An HTTPRequest asks the host to send a request to a URL that is granted.
type HTTPRequest struct {
	Method        string // empty for GET
	URL           string // absolute
	Header        []HTTPField
	Body          []byte
	MaxBytes      uint64 // of the response's body; 0 for as many as are granted
	TimeoutMillis uint32 // for the whole exchange; 0 for as long as the call may last
}

// An HTTPField is one line of a header.
type HTTPField struct{ Name, Value string }

// An HTTPResponse describes a server's answer, whatever its status. [ChannelBody] has its body, or the beginning of it.
type HTTPResponse struct {
	Status uint32
	Header []HTTPField
	URL    string // the one that answered, after redirects
	Stream uint64 // for [ServiceStream] to get the rest of the body; 0 when there is none
}

// A StreamRequest asks for the next part of an answer that exceeds one message.
type StreamRequest struct{ Stream uint64 }

// A StreamResponse says whether more parts follow. The bytes are in [ChannelBody].
type StreamResponse struct{ More bool }

// Append appends the encoding of r to b.
func (r *HTTPRequest) Append(b []byte) []byte {
	b = putString(b, 1, r.Method)
	b = putString(b, 2, r.URL)
	b = putFields(b, 3, r.Header)
	if len(r.Body) > 0 {
		b = putBytes(b, 4, r.Body)
	}
	b = putUint(b, 5, r.MaxBytes)
	return putUint(b, 6, uint64(r.TimeoutMillis))
}

// Decode fills r from its encoding. Body is a view of b.
func (r *HTTPRequest) Decode(b []byte) error {
	*r = HTTPRequest{}
	return asProtocol("request", decode(b, r.set))
}

func (r *HTTPRequest) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&r.Method)
	case 2:
		return f.string(&r.URL)
	case 3:
		return f.header(&r.Header)
	case 4:
		return f.view(&r.Body)
	case 5:
		return f.uint64(&r.MaxBytes)
	case 6:
		return f.uint32(&r.TimeoutMillis)
	}
	return nil
}

// Append appends the encoding of r to b.
func (r *HTTPResponse) Append(b []byte) []byte {
	b = putUint(b, 1, uint64(r.Status))
	b = putFields(b, 2, r.Header)
	b = putString(b, 3, r.URL)
	return putUint(b, 4, r.Stream)
}

// Decode fills r from its encoding.
func (r *HTTPResponse) Decode(b []byte) error {
	*r = HTTPResponse{}
	return asProtocol("response", decode(b, r.set))
}

func (r *HTTPResponse) set(f *field) error {
	switch f.num {
	case 1:
		return f.uint32(&r.Status)
	case 2:
		return f.header(&r.Header)
	case 3:
		return f.string(&r.URL)
	case 4:
		return f.uint64(&r.Stream)
	}
	return nil
}

func putFields(b []byte, num uint32, header []HTTPField) []byte {
	for i := range header {
		b = putMessage(b, num, header[i].append)
	}
	return b
}

// header stores one more field of a header.
func (f *field) header(dst *[]HTTPField) error {
	line, err := grow(dst, "header fields", maxHeaders)
	if err != nil {
		return err
	}
	return f.message(line.set)
}

func (h *HTTPField) append(b []byte) []byte { return putString(putString(b, 1, h.Name), 2, h.Value) }

func (h *HTTPField) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&h.Name)
	case 2:
		return f.string(&h.Value)
	}
	return nil
}

// Append appends the encoding of r to b.
func (r *StreamRequest) Append(b []byte) []byte { return putUint(b, 1, r.Stream) }

// Decode fills r from its encoding.
func (r *StreamRequest) Decode(b []byte) error {
	*r = StreamRequest{}
	return asProtocol("request", decode(b, func(f *field) error {
		if f.num != 1 {
			return nil
		}
		return f.uint64(&r.Stream)
	}))
}

// Append appends the encoding of r to b.
func (r *StreamResponse) Append(b []byte) []byte { return putBool(b, 1, r.More) }

// Decode fills r from its encoding.
func (r *StreamResponse) Decode(b []byte) error {
	*r = StreamResponse{}
	return asProtocol("response", decode(b, func(f *field) error {
		if f.num != 1 {
			return nil
		}
		return f.bool(&r.More)
	}))
}
