package guard

import (
	"context"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A view is what one identity permits of one action. Only for identities with grants for some providers alone does it ask
// the source to which provider a URI belongs.
type view struct {
	source   *Source
	identity *auth.Identity
	action   auth.Action
}

// isEmpty reports whether nothing can be permitted.
func (v *view) isEmpty() bool { return !v.identity.MayPermit(v.action, "") }

// permits reports whether a URI is permitted, in any spelling.
func (v *view) permits(uri string) bool {
	switch normal := abi.NormalURI(uri); {
	case v.identity.Permits(v.action, normal):
		return true
	case !v.identity.DependsOnProvider():
		return false
	}
	parsed, err := abi.ParseURI(uri)
	return err == nil && v.permitsURI(parsed)
}

// permitsURI is permits for a URI that was parsed.
func (v *view) permitsURI(uri abi.URI) bool {
	switch {
	case v.identity.Permits(v.action, uri.Normal()):
		return true
	case !v.identity.DependsOnProvider():
		return false
	}
	provider, ok := resource.OwnerOf(v.source.source, uri)
	return ok && v.identity.PermitsAt(provider, v.action, uri.Normal())
}

// mayPermitTemplate reports whether some URI of a template could be permitted.
func (v *view) mayPermitTemplate(template string) bool {
	head, _, variables := strings.Cut(template, "{")
	if !variables {
		return v.permits(template)
	}
	return v.mayPermitHead(template, abi.NormalURI(head))
}

// mayPermitHead reports whether some URI of a template could be permitted that begins with head, which is in normal form.
func (v *view) mayPermitHead(template, head string) bool {
	if !v.identity.DependsOnProvider() || !v.identity.MayPermit(v.action, head) {
		return v.identity.MayPermit(v.action, head)
	}
	provider, _ := resource.TemplateOwnerOf(v.source.source, template)
	return v.identity.MayPermitAt(provider, v.action, head)
}

// degrade notes which entries are missing from a page that is made of several, once for each provider, but not for those
// whose entries are all hidden.
func (v *view) degrade(ctx context.Context, missing []resource.Degraded) {
	for i, d := range missing {
		if !slices.Contains(missing[:i], d) && v.identity.MayPermitAt(d.Provider, v.action, "") {
			resource.Degrade(ctx, d)
		}
	}
}
