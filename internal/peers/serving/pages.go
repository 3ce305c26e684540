package main

import (
	"bytes"
	"errors"

	"github.com/wasmres/wasmres/internal/peers/serving/fixture"
	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

// pages is how many pages the list has, and morePages how many a server makes of it that does not know that the last one
// is full.
const (
	pages     = fixture.Entries / fixture.PageSize
	morePages = pages + 1
)

// pageThrough asks for page after page and looks at their cursors only. It gives how many there were.
func pageThrough(ask caller) (n int, err error) {
	var buf []byte
	for c := (load.Call{Method: "resources/list"}); n <= morePages; n++ {
		buf, err = ask.Call(c, buf[:0])
		if err != nil {
			return n, err
		}
		cursor := nextCursor(buf)
		if cursor == "" {
			return n + 1, nil
		}
		c.Params = `{"cursor":"` + cursor + `"}`
	}
	return n, errors.New("the list has no end")
}

// nextCursor finds the cursor at either end of a page. It has nothing to unescape.
func nextCursor(page []byte) string {
	const edge = 1024
	name := []byte(`"nextCursor":"`)
	for _, part := range [][]byte{page[:min(edge, len(page))], page[max(0, len(page)-edge):]} {
		if _, rest, ok := bytes.Cut(part, name); ok {
			cursor, _, _ := bytes.Cut(rest, []byte(`"`))
			return string(cursor)
		}
	}
	return ""
}
