package runtime

import (
	"context"
	"iter"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Read returns the contents of a resource, at least one. The error is abi.CodeNotFound if there is no such resource,
// abi.CodeInvalidParams if uri is not valid, abi.CodeInvalidText for a text that is not UTF-8, or has another code of
// the provider.
func (p *Provider) Read(ctx context.Context, uri string) ([]Content, error) {
	var c collector
	if err := p.Stream(ctx, uri, &c); err != nil {
		return nil, err
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	return c.contents, nil
}

// Stream passes the contents of a resource to sink while the guest runs, for resources that are too large for memory.
// After an error the contents in sink are invalid. An error of sink ends the call and is returned.
func (p *Provider) Stream(ctx context.Context, uri string, sink abi.Sink) error {
	defer p.inner.AfterResponse()
	parsed, err := parseURI(uri)
	if err != nil {
		return err
	}
	_, err = p.inner.Read(ctx, &resource.Request{URI: parsed}, sink)
	return err
}

// List returns all resources. It asks the provider for one page at a time, as the loop continues. An error ends the
// loop.
func (p *Provider) List(ctx context.Context) iter.Seq2[*abi.Resource, error] {
	return paged(ctx, p, p.inner.List, func(page *abi.Reply) []abi.Resource { return page.Resources })
}

// Templates returns all resource templates. An error ends the loop.
func (p *Provider) Templates(ctx context.Context) iter.Seq2[*abi.Template, error] {
	return paged(ctx, p, p.inner.Templates, func(page *abi.Reply) []abi.Template { return page.Templates })
}

// paged returns the entries of all pages.
func paged[T any](
	ctx context.Context, p *Provider, ask func(context.Context, *resource.Request) (*abi.Reply, error), entries func(*abi.Reply) []T,
) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		defer p.inner.AfterResponse()
		for cursor := ""; ; {
			page, err := ask(ctx, &resource.Request{Cursor: cursor})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, entry := range entries(page) {
				if !yield(&entry, nil) {
					return
				}
			}
			if cursor = page.NextCursor; cursor == "" {
				return
			}
		}
	}
}

// Complete returns the values for a variable of a URI template that begin with prefix. known are the template's
// variables that have a value already. A provider without completion answers abi.CodeUnsupported.
func (p *Provider) Complete(ctx context.Context, template, variable, prefix string, known ...abi.Var) ([]string, error) {
	defer p.inner.AfterResponse()
	reply, err := p.inner.Complete(ctx, &resource.Request{Template: template, Arg: variable, Value: prefix, Vars: known})
	if err != nil {
		return nil, err
	}
	return reply.Completions, nil
}

// parseURI checks a URI that the program gave.
func parseURI(uri string) (abi.URI, error) {
	parsed, err := abi.ParseURI(uri)
	if err != nil {
		return abi.URI{}, abi.Errorf(abi.CodeInvalidParams, "invalid URI: %v", err)
	}
	return parsed, nil
}
