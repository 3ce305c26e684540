package check

import (
	"encoding/json"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/wasmres/wasmres/abi"
)

const (
	octetStream = "application/octet-stream"
	maxSniff    = 3072 // bytes
)

// checkMIME checks the syntax of a type; empty is valid.
func (r *run) checkMIME(where, claimed string) {
	if claimed != "" && !abi.IsMIMEType(claimed) {
		r.report.add(ruleMIMEInvalid, where, "%q is not a MIME type, and the host leaves it out", line(claimed, 100))
	}
}

// compareMIME checks that a content has the type that its declaration claims, parameters aside.
func (r *run) compareMIME(where, declaration, claimed, found string) {
	if !abi.IsMIMEType(claimed) || !abi.IsMIMEType(found) || baseOf(claimed) == baseOf(found) {
		return
	}
	r.report.add(ruleMIMEDiffers, where, "%s says %s, but the content is %s", declaration, line(claimed, 100), line(found, 100))
}

// baseOf returns a type in lower case without its parameters.
func baseOf(mimeType string) string {
	base, _, _ := strings.Cut(mimeType, ";")
	return strings.ToLower(strings.TrimSpace(base))
}

// sniff compares the bytes of a content with its type. It reports nothing for a type whose bytes have no signature: most
// texts, and types that the library does not know.
func (r *run) sniff(where string, c *content) {
	claimed := baseOf(c.MIMEType)
	if len(c.head) == 0 || claimed == "" || claimed == octetStream {
		return
	}
	if isJSON(claimed) {
		if c.isWhole() && !json.Valid(c.head) {
			r.report.add(ruleMIMESniffed, where, "the type is %s, but the bytes are not JSON", claimed)
		}
		return
	}
	found := mimetype.Detect(c.head[:min(len(c.head), maxSniff)])
	if isTextual(claimed) {
		if c.Kind == abi.KindBlob && !descends(found, "text/plain") {
			r.report.add(ruleMIMESniffed, where, "the type is %s, but the bytes look like %s", claimed, found)
		}
		return
	}
	known := mimetype.Lookup(claimed)
	if known == nil || descends(found, claimed) || !found.Is(octetStream) && descends(known, found.String()) {
		return
	}
	r.report.add(ruleMIMESniffed, where, "the type is %s, but the bytes look like %s", claimed, found)
}

func isJSON(base string) bool { return base == "application/json" || strings.HasSuffix(base, "+json") }

func isTextual(base string) bool {
	known := mimetype.Lookup(base)
	return strings.HasPrefix(base, "text/") || strings.HasSuffix(base, "+xml") || descends(known, "text/plain")
}

// descends reports whether m is base or a subtype of it; false for nil.
func descends(m *mimetype.MIME, base string) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is(base) {
			return true
		}
	}
	return false
}
