package main

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
)

// What inflates is large, so it is made once, before the first request, and serves one object after the other.
var (
	compressed  = bufio.NewReader(strings.NewReader("\x78\x9c\x03\x00\x00\x00\x00\x01")) // nothing, as zlib has it
	inflater, _ = zlib.NewReader(compressed)
)

// inflate gives a reader of what r holds compressed. It is of use until inflate is called again.
func inflate(r io.Reader) (io.Reader, error) {
	compressed.Reset(r)
	if err := inflater.(zlib.Resetter).Reset(compressed, nil); err != nil {
		return nil, damaged(err)
	}
	return inflater, nil
}

// fill reads data, which is all that r has.
func fill(data []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, data); err != nil {
		return damaged(err)
	}
	switch n, err := r.Read(make([]byte, 1)); {
	case n > 0:
		return damaged(errors.New("it is larger than it says"))
	case err != io.EOF:
		return damaged(err)
	}
	return nil
}

func damaged(err error) error { return fmt.Errorf("the object is damaged: %w", err) }
