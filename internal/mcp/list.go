package mcp

import (
	"context"
	"strconv"

	"github.com/wasmres/wasmres/abi"
)

// maxValues is how many values one completion may hold.
const maxValues = 100

func (c *Core) list(ctx context.Context, r *request) error {
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	reply, err := c.cfg.Source.List(ctx, r.askPage(cursor))
	if err != nil {
		return err
	}
	c.begin(r)
	r.out = appendResources(r.out, reply)
	r.endCacheable(reply.TTLMillis, reply.CacheScope)
	return nil
}

func (c *Core) templates(ctx context.Context, r *request) error {
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	reply, err := c.cfg.Source.Templates(ctx, r.askPage(cursor))
	if err != nil {
		return err
	}
	c.begin(r)
	r.out = appendTemplates(r.out, reply)
	r.endCacheable(reply.TTLMillis, reply.CacheScope)
	return nil
}

// appendResources appends the members of a page of resources.
func appendResources(b []byte, reply *abi.Reply) []byte {
	b = append(b, `"resources":[`...)
	for i := range reply.Resources {
		b = appendResource(comma(b, i), &reply.Resources[i])
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

// choose makes a picker of two fields for [pick].
func choose(name1 string, field1 *[]byte, name2 string, field2 *[]byte) func([]byte) *[]byte {
	return func(name []byte) *[]byte {
		switch string(name) {
		case name1:
			return field1
		case name2:
			return field2
		}
		return nil
	}
}
