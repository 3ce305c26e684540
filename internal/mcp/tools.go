package mcp

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/wire"
)

// tools are the resources once more, for hosts that give models nothing but tools.
const tools = `"tools":[` +
	`{"name":"list_resources","title":"List resources",` +
	`"description":"List the resources this server offers, a page at a time. Resources have a URI to give to read_resource; ` +
	`a resource template has a URI with variables in braces, to be filled in first.",` +
	`"inputSchema":{"type":"object","properties":{"cursor":{"type":"string",` +
	`"description":"The nextCursor of the page before; leave it out for the first page."}},"additionalProperties":false},` +
	`"annotations":{"readOnlyHint":true}},` +
	`{"name":"read_resource","title":"Read a resource","description":"Read one resource by its URI.",` +
	`"inputSchema":{"type":"object","properties":{"uri":{"type":"string",` +
	`"description":"The URI of a resource, as list_resources gives it, or made from a template."}},` +
	`"required":["uri"],"additionalProperties":false},` +
	`"annotations":{"readOnlyHint":true}}]`

func (c *Core) toolsList(_ context.Context, r *request) error {
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	if cursor != "" {
		return invalidParams("invalid cursor")
	}
	c.begin(r)
	r.out = append(r.out, tools...)
	r.endCacheable(staticTTL, abi.CachePublic)
	return nil
}

// toolsCall runs a tool. What goes wrong inside of it is a result too, for the model to see.
func (c *Core) toolsCall(ctx context.Context, r *request) error {
	name, err := required("name", r.params.name)
	if err != nil {
		return err
	}
	var cursor, uri []byte
	if !isNull(r.params.arguments) && !pick(r.params.arguments, choose("cursor", &cursor, "uri", &uri)) {
		return invalidParams("arguments is not an object")
	}
	var run func() error
	switch name {
	case "list_resources":
		run = func() error { return c.listTool(ctx, r, cursor) }
	case "read_resource":
		run = func() error { return c.readTool(ctx, r, uri) }
	default:
		return invalidParams("unknown tool: %s", clip(name, maxMethod))
	}
	r.outlet.Flush = nil // what goes wrong replaces what there is
	c.begin(r)
	r.out = append(r.out, `"content":[`...)
	begin := len(r.out)
	if err := run(); err != nil {
		r.out = c.appendToolError(ctx, r, r.out[:begin], err)
	} else {
		r.out = append(r.out, ']')
	}
	r.end()
	return nil
}

func (c *Core) appendToolError(ctx context.Context, r *request, b []byte, err error) []byte {
	e, ok := err.(*Error)
	if !ok {
		e = c.fail(ctx, r, err)
	}
	message := e.Message
	if len(e.Data) > 0 {
		message += " " + string(e.Data)
	}
	return append(appendTextBlock(b, []byte(message)), `],"isError":true`...)
}

func (c *Core) listTool(ctx context.Context, r *request, rawCursor []byte) error {
	cursor, err := optional("cursor", rawCursor)
	if err != nil {
		return err
	}
	req := r.askPage(cursor)
	reply, err := c.cfg.Source.List(ctx, req)
	if err != nil {
		return err
	}
	page := appendResources([]byte{'{'}, reply, false)
	if cursor == "" {
		reply, err := c.cfg.Source.Templates(ctx, req)
		if err != nil {
			return err
		}
		page = appendTemplates(append(page, ','), &abi.Reply{Templates: reply.Templates}) // one page must do
	}
	r.out = appendTextBlock(r.out, append(page, '}'))
	return nil
}

func (c *Core) readTool(ctx context.Context, r *request, rawURI []byte) error {
	uri, err := required("uri", rawURI)
	if err != nil {
		return err
	}
	_, err = c.readInto(ctx, r, uri, true)
	return err
}

// appendTextBlock appends one block of text, which is UTF-8.
func appendTextBlock(b []byte, text []byte) []byte {
	b = append(b, `{"type":"text","text":`...)
	b = wire.AppendString(b, string(text))
	return append(b, '}')
}
