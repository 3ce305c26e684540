// Heavy is a provider whose reads take a processor for long: heavy://valid checks the syntax of 10 MiB of JSON, and heavy://recode
// decodes and encodes 128 KiB.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

func main() {}

func init() {
	long, short := document(10<<20), document(128<<10)
	wasmres.Provider("heavy", "1.0.0")
	wasmres.Resource("heavy://valid", func(*wasmres.Request) (string, error) {
		if !json.Valid(long) {
			return "", errors.New("the document is not JSON")
		}
		return strconv.Itoa(len(long)), nil
	})
	wasmres.Resource("heavy://recode", func(*wasmres.Request) (string, error) {
		var value any
		if err := json.Unmarshal(short, &value); err != nil {
			return "", err
		}
		again, err := json.Marshal(value)
		return strconv.Itoa(len(again)), err
	})
}

// document returns an array of records with strings, numbers and lists, of at least so many bytes.
func document(size int) []byte {
	text := []byte{'['}
	for i := 0; len(text) < size; i++ {
		text = fmt.Appendf(text, `{"id": %d, "name": "record %d", "tags": ["alpha", "b\u00e4r", "c\"d"], `+
			`"score": %d.25, "nested": {"ok": true, "none": null, "list": [%d, -2, 3e10]}},`+"\n", i, i, i%1000, i)
	}
	return append(text, "{}]"...)
}
