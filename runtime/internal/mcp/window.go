package mcp

import "strconv"

// metaWindow is the key by which the _meta of a request asks for a part of a resource, and that of a content says which
// part it is.
const metaWindow = "io.github.wasmres/window"

// A window is the part of a content that a client asks for, in bytes.
type window struct {
	offset uint64 // at most maxInteger
	length uint64 // at most maxInteger; 0 for all that follows
}

// parseWindow decodes the value of metaWindow in the _meta of a request; absent or null, it is nil.
func parseWindow(raw []byte) (*window, error) {
	if isNull(raw) {
		return nil, nil
	}
	var offset, length []byte
	if !pick(raw, choose("offset", &offset, "length", &length)) {
		return nil, notWindow()
	}
	w := &window{}
	if !wholeNumber(offset, &w.offset) || !wholeNumber(length, &w.length) || w.length == 0 && !isNull(length) {
		return nil, notWindow()
	}
	return w, nil
}

func notWindow() error {
	return invalidParams(`_meta["` + metaWindow + `"] is an object of two whole numbers of bytes, ` +
		`"offset" from 0 on and "length" from 1 on; either may be left out`)
}

// wholeNumber decodes a number every JSON parser takes, written without a fraction or exponent; absent or null, it
// leaves n alone.
func wholeNumber(raw []byte, n *uint64) bool {
	if isNull(raw) {
		return true
	}
	v, err := strconv.ParseUint(string(raw), 10, 64)
	*n = v
	return err == nil && v <= maxInteger
}
