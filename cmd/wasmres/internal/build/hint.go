package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/project"
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

// notFound is how a handler says that there is no such resource.
var notFound = map[project.Language]string{
	project.Go: "return wasmres.NotFound", project.Rust: "return Error::not_found", project.C: "return wr_not_found",
	project.AssemblyScript: "return notFound", project.JavaScript: "throw new NotFound",
	project.TypeScript: "throw new NotFound", project.Python: "raise NotFound",
}

// warnOrdinaryErrors reads URIs that name nothing, and warns if the provider fails with an ordinary error: clients take
// that for a failure of the provider. It says nothing where a denied call may be the reason. The
// provider's log of these reads is shown only with the warning.
func (r *buildReport) warnOrdinaryErrors(ctx context.Context, a *app.App, log bufferedLog) {
	uri, err := check.FailsAbsent(ctx, a.Provider().Source(), a.Provider().Manifest())
	var e *abi.Error
	if len(r.denied.Take()) > 0 || !errors.As(err, &e) {
		return
	}
	a.Warn(printable.Line(fmt.Sprintf(
		"reading %s failed with an ordinary error (%s): %s where there is no such resource, so that clients are told that",
		uri, cmp.Or(e.Message, e.Code.String()), notFound[r.lang])))
	log.release(ctx, nil)
}
