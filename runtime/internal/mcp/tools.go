package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/textenc"
)

// The tools, for hosts that offer models only tools: the JSON before and after the output schema of list_resources.
// Revisions before 2025-06-18 have no output schemas. read_resource has none, since the type of its content is unknown, and
// some clients show a model nothing but structured content.
const (
	toolsBegin = `"tools":[` +
		`{"name":"list_resources","title":"List resources",` +
		`"description":"List the resources this server offers, a page at a time. Resources have a URI to give to read_resource; ` +
		`a resource template has a URI with variables in braces, to be filled in first.",` +
		`"inputSchema":{"type":"object","properties":{"cursor":{"type":"string",` +
		`"description":"The nextCursor of the page before; leave it out for the first page."}},"additionalProperties":false},`
	toolsEnd = `"annotations":{"readOnlyHint":true}},` +
		`{"name":"read_resource","title":"Read a resource","description":"Read one resource by its URI.",` +
		`"inputSchema":{"type":"object","properties":{"uri":{"type":"string",` +
		`"description":"The URI of a resource, as list_resources gives it, or made from a template."}},` +
		`"required":["uri"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true}}]`

	listedFields = `"name":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"},` +
		`"mimeType":{"type":"string"},"annotations":{"type":"object"}`
	listSchema = `"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
		`"resources":{"type":"array","items":{"type":"object","properties":{"uri":{"type":"string"},` + listedFields +
		`,"size":{"type":"integer"}},"required":["uri","name"]}},` +
		`"resourceTemplates":{"type":"array","items":{"type":"object","properties":{"uriTemplate":{"type":"string"},` + listedFields +
		`},"required":["uriTemplate","name"]}},` +
		`"nextCursor":{"type":"string"}},"required":["resources"]},`
)

// toolsList answers an empty list where there are no tools: some clients, as Codex CLI, ask all servers for tools, and give up
// one that answers with an error.
func (c *Core) toolsList(_ context.Context, r *request) error {
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	if cursor != "" {
		return invalidParams("invalid cursor")
	}
	c.begin(r)
	r.out = appendTools(r.out, c.cfg.Tools, r.structured)
	r.endCacheable(staticTTL, abi.CachePublic)
	return nil
}

func appendTools(b []byte, hasTools, structured bool) []byte {
	if !hasTools {
		return append(b, `"tools":[]`...)
	}
	b = append(b, toolsBegin...)
	if structured {
		b = append(b, listSchema...)
	}
	return append(b, toolsEnd...)
}

// toolsCall runs a tool. A failure inside of the tool is a result, too, for the model to see.
func (c *Core) toolsCall(ctx context.Context, r *request) error {
	name, err := required("name", r.params.name)
	if err != nil {
		return err
	}
	var cursor, uri []byte
	if !isNull(r.params.arguments) && !parseObject(r.params.arguments, choose("cursor", &cursor, "uri", &uri)) {
		return invalidParams("arguments is not an object")
	}
	var asked string     // URI
	var run func() error // ends the member content
	switch name {
	case "list_resources":
		run = func() error { return c.listTool(ctx, r, cursor) }
	case "read_resource":
		asked, _ = optional("uri", uri) // the tool itself fails for another value
		run = func() error { return c.readTool(ctx, r, uri) }
	default:
		return invalidParams("unknown tool: %s", truncate(name, maxMethod))
	}
	c.beginTraced(r, asked)
	r.out = append(r.out, `"content":[`...)
	begin := len(r.out)
	switch err := run(); {
	case err == nil:
	case r.sent:
		return err // a part has been sent and cannot be replaced
	default:
		r.out = c.appendToolError(ctx, r, r.out[:begin], err)
	}
	r.end()
	return nil
}

func (c *Core) appendToolError(ctx context.Context, r *request, b []byte, err error) []byte {
	e, ok := err.(*Error)
	if !ok {
		e = c.fail(ctx, r, err)
	}
	if r.access != nil {
		r.access.failure = e
	}
	message := e.Message
	if len(e.Data) > 0 {
		message += " " + string(e.Data)
	}
	return append(appendTextBlock(b, []byte(message)), `],"isError":true`...)
}

// listTool answers a page as structured content, as a link to each resource and, for clients that show a model only
// text, as the JSON text of the structured content.
func (c *Core) listTool(ctx context.Context, r *request, rawCursor []byte) error {
	cursor, err := optional("cursor", rawCursor)
	if err != nil {
		return err
	}
	hold := c.cfg.InFlight.Hold()
	defer hold.End()
	req := r.pageRequest(cursor)
	reply, err := c.askList(ctx, req, hold)
	if err != nil {
		return err
	}
	var templates *abi.Reply
	if cursor == "" {
		if templates, err = c.cfg.Source.Templates(ctx, req); err != nil {
			return err
		}
	}
	page := &abi.Reply{Resources: withoutIcons(reply.Resources), NextCursor: reply.NextCursor}
	if templates != nil {
		page.Templates = templatesWithoutIcons(templates.Templates) // the tool lists only one page of templates
	}
	r.out = append(r.out, `{"type":"text","text":"`...)
	if err := r.appendPage(page, templates != nil, false); err != nil {
		return err
	}
	r.out = append(r.out, `"}`...)
	if !r.structured {
		r.out = append(r.out, ']')
		return nil
	}
	if err := r.appendLinks(page.Resources); err != nil {
		return err
	}
	r.out = append(r.out, `],"structuredContent":`...)
	return r.appendPage(page, templates != nil, true)
}

