package provider

import (
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A list has the manifest's static resources, then those that the guest lists. The first letter of a cursor says in
// which of the two it continues.
const (
	cursorStatic = "s" // then the number of static resources already listed
	cursorGuest  = "g" // then the guest's own cursor
)

const maxCursor = 4 << 10 // bytes

// List answers one page of resources.
func (p *Provider) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	offset, guestCursor, err := p.parseCursor(req.Cursor)
	if err != nil {
		return nil, err
	}
	static := p.host.Manifest().Resources
	size := p.cfg.PageSize
	if req.Limit > 0 {
		size = int(min(req.Limit, uint32(size)))
	}
	end := min(offset+size, len(static))
	page := &abi.Reply{Resources: static[offset:end:end]}
	switch {
	case end < len(static):
		page.NextCursor = cursorStatic + strconv.Itoa(end)
		return page, nil
	case !p.implements(abi.OpList):
		return page, nil
	case len(page.Resources) == size:
		page.NextCursor = cursorGuest
		return page, nil
	}
	return p.addGuestPage(ctx, page, &abi.Request{
		Cursor: guestCursor, Limit: uint32(size - len(page.Resources)),
		Principal: p.principal(req), Meta: req.Meta, Session: req.Session,
	})
}

// addGuestPage fills up a page with the guest's resources, for req.
func (p *Provider) addGuestPage(ctx context.Context, page *abi.Reply, req *abi.Request) (*abi.Reply, error) {
	reply, err := p.Call(ctx, abi.OpList, req, nil)
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	reply.Resources = append(page.Resources, reply.Resources...)
	if len(p.host.Manifest().Resources) >= p.cfg.PageSize {
		// some pages of this list do not come from the guest, and all pages must agree
		reply.TTLMillis, reply.CacheScope = 0, abi.CachePrivate
	}
	if reply.NextCursor == "" {
		return reply, nil
	}
	if reply.NextCursor == req.Cursor || len(reply.NextCursor) > maxCursor {
		return nil, abi.Errorf(abi.CodeProtocol, "the provider's list does not advance: its next cursor repeats the last, or is too long")
	}
	reply.NextCursor = cursorGuest + reply.NextCursor
	return reply, nil
}

// parseCursor returns the index of the first static resource and the guest's cursor.
func (p *Provider) parseCursor(cursor string) (offset int, guest string, err error) {
	total := len(p.host.Manifest().Resources)
	switch {
	case cursor == "":
		return 0, "", nil
	case len(cursor) > maxCursor+1 || !utf8.ValidString(cursor):
	case cursor[:1] == cursorGuest && p.implements(abi.OpList):
		return total, cursor[1:], nil
	case cursor[:1] == cursorStatic:
		n, err := strconv.Atoi(cursor[1:])
		if err == nil && n > 0 && n < total {
			return n, "", nil
		}
	}
	return 0, "", abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
}

// Templates answers one page of templates, in the order the provider declared them.
func (p *Provider) Templates(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	if req.Cursor != "" {
		return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
	}
	return &abi.Reply{Templates: p.host.Manifest().Templates}, nil
}
