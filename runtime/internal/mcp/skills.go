package mcp

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/skill"
	"github.com/wasmres/wasmres/runtime/resource"
)

// The methods of the extension for skills, which is specified for the modern revision alone. Programs may call them in every
// revision.
const (
	methodDirectory  = "resources/directory/read"
	methodSkills     = "skills/list"
	methodSkill      = "skills/get"
	skillsCapability = `,"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}`
)

// hasSkills reports whether r may use the extension: only a source with directories can have skills.
func (c *Core) hasSkills(r *request) bool {
	return r.extensions && resource.HasDirectories(c.cfg.Source)
}

// skillMethod is method, for the methods of the extension.
func (c *Core) skillMethod(r *request) method {
	if !c.hasSkills(r) {
		return nil
	}
	switch r.method {
	case methodDirectory:
		return (*Core).directory
	case methodSkills:
		return (*Core).skills
	}
	return (*Core).skill
}

// directory answers one page of the children of a directory resource.
func (c *Core) directory(ctx context.Context, r *request) error {
	uri, err := r.target()
	if err != nil {
		return err
	}
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	req := r.pageRequest(cursor)
	req.URI = uri
	hold := c.cfg.InFlight.Hold()
	defer hold.End()
	reply, err := resource.ReadDirectory(inflight.With(ctx, hold), c.cfg.Source, req)
	if err != nil {
		return err
	}
	hold.Trim()
	c.beginTraced(r, r.uri)
	if err := r.appendResources(reply, r.links); err != nil {
		return err
	}
	r.endCacheable(reply.TTLMillis, reply.CacheScope)
	return nil
}

// target decodes the required parameter uri, for the log too.
func (r *request) target() (abi.URI, error) {
	uri, err := required("uri", r.params.uri)
	if err != nil {
		return abi.URI{}, err
	}
	if len(uri) <= abi.MaxURI {
		r.uri = uri
	}
	return abi.ParseURI(uri)
}

// skillReader makes the reader of skills for one request.
func (c *Core) skillReader(ctx context.Context, r *request) *skill.Reader {
	return &skill.Reader{Source: c.cfg.Source, Request: *r.sourceRequest(), LeftOut: func(uri string, reason error) {
		c.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "a skill was left out", slog.String("uri", uri), slog.String("error", causes(reason)))
	}}
}

// skills answers one page of all skills.
func (c *Core) skills(ctx context.Context, r *request) error {
	cursor, err := optional("cursor", r.params.cursor)
	if err != nil {
		return err
	}
	reader := c.skillReader(ctx, r)
	var missing []resource.Degraded
	page, err := reader.List(resource.WithDegraded(ctx, &missing), cursor)
	if err != nil {
		return err
	}
	c.beginPage(r, "", missing)
	r.out = append(r.out, `"skills":[`...)
	for i, s := range page.Skills {
		if err := r.appendSkill(i, s); err != nil {
			return err
		}
	}
	r.out = appendMember(append(r.out, ']'), "nextCursor", page.NextCursor)
	r.endCacheable(reader.TTLMillis, reader.Scope)
	return nil
}

// skill answers one skill.
func (c *Core) skill(ctx context.Context, r *request) error {
	uri, err := r.target()
	if err != nil {
		return err
	}
	reader := c.skillReader(ctx, r)
	s, err := reader.Get(ctx, uri)
	if err != nil {
		return err
	}
	c.beginTraced(r, r.uri)
	r.out = append(r.out, `"skill":`...)
	if err := r.appendSkill(0, s); err != nil {
		return err
	}
	r.endCacheable(reader.TTLMillis, reader.Scope)
	return nil
}

// appendSkill appends the entry of a skill, the one with index i of its list.
func (r *request) appendSkill(i int, s *skill.Skill) error {
	const each = 128 // bytes of an entry of a file, its URI aside
	size := len(s.Frontmatter) + 2*abi.MaxURI
	for _, f := range s.Files {
		size += len(f.URI) + each
	}
	if err := r.makeRoom(size); err != nil {
		return err
	}
	b := append(comma(r.out, i), `{"uri":`...)
	b = textenc.AppendString(b, s.URI)
	b = append(append(b, `,"frontmatter":`...), s.Frontmatter...)
	b = append(b, `,"resources":[`...)
	for i, f := range s.Files {
		b = append(comma(b, i), `{"uri":`...)
		b = textenc.AppendString(b, f.URI)
		b = append(append(append(b, `,"digest":"`...), f.Digest...), `","size":`...)
		b = append(strconv.AppendUint(b, f.Size, 10), '}')
	}
	r.out = append(b, `]}`...)
	return r.flushIfFull()
}
