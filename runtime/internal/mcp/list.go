package mcp

import (
	"context"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/resource"
)

// maxValues is how many values one completion may hold.
const maxValues = 100

func (c *Core) list(ctx context.Context, r *request) error {
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	if cached, err := c.listCached(r, cursor); cached {
		return err
	}
	version, mayCache := c.listVersion()
	var missing []resource.Degraded
	hold := c.cfg.InFlight.Hold()
	defer hold.End()
	reply, err := c.askList(resource.WithDegraded(ctx, &missing), r.pageRequest(cursor), hold)
	if err != nil {
		return err
	}
	c.beginPage(r, "", missing)
	begin := len(r.out)
	if err := r.appendResources(reply, r.links); err != nil {
		return err
	}
	if !r.sent && mayCache && reply.TTLMillis > 0 && reply.CacheScope == abi.CachePublic && r.isShareable() {
		ttl := time.Duration(min(reply.TTLMillis, maxPageTTL)) * time.Millisecond
		c.pages.put(pageKey{cursor, r.links}, r.out[begin:], version, ttl)
	}
	r.endCacheable(reply.TTLMillis, reply.CacheScope)
	return nil
}

// askList asks the source for a page of resources and charges its memory to hold. If the last page was large, it
// reserves that much memory first, so that the source need not wait.
func (c *Core) askList(ctx context.Context, req *resource.Request, hold *inflight.Hold) (*abi.Reply, error) {
	if size := int(c.pageSize.Load()); size > inflight.Free {
		if err := hold.Wait(ctx, size, c.cfg.MaxWait); err != nil {
			return nil, err
		}
	}
	reply, err := c.cfg.Source.List(inflight.With(ctx, hold), req)
	if err != nil {
		return nil, err
	}
	hold.Trim()
	c.pageSize.Store(int64(hold.Used()))
	return reply, nil
}

// maxPageTTL is how long a page is cached at most, in milliseconds.
const maxPageTTL = 3_600_000

// listCached answers with a cached page, if there is one.
func (c *Core) listCached(r *request, cursor string) (cached bool, err error) {
	version, mayCache := c.listVersion()
	if !mayCache || !r.isShareable() {
		return false, nil
	}
	body, left := c.pages.get(pageKey{cursor, r.links}, version)
	if body == nil {
		return false, nil
	}
	c.beginTraced(r, "")
	if err := r.appendLong(body, true); err != nil {
		return true, err
	}
	r.endCacheable(uint64(left.Milliseconds()), abi.CachePublic)
	return true, nil
}

// listVersion is that of the source's list, if it has one.
func (c *Core) listVersion() (version uint64, ok bool) {
	s, ok := c.cfg.Source.(resource.Versioned)
	if !ok {
		return 0, false
	}
	return s.ListVersion(), true
}

// isShareable reports whether other clients may get the same answer: the request has no _meta for the provider.
func (r *request) isShareable() bool { return isNull(r.params.meta) || r.params.guestMeta() == "" }

func (c *Core) templates(ctx context.Context, r *request) error {
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	var missing []resource.Degraded
	reply, err := c.cfg.Source.Templates(resource.WithDegraded(ctx, &missing), r.pageRequest(cursor))
	if err != nil {
		return err
	}
	c.beginPage(r, "", missing)
	if err := r.appendTemplates(reply); err != nil {
		return err
	}
	r.endCacheable(reply.TTLMillis, reply.CacheScope)
	return nil
}

// appendResources appends the members of a page of resources. With links, large ones have a link to download them.
func (r *request) appendResources(reply *abi.Reply, links bool) error {
	r.out = append(r.out, `"resources":[`...)
	for i := range reply.Resources {
		one := &reply.Resources[i]
		if err := r.makeRoom(maxEscape * one.Weight()); err != nil {
			return err
		}
		r.out = r.core.types.appendResource(comma(r.out, i), one, links)
		if err := r.flushIfFull(); err != nil {
			return err
		}
	}
	r.out = appendMember(append(r.out, ']'), "nextCursor", reply.NextCursor)
	return nil
}

// appendTemplates appends the members of a page of templates.
func (r *request) appendTemplates(reply *abi.Reply) error {
	r.out = append(r.out, `"resourceTemplates":[`...)
	for i := range reply.Templates {
		one := &reply.Templates[i]
		if err := r.makeRoom(maxEscape * one.Weight()); err != nil {
			return err
		}
		r.out = r.core.types.appendTemplate(comma(r.out, i), one)
		if err := r.flushIfFull(); err != nil {
			return err
		}
	}
	r.out = appendMember(append(r.out, ']'), "nextCursor", reply.NextCursor)
	return nil
}

// complete answers completion/complete. A template without completion has no values, which is no error.
func (c *Core) complete(ctx context.Context, r *request) error {
	req, err := r.params.completion()
	if err != nil {
		return err
	}
	req.Session = r.session
	r.access.setTarget(req.Template)
	reply, err := c.cfg.Source.Complete(ctx, req)
	if abi.CodeOf(err) == abi.CodeUnsupported {
		reply, err = &abi.Reply{}, nil
	}
	if err != nil {
		return err
	}
	c.beginTraced(r, "")
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

// completion decodes the parameters of completion/complete. Any prompt is unknown: the server offers none.
func (p *params) completion() (req *resource.Request, err error) {
	var kind, uri, name, value, arguments []byte
	if !parseObject(p.ref, choose("type", &kind, "uri", &uri)) {
		return nil, invalidParams("ref is missing or not an object")
	}
	if !parseObject(p.argument, choose("name", &name, "value", &value)) {
		return nil, invalidParams("argument is missing or not an object")
	}
	if !isNull(p.context) && !parseObject(p.context, choose("arguments", &arguments, "", nil)) {
		return nil, invalidParams("context is not an object")
	}
	req = &resource.Request{Meta: p.guestMeta()}
	if req.Arg, err = required("argument.name", name); err != nil {
		return nil, err
	}
	if req.Value, err = required("argument.value", value); err != nil {
		return nil, err
	}
	if req.Vars, err = vars(arguments); err != nil {
		return nil, err
	}
	switch t, _ := unquote(kind); t {
	case "ref/prompt":
		return nil, invalidParams("this server has no prompts")
	case "ref/resource":
		req.Template, err = required("ref.uri", uri)
		if err == nil && len(req.Template) > abi.MaxURI {
			err = invalidParams("ref.uri is longer than %d bytes", abi.MaxURI)
		}
		return req, err
	}
	return nil, invalidParams("ref.type is neither ref/resource nor ref/prompt")
}

// vars decodes the variables that the client knows already.
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

// choose makes a setter of two fields for [parseObject].
func choose(name1 string, field1 *[]byte, name2 string, field2 *[]byte) func(name, value []byte) bool {
	return func(name, value []byte) bool {
		switch string(name) {
		case name1:
			return setOnce(field1, value)
		case name2:
			return setOnce(field2, value)
		}
		return true
	}
}
