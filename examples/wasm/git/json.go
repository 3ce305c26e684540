package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// etagOf makes an etag of a text that names a version.
func etagOf(version string) string {
	sum := sha256.Sum256([]byte(version))
	return hex.EncodeToString(sum[:10])
}

// asJSON answers with a value, whose version is named by a text.
func asJSON(v any, version string) (wasmres.Content, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return wasmres.Text(b.String()).ETag(etagOf(version)), err
}

// warmJSON has encoding/json look at the types it will meet.
func warmJSON() {
	for _, v := range []any{
		headJSON{Commit: &commitJSON{}}, logJSON{Commits: []commitJSON{{}}}, folderJSON{Entries: []entryJSON{{}}},
		map[string]any{"branches": []branchJSON{{}}},
	} {
		if _, err := asJSON(v, ""); err != nil {
			panic(err)
		}
	}
}
