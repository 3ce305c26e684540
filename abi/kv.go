package abi

// MaxKey is the most bytes of a key of the key-value store.
const MaxKey = 1 << 10

const maxKVEntries = 10_000 // of one answer

// A KVRequest names values of the provider's own key-value store. Which fields count depends on the service.
type KVRequest struct {
	Key       string // get, put, delete: 1 to [MaxKey] bytes
	Value     []byte // put
	TTLMillis uint64 // put: the value expires after this time; 0 for never
	IfVersion uint64 // put, delete: only if the value has this version; 0 for any
	IfAbsent  bool   // put: only if there is no value
	Prefix    string // list: only keys that begin with it
	After     string // list: the last key already seen
	Limit     uint64 // list: most entries; 0 for as many as one answer holds
}

// A KVResponse describes the values that were found or, after a put, the value that was stored. The bytes of a value
// are in [ChannelBody].
type KVResponse struct {
	Entries  []KVEntry // list: sorted by key, byte by byte
	More     bool      // list: there are entries after these
	Conflict bool      // put, delete: nothing was done, since Entries do not meet the condition
}

// A KVEntry is one value, without its bytes.
type KVEntry struct {
	Key           string
	Size          uint64 // bytes
	ExpiresMillis int64  // since 1970-01-01 UTC; 0 for never
	Version       uint64 // another one after each put; never 0
}

// Append appends the encoding of r to b.
func (r *KVRequest) Append(b []byte) []byte {
	b = putString(b, 1, r.Key)
	if len(r.Value) > 0 {
		b = putBytes(b, 2, r.Value)
	}
	b = putUint(b, 3, r.TTLMillis)
	b = putUint(b, 4, r.IfVersion)
	b = putBool(b, 5, r.IfAbsent)
	b = putString(b, 6, r.Prefix)
	b = putString(b, 7, r.After)
	return putUint(b, 8, r.Limit)
}

// Decode fills r from its encoding. Value is a view of b.
func (r *KVRequest) Decode(b []byte) error {
	*r = KVRequest{}
	return asProtocol("request", decode(b, r.set))
}

func (r *KVRequest) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&r.Key)
	case 2:
		return f.view(&r.Value)
	case 3:
		return f.uint64(&r.TTLMillis)
	case 4:
		return f.uint64(&r.IfVersion)
	case 5:
		return f.bool(&r.IfAbsent)
	case 6:
		return f.string(&r.Prefix)
	case 7:
		return f.string(&r.After)
	case 8:
		return f.uint64(&r.Limit)
	}
	return nil
}

// Append appends the encoding of r to b.
func (r *KVResponse) Append(b []byte) []byte {
	for i := range r.Entries {
		b = putMessage(b, 1, r.Entries[i].append)
	}
	b = putBool(b, 2, r.More)
	return putBool(b, 3, r.Conflict)
}

// Decode fills r from its encoding.
func (r *KVResponse) Decode(b []byte) error {
	*r = KVResponse{}
	return asProtocol("response", decode(b, r.set))
}

func (r *KVResponse) set(f *field) error {
	switch f.num {
	case 1:
		entry, err := grow(&r.Entries, "entries", maxKVEntries)
		if err != nil {
			return err
		}
		return f.message(entry.set)
	case 2:
		return f.bool(&r.More)
	case 3:
		return f.bool(&r.Conflict)
	}
	return nil
}

func (e *KVEntry) append(b []byte) []byte {
	b = putString(b, 1, e.Key)
	b = putUint(b, 2, e.Size)
	b = putUint(b, 3, uint64(e.ExpiresMillis))
	return putUint(b, 4, e.Version)
}

func (e *KVEntry) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&e.Key)
	case 2:
		return f.uint64(&e.Size)
	case 3:
		return f.int64(&e.ExpiresMillis)
	case 4:
		return f.uint64(&e.Version)
	}
	return nil
}
