package mcp

import "strconv"

// metaWindow is the key of _meta for a range of bytes: in a request the range that the client asks for, in a content the
// range that the content is.
const metaWindow = "io.github.wasmres/window"

// A byteRange is the part of a content that a client asks for, in bytes.
type byteRange struct {
	offset uint64 // at most maxInteger
	length uint64 // at most maxInteger; 0 for all that follows
}

// parseRange decodes the value of metaWindow in the _meta of a request. It returns nil if the value is absent or null.
func parseRange(raw []byte) (*byteRange, error) {
	if isNull(raw) {
		return nil, nil
	}
	var offset, length []byte
	if !parseObject(raw, choose("offset", &offset, "length", &length)) {
		return nil, invalidRange()
	}
	w := &byteRange{}
	if !wholeNumber(offset, &w.offset) || !wholeNumber(length, &w.length) || w.length == 0 && !isNull(length) {
		return nil, invalidRange()
	}
	return w, nil
}

func invalidRange() error {
	return invalidParams(`_meta["` + metaWindow + `"] is an object of two whole numbers of bytes, ` +
		`"offset" from 0 on and "length" from 1 on; either may be left out`)
}

// wholeNumber decodes a number that every JSON parser takes, written without a fraction or exponent. If raw is absent or
// null, n stays as it is.
func wholeNumber(raw []byte, n *uint64) bool {
	if isNull(raw) {
		return true
	}
	v, err := strconv.ParseUint(string(raw), 10, 64)
	*n = v
	return err == nil && v <= maxInteger
}
