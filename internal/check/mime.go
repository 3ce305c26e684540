package check

import (
	"encoding/json"
	"mime"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/wasmres/wasmres/abi"
)

const (
	octets   = "application/octet-stream"
	maxSniff = 3072 // bytes that are looked at
)

// checkMIME wants a type to be well-formed, if there is one.
func (r *run) checkMIME(where, claimed string) {
	if claimed != "" && !isMIME(claimed) {
		r.report.add(ruleMIMEInvalid, where, "%q is no MIME type", line(claimed, 100))
	}
}

func isMIME(s string) bool {
	base, _, err := mime.ParseMediaType(s)
	return err == nil && strings.Contains(base, "/")
}

// compareMIME wants a content to have the type that is said of it elsewhere, parameters aside.
func (r *run) compareMIME(where, who, claimed, found string) {
	if !isMIME(claimed) || !isMIME(found) || baseOf(claimed) == baseOf(found) {
		return
	}
	r.report.add(ruleMIMEDiffers, where, "%s says %s, it is read as %s", who, line(claimed, 100), line(found, 100))
}

// baseOf gives a type in lower case without its parameters.
func baseOf(mimeType string) string {
	base, _, _ := strings.Cut(mimeType, ";")
	return strings.ToLower(strings.TrimSpace(base))
}

// sniff compares the bytes of a content with its type. It speaks up only where bytes tell: texts may look like
// anything, and of types that the library does not know nothing is said.
func (r *run) sniff(where string, c *content) {
	claimed := baseOf(c.MIMEType)
	if len(c.kept) == 0 || claimed == "" || claimed == octets {
		return
	}
	if isJSON(claimed) {
		if c.whole() && !json.Valid(c.kept) {
			r.report.add(ruleMIMESniffed, where, "it is said to be %s and is no JSON", claimed)
		}
		return
	}
	found := mimetype.Detect(c.kept[:min(len(c.kept), maxSniff)])
	if isTextual(claimed) {
		if c.Kind == abi.KindBlob && !descends(found, "text/plain") {
			r.report.add(ruleMIMESniffed, where, "it is said to be %s and looks like %s", claimed, found)
		}
		return
	}
	known := mimetype.Lookup(claimed)
	if known == nil || descends(found, claimed) || !found.Is(octets) && descends(known, found.String()) {
		return
	}
	r.report.add(ruleMIMESniffed, where, "it is said to be %s and looks like %s", claimed, found)
}

func isJSON(base string) bool { return base == "application/json" || strings.HasSuffix(base, "+json") }

func isTextual(base string) bool {
	known := mimetype.Lookup(base)
	return strings.HasPrefix(base, "text/") || strings.HasSuffix(base, "+xml") || descends(known, "text/plain")
}

// descends reports whether m is a kind of base. Nil is of no kind.
func descends(m *mimetype.MIME, base string) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is(base) {
			return true
		}
	}
	return false
}
