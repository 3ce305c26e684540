package build

import (
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/runtime"
)

const maxHints = 10 // of one kind

// warnTypes warns once of each MIME type that clients will not get: of the manifest, and of the contents that were read.
func warnTypes(a *app.App, contents []runtime.Content) {
	m, seen := a.Provider().Manifest(), map[string]bool{}
	check := func(where, mimeType string) {
		if mimeType == "" || abi.IsMIMEType(mimeType) || seen[mimeType] || len(seen) == maxHints {
			return
		}
		seen[mimeType] = true
		a.Warn(printable.Line(fmt.Sprintf(
			"%s has the MIME type %q, which clients do not get: write it as type/subtype, as in text/plain", where, mimeType)))
	}
	for i := range m.Resources {
		check(m.Resources[i].URI, m.Resources[i].MIMEType)
	}
	for i := range m.Templates {
		check(m.Templates[i].URITemplate, m.Templates[i].MIMEType)
	}
	for i := range contents {
		check("a content of "+contents[i].URI, contents[i].MIMEType)
	}
}
