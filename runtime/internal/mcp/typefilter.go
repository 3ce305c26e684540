package mcp

import (
	"log/slog"
	"sync"

	"github.com/wasmres/wasmres/abi"
)

// maxReportedTypes is how many different invalid MIME types are logged.
const maxReportedTypes = 64

// A typeFilter keeps MIME types that are none from clients, some of which refuse a whole list for one of them. It logs
// each once, for the author of the provider. It is safe for concurrent use.
type typeFilter struct {
	logger *slog.Logger // fixed at creation

	mu       sync.Mutex // guards the field below
	reported map[string]struct{}
}

// appendType appends the member mimeType after another member, unless it is empty or invalid. where is the URI of the
// resource, or the template, that has it.
func (f *typeFilter) appendType(b []byte, mimeType, where string) []byte {
	if mimeType == "" || abi.IsMIMEType(mimeType) {
		return appendMember(b, "mimeType", mimeType)
	}
	if f.isNew(mimeType) {
		f.logger.Warn("invalid MIME type left out: write it as type/subtype, as in text/plain", "mime_type", mimeType, "uri", where)
	}
	return b
}

// isNew reports whether a type is to be logged.
func (f *typeFilter) isNew(mimeType string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.reported[mimeType]; known || len(f.reported) == maxReportedTypes {
		return false
	}
	if f.reported == nil {
		f.reported = make(map[string]struct{})
	}
	f.reported[mimeType] = struct{}{}
	return true
}
