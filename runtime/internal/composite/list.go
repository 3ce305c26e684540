package composite

import (
	"context"
	"log/slog"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A kind of list, as cursors name it.
type kind byte

const (
	resources kind = 'r'
	templates kind = 't'
)

// ListVersion implements [resource.Versioned]: it is another number whenever that of a member is.
func (s *Source) ListVersion() (version uint64) {
	for _, m := range s.members {
		if v, ok := m.Source.(resource.Versioned); ok {
			version += v.ListVersion()
		}
	}
	return version
}

// Provenance implements [resource.Traceable]: that of the member to which the URI belongs, or of all members.
func (s *Source) Provenance(uri abi.URI) (all []*resource.Provenance) {
	if !uri.IsZero() {
		if i, ok := s.owners.of(uri); ok {
			return resource.ProvenanceOf(s.members[i].Source, uri)
		}
		return nil
	}
	for _, m := range s.members {
		all = append(all, resource.ProvenanceOf(m.Source, uri)...)
	}
	return all
}

// Owner implements [resource.Owned].
func (s *Source) Owner(uri abi.URI) (provider string, ok bool) {
	i, ok := s.owners.of(uri)
	if !ok {
		return "", false
	}
	return s.members[i].Name, true
}

// TemplateOwner implements [resource.Owned].
func (s *Source) TemplateOwner(template string) (provider string, ok bool) {
	i, ok := s.owners.ofTemplate(template)
	if !ok {
		return "", false
	}
	return s.members[i].Name, true
}

// List implements [resource.Source].
func (s *Source) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.list(ctx, resources, req)
}

// Templates implements [resource.Source].
func (s *Source) Templates(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.list(ctx, templates, req)
}

// A page is a page that is being filled.
type page struct {
	at       place // where the list goes on
	room     int   // entries that still fit
	more     bool  // the member at which the list continues has more entries
	degraded bool
	reply    *abi.Reply
}

func (s *Source) list(ctx context.Context, k kind, req *resource.Request) (*abi.Reply, error) {
	at, err := s.cursors.read(k, req.Cursor)
	if err != nil {
		return nil, err
	}
	p := &page{at: at, room: s.cfg.PageSize, reply: &abi.Reply{TTLMillis: ^uint64(0), CacheScope: abi.CachePublic}}
	for p.room > 0 && !p.more && p.at.member < len(s.members) {
		m := s.members[p.at.member]
		answer, err := s.ask(ctx, m, req, p)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err() // the caller has given up; the member has not failed
		}
		if err == nil {
			err = s.take(p, answer)
		}
		if err != nil {
			s.degrade(ctx, p, m, err)
		}
	}
	s.finish(p, req.Cursor == "")
	return p.reply, nil
}

// ask asks a member for as many entries as there is room for.
func (s *Source) ask(ctx context.Context, m *member, req *resource.Request, p *page) (*abi.Reply, error) {
	asked, k := *req, p.at.kind // a copy: the call may outlast the page
	asked.Cursor, asked.Limit = p.at.own, uint32(p.room)
	return callMember(ctx, s, m, func(ctx context.Context) (*abi.Reply, error) {
		if k == templates {
			return m.Source.Templates(ctx, &asked)
		}
		return m.Source.List(ctx, &asked)
	})
}

// degrade skips the remaining entries of a member, and marks the page as degraded.
func (s *Source) degrade(ctx context.Context, p *page, m *member, err error) {
	s.warn(ctx, "provider left out of a list", m, err)
	resource.Degrade(ctx, resource.Degraded{Provider: m.Name, Code: abi.CodeOf(err)})
	p.degraded = true
	p.next()
}

// warn logs the failure of a member.
func (s *Source) warn(ctx context.Context, what string, m *member, err error) {
	s.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, what, slog.String("provider", m.Name),
		slog.String("code", abi.CodeOf(err).String()), slog.Any("err", err))
}

// next continues with the next member.
func (p *page) next() { p.at = place{kind: p.at.kind, member: p.at.member + 1} }

// take adds a member's answer to the page, and sets where the list continues.
func (s *Source) take(p *page, answer *abi.Reply) error {
	p.reply.TTLMillis = min(p.reply.TTLMillis, answer.TTLMillis)
	if answer.CacheScope != abi.CachePublic {
		p.reply.CacheScope = abi.CachePrivate
	}
	taken, cut := s.entries(p, answer)
	p.room -= taken
	switch {
	case cut:
		p.at.skip += taken
	case answer.NextCursor == "":
		p.next()
		return nil
	case answer.NextCursor == p.at.own || len(answer.NextCursor) > maxMemberCursor:
		return abi.Errorf(abi.CodeProtocol, "the list does not advance: its next cursor repeats the last, or is too long")
	default:
		p.at.own, p.at.skip = answer.NextCursor, 0
	}
	p.more = true
	return nil
}

// entries adds the entries that fit to the page. It returns how many entries of the answer are done, including skipped
// ones of other members, and whether some did not fit.
func (s *Source) entries(p *page, answer *abi.Reply) (taken int, cut bool) {
	if p.at.kind == templates {
		list := truncate(answer.Templates, p)
		p.reply.Templates = concat(p.reply.Templates, list)
		return len(list), len(answer.Templates) > p.at.skip+len(list)
	}
	list := truncate(answer.Resources, p)
	p.reply.Resources = concat(p.reply.Resources, s.ownOf(p.at.member, list))
	return len(list), len(answer.Resources) > p.at.skip+len(list)
}

// truncate returns the entries of a member's page that belong on this page.
func truncate[T any](list []T, p *page) []T {
	list = list[min(p.at.skip, len(list)):]
	return list[:min(p.room, len(list))]
}

// concat appends to a list without changing its backing array, which may belong to a member.
func concat[T any](list, more []T) []T {
	if len(list) == 0 {
		return slices.Clip(more)
	}
	return append(list, more...)
}

// ownOf returns list without entries that belong to other members.
func (s *Source) ownOf(member int, list []abi.Resource) []abi.Resource {
	first := 0 // the index of the first foreign entry
	for first < len(list) && !s.owners.ownedByOther(member, list[first].URI) {
		first++
	}
	if first == len(list) {
		return list
	}
	own := slices.Clone(list[:first])
	for i := first + 1; i < len(list); i++ {
		if !s.owners.ownedByOther(member, list[i].URI) {
			own = append(own, list[i])
		}
	}
	s.cfg.Logger.Debug("provider listed resources of another, left out",
		"provider", s.members[member].Name, "entries", len(list)-len(own))
	return own
}

// finish sets where the list continues, and how long and in which caches the page may be stored.
func (s *Source) finish(p *page, first bool) {
	if p.at.member < len(s.members) {
		p.reply.NextCursor = s.cursors.write(p.at)
	}
	if !first || p.reply.NextCursor != "" {
		p.reply.CacheScope = abi.CachePrivate // the strictest scope: members may differ
	}
	if p.degraded {
		p.reply.TTLMillis, p.reply.CacheScope = 0, abi.CachePrivate
	}
}
