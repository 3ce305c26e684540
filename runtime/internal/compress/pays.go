package compress

import "strings"

// worthwhile is the size from which on compressing costs less than it saves, in bytes: smaller answers leave in a few
// packets anyway.
const worthwhile = 16 << 10

// textual are types beyond text/… that are mostly text, or as repetitive.
var textual = [...]string{
	"application/json", "application/xml", "application/javascript", "application/ecmascript", "application/x-ndjson",
	"application/jsonl", "application/json-seq", "application/yaml", "application/x-yaml", "application/toml",
	"application/sql", "application/graphql", "application/rtf", "application/x-sh", "application/x-javascript",
	"application/wasm", "image/bmp", "font/ttf", "font/otf",
}

// Pays reports whether compressing a content is worth it: it is large, and of a type that is not compressed already.
// size is in bytes; a negative one is not known, and taken for large. Unknown types do not pay.
func Pays(mimeType string, size int) bool {
	if 0 <= size && size < worthwhile {
		return false
	}
	kind, _, _ := strings.Cut(mimeType, ";")
	kind = strings.ToLower(strings.Trim(kind, " \t"))
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") ||
		strings.HasSuffix(kind, "+yaml") {
		return true
	}
	for _, t := range textual {
		if kind == t {
			return true
		}
	}
	return false
}
