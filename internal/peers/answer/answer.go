// Package answer is what every guest in Go does, whatever host it is for; testdata/c/answer.h is the same in C.
package answer

import (
	"fmt"
	"strconv"
)

// Text is the static answer, of 100 bytes.
const Text = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore!"

// visits are the requests this instance has seen: more than one tells that it was not clean.
var visits int

// document is what was prepared.
var document []byte

// Prepare makes a document of some KiB, as guests that parse, render or index something do when they start.
func Prepare(kib int) {
	document = make([]byte, kib<<10)
	x := uint32(1)
	for i := range document {
		x = x*1664525 + 1013904223
		document[i] = 'a' + byte(x>>24)%26
	}
}

// To answers a request. The first letter of the URI says what is asked for.
func To(uri []byte) string {
	visits++
	switch uri[0] {
	case 't':
		return Text
	case 'f':
		return fmt.Sprintf("resource %q, whose name has %d bytes: %s", uri, len(uri), Text[:48])
	case 'v':
		return "visit " + strconv.Itoa(visits)
	case 'd':
		return strconv.Itoa(len(document)) + string(document[max(0, len(document)-32):])
	}
	return "unknown"
}

// Warm does what the first requests of an instance do, and forgets that it has: hosts that start every request from an
// image put what the Go runtime has set up by then into it.
func Warm() {
	for range 3 {
		To([]byte("text://warm"))
		To([]byte("format://warm"))
	}
	visits = 0
}