// appendLinks appends a link to each resource to the content of a tool's result.
func (r *request) appendLinks(resources []abi.Resource) error {
	for i := range resources {
		if err := r.makeRoom(maxEscape * resources[i].Weight()); err != nil {
			return err
		}
		r.out = append(r.out, `,{"type":"resource_link",`...)
		r.out = append(r.out, r.core.types.appendResource(nil, &resources[i], false)[len(`{`):]...)
		if err := r.flushIfFull(); err != nil {
			return err
		}
	}
	return nil
}

// appendPage appends a page, with or without templates, as a JSON object: escaped for a JSON string, or unchanged if
// raw.
func (r *request) appendPage(page *abi.Reply, templates, raw bool) error {
	b := []byte(`{"resources":[`)
	for i := range page.Resources {
		b = r.core.types.appendResource(comma(b, i), &page.Resources[i], false)
		if err := r.appendLong(b, raw); err != nil {
			return err
		}
		b = b[:0]
	}
	b = appendMember(append(b, ']'), "nextCursor", page.NextCursor)
	if templates {
		b = append(b, `,"resourceTemplates":[`...)
	}
	for i := range page.Templates {
		b = r.core.types.appendTemplate(comma(b, i), &page.Templates[i])
		if err := r.appendLong(b, raw); err != nil {
			return err
		}
		b = b[:0]
	}
	if templates {
		b = append(b, ']')
	}
	return r.appendLong(append(b, '}'), raw)
}

// withoutIcons returns the resources without icons and metadata, which may be large and do not help a model.
func withoutIcons(resources []abi.Resource) []abi.Resource {
	resources = slices.Clone(resources)
	for i := range resources {
		resources[i].Icons, resources[i].Meta = nil, ""
	}
	return resources
}

// templatesWithoutIcons is withoutIcons for templates.
func templatesWithoutIcons(templates []abi.Template) []abi.Template {
	templates = slices.Clone(templates)
	for i := range templates {
		templates[i].Icons, templates[i].Meta = nil, ""
	}
	return templates
}

// readTool answers the contents of a resource: pictures and sound as blocks of their own, which clients show a model, and
// all others as embedded resources.
func (c *Core) readTool(ctx context.Context, r *request, rawURI []byte) error {
	uri, err := required("uri", rawURI)
	if err != nil {
		return err
	}
	if _, err = c.readInto(ctx, r, uri, true); err != nil {
		return err
	}
	r.out = append(r.out, ']')
	return nil
}

// A mediaBlock is the block of a picture or a sound.
type mediaBlock struct {
	kind     string // image or audio; empty for an embedded resource
	mimeType string
}

// mediaBlock returns how a content is shown as media. SVG is a text to a model, and no picture to most clients. Clients
// know types of pictures in lower case and without parameters; those of sound say what codec it takes.
func (r *request) mediaBlock(c *abi.Content) mediaBlock {
	if c.Kind != abi.KindBlob || !abi.IsMIMEType(c.MIMEType) {
		return mediaBlock{}
	}
	base, _, _ := strings.Cut(strings.ToLower(c.MIMEType), ";")
	base = strings.TrimSpace(base)
	switch {
	case strings.HasPrefix(base, "image/") && base != "image/svg+xml":
		return mediaBlock{"image", base}
	case strings.HasPrefix(base, "audio/") && r.audio:
		return mediaBlock{"audio", c.MIMEType}
	}
	return mediaBlock{}
}

// appendMediaBlock appends a block up to its bytes. Its _meta has the URI, which the block itself has no place for;
// revisions before 2025-06-18 have no _meta there.
func (r *request) appendMediaBlock(b []byte, m mediaBlock, c *abi.Content) []byte {
	b = append(b, `{"type":"`...)
	b = append(b, m.kind...)
	b = append(b, '"')
	b = appendMember(b, "mimeType", m.mimeType)
	if r.structured {
		b = appendMeta(b, c.Meta, c.ETag, c.LastModified, abi.NormalURI(c.URI))
	}
	return append(b, `,"data":"`...)
}

// appendTextBlock appends one block of text, which is UTF-8.
func appendTextBlock(b []byte, text []byte) []byte {
	b = append(b, `{"type":"text","text":`...)
	b = textenc.AppendString(b, string(text))
	return append(b, '}')
}
