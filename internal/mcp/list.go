package mcp

import (
	"context"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// maxValues is how many values one completion may hold.
const maxValues = 100

func (c *Core) list(ctx context.Context, r *request) error {
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	if c.listKept(r, cursor) {
		return nil
	}
	version, mayKeep := c.listVersion()
	var missing []Degraded
	reply, err := c.cfg.Source.List(WithDegraded(ctx, &missing), r.askPage(cursor))
	if err != nil {
		return err
	}
	c.beginPage(r, missing)
	begin := len(r.out)
	r.out = appendResources(r.out, reply, r.links)
	if mayKeep && reply.TTLMillis > 0 && reply.CacheScope == abi.CachePublic && r.isImpersonal() {
		ttl := time.Duration(min(reply.TTLMillis, maxKept)) * time.Millisecond
		c.pages.keep(pageKey{cursor, r.links}, r.out[begin:], version, ttl)
	}
	r.endCacheable(reply.TTLMillis, reply.CacheScope)
	return nil
}

// maxKept is for how long a page is kept at most, in milliseconds.
const maxKept = 3_600_000

// listKept answers with a page that was kept, if there is one.
func (c *Core) listKept(r *request, cursor string) bool {
	version, mayKeep := c.listVersion()
	if !mayKeep || !r.isImpersonal() {
		return false
	}
	body, left := c.pages.find(pageKey{cursor, r.links}, version)
	if body == nil {
		return false
	}
	c.begin(r)
	r.out = append(r.buffers.Grow(r.out, len(body)+usualTail), body...)
	r.endCacheable(uint64(left.Milliseconds()), abi.CachePublic)
	return true
}

// usualTail is what follows a page, in bytes.
const usualTail = 64

// listVersion is that of the source's list, if it has one.
func (c *Core) listVersion() (version uint64, ok bool) {
	s, ok := c.cfg.Source.(Versioned)
	if !ok {
		return 0, false
	}
	return s.ListVersion(), true
}

// isImpersonal reports whether a request tells the source nothing that the answer might depend on.
func (r *request) isImpersonal() bool { return isNull(r.params.meta) || r.params.guestMeta() == "" }

func (c *Core) templates(ctx context.Context, r *request) error {
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	var missing []Degraded
	reply, err := c.cfg.Source.Templates(WithDegraded(ctx, &missing), r.askPage(cursor))
	if err != nil {
		return err
	}
	c.beginPage(r, missing)
	r.out = appendTemplates(r.out, reply)
	r.endCacheable(reply.TTLMillis, reply.CacheScope)
	return nil
}

// appendResources appends the members of a page of resources. With links, large ones say where to download them.
func appendResources(b []byte, reply *abi.Reply, links bool) []byte {
	b = append(b, `"resources":[`...)
	for i := range reply.Resources {
		b = appendResource(comma(b, i), &reply.Resources[i], links)
	}
	return appendMember(append(b, ']'), "nextCursor", reply.NextCursor)
}

// appendTemplates appends the members of a page of templates.
func appendTemplates(b []byte, reply *abi.Reply) []byte {
	b = append(b, `"resourceTemplates":[`...)
	for i := range reply.Templates {
		b = appendTemplate(comma(b, i), &reply.Templates[i])
	}
	return appendMember(append(b, ']'), "nextCursor", reply.NextCursor)
}

// complete answers completion/complete. There are no prompts here, and some templates complete nothing: for those
// there are no values, which is all a client that asks wants to know.
func (c *Core) complete(ctx context.Context, r *request) error {
	req, isPrompt, err := r.params.completion()
	if err != nil {
		return err
	}
	req.Session = r.session
	reply := &abi.Reply{}
	if !isPrompt {
		reply, err = c.cfg.Source.Complete(ctx, req)
	}
	if abi.CodeOf(err) == abi.CodeUnsupported {
		reply, err = &abi.Reply{}, nil
	}
	if err != nil {
		return err
	}
	c.begin(r)
	r.out = appendCompletion(r.out, reply)
	r.end()
	return nil
}

// appendCompletion appends the member completion, with as many values as it may hold.
func appendCompletion(b []byte, reply *abi.Reply) []byte {
	values := reply.Completions[:min(len(reply.Completions), maxValues)]
	b = append(b, `"completion":{"values":`...)
	b = appendStrings(b, values)
	total := int(reply.CompletionTotal)
	if total > 0 {
		total = max(total, len(reply.Completions))
		b = append(b, `,"total":`...)
		b = strconv.AppendInt(b, int64(total), 10)
	}
	b = append(b, `,"hasMore":`...)
	b = strconv.AppendBool(b, reply.CompletionMore || max(total, len(reply.Completions)) > len(values))
	return append(b, '}')
}

// completion decodes the parameters of completion/complete.
func (p *params) completion() (req *abi.Request, isPrompt bool, err error) {
	var kind, uri, name, value, arguments []byte
	if !pick(p.ref, choose("type", &kind, "uri", &uri)) {
		return nil, false, invalidParams("ref is missing or not an object")
	}
	if !pick(p.argument, choose("name", &name, "value", &value)) {
		return nil, false, invalidParams("argument is missing or not an object")
	}
	if !isNull(p.context) && !pick(p.context, choose("arguments", &arguments, "", nil)) {
		return nil, false, invalidParams("context is not an object")
	}
	req = &abi.Request{Meta: p.guestMeta()}
	if req.Arg, err = required("argument.name", name); err != nil {
		return nil, false, err
	}
	if req.Value, err = required("argument.value", value); err != nil {
		return nil, false, err
	}
	if req.Vars, err = vars(arguments); err != nil {
		return nil, false, err
	}
	switch t, _ := unquote(kind); t {
	case "ref/prompt":
		return req, true, nil
	case "ref/resource":
		req.URI, err = required("ref.uri", uri)
		if err == nil && len(req.URI) > abi.MaxURI {
			err = invalidParams("ref.uri is longer than %d bytes", abi.MaxURI)
		}
		return req, false, err
	}
	return nil, false, invalidParams("ref.type is neither ref/resource nor ref/prompt")
}

// vars decodes the variables already known.
func vars(arguments []byte) (list []abi.Var, err error) {
	if isNull(arguments) {
		return nil, nil
	}
	if !isObject(arguments) {
		return nil, invalidParams("context.arguments is not an object")
	}
	eachField(arguments, 0, maxDepth, func(name, value []byte) {
		v, ok := unquote(value)
		if !ok {
			err = invalidParams("context.arguments has a value that is not a string")
		}
		list = append(list, abi.Var{Name: string(fieldName(name)), Value: v})
	})
	return list, err
}

// choose makes a setter of two fields for [pick].
func choose(name1 string, field1 *[]byte, name2 string, field2 *[]byte) func(name, value []byte) bool {
	return func(name, value []byte) bool {
		switch string(name) {
		case name1:
			return put(field1, value)
		case name2:
			return put(field2, value)
		}
		return true
	}
}
