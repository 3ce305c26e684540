package check

import (
	"context"
	"crypto/sha256"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

const (
	maxEntries    = 100_000 // in a list
	maxEmptyPages = 100     // in a row
	pages         = 3       // about, of the second pass
)

// NoSuch is in each URI that a check reads although it should name nothing: as a value of a template, it may be a host.
const NoSuch = "wasmres-check-no-such-resource"

const whereList = "list"

// An entry is a listed resource, without its descriptions.
type entry struct {
	uri, mimeType string
	size          uint64
	reserved      []string          // reserved keys of its _meta
	digest        [sha256.Size]byte // of the whole resource
}

// A list is the list of all resources, or a directory.
type list struct {
	where  string
	page   func(ctx context.Context, req *resource.Request) (*abi.Reply, error)
	cursor string // the last cursor of the provider; empty for none
}

// checkList checks the list of all resources.
func (r *run) checkList(ctx context.Context) {
	r.entries = r.checkPages(ctx, &list{where: whereList, page: r.cfg.Source.List})
	r.report.Listed = len(r.entries)
}

// checkPages reads a list in pages of the provider's size, and then in smaller pages, to test the cursors of a provider
// that would otherwise answer with one page. It returns the entries.
func (r *run) checkPages(ctx context.Context, l *list) []entry {
	first, ok := r.walk(ctx, l, 0)
	r.checkEntries(first)
	if ok {
		r.walkAgain(ctx, l, first)
	}
	if ctx.Err() == nil && (len(first) > 0 || l.where == whereList) {
		r.checkCursor(ctx, l)
	}
	return first
}

// walkAgain reads the list in smaller pages and compares.
func (r *run) walkAgain(ctx context.Context, l *list, first []entry) {
	limit := uint32(max(1, (len(first)+pages-1)/pages))
	smaller, ok := r.walk(ctx, l, limit)
	if !ok {
		return
	}
	at, same := difference(first, smaller)
	if same {
		return
	}
	again, ok := r.walk(ctx, l, 0)
	if !ok {
		return
	}
	if stable, same := difference(first, again); !same {
		r.report.add(ruleListUnstable, l.where, "two passes have %d and %d entries and differ from entry %d on: %s",
			len(first), len(again), stable, pairAt(first, again, stable))
		return
	}
	r.report.add(ruleListPaging, l.where, "pages of %d give %d entries, expected %d, and differ from entry %d on: %s",
		limit, len(smaller), len(first), at, pairAt(first, smaller, at))
}

func difference(a, b []entry) (at int, same bool) {
	for at = range min(len(a), len(b)) {
		if a[at].digest != b[at].digest {
			return at, false
		}
	}
	return min(len(a), len(b)), len(a) == len(b)
}

// pairAt names the entries of two lists at an index at which they differ.
func pairAt(a, b []entry, at int) string {
	name := func(list []entry) string {
		if at >= len(list) {
			return "nothing"
		}
		return line(list[at].uri, 100)
	}
	if name(a) == name(b) {
		return name(a) + " is described differently"
	}
	return name(a) + ", then " + name(b)
}

// walk lists all entries. ok is false if it did not reach the end.
func (r *run) walk(ctx context.Context, l *list, limit uint32) (entries []entry, ok bool) {
	given := map[[sha256.Size]byte]bool{} // by digest, since cursors may be long
	empty, cursor := 0, ""
	for {
		reply, err := l.page(ctx, &resource.Request{Cursor: cursor, Limit: limit})
		switch {
		case ctx.Err() != nil:
			return entries, false
		case err != nil:
			r.report.addFailure(ruleListFails, l.where, failedPage(cursor), err)
			return entries, false
		}
		for i := range reply.Resources {
			entries = append(entries, entryOf(&reply.Resources[i]))
		}
		if empty++; len(reply.Resources) > 0 {
			empty = 0
		}
		cursor = reply.NextCursor
		digest := sha256.Sum256([]byte(cursor))
		switch {
		case cursor == "":
			return entries, true
		case given[digest]:
			r.report.add(ruleListEndless, l.where, "the cursor %.60q is repeated after %d entries", cursor, len(entries))
			return entries, false
		case empty == maxEmptyPages:
			r.report.add(ruleListEndless, l.where, "%d pages in a row are empty", empty)
			return entries, false
		case len(entries) > maxEntries:
			r.report.add(ruleListEndless, l.where, "the list has more than %d entries", maxEntries)
			return entries, false
		}
		given[digest], l.cursor = true, cursor
	}
}

func failedPage(cursor string) string {
	if cursor == "" {
		return "the first page failed"
	}
	return "a later page failed"
}

func entryOf(res *abi.Resource) entry {
	encoded := (&abi.Reply{Resources: []abi.Resource{*res}}).Append(nil)
	return entry{
		uri: res.URI, mimeType: res.MIMEType, size: res.Size, reserved: abi.ReservedMeta(res.Meta), digest: sha256.Sum256(encoded),
	}
}

// checkEntries checks the rules that need no read.
func (r *run) checkEntries(entries []entry) {
	listed := map[string]bool{}
	for _, e := range entries {
		if err := abi.CheckURI(e.uri); err != nil {
			r.report.add(ruleURIInvalid, e.uri, "%v", err)
		}
		if normal := abi.NormalURI(e.uri); listed[normal] {
			r.report.add(ruleURIDuplicate, e.uri, "the resource is listed more than once")
		} else {
			listed[normal] = true
		}
		r.checkMIME(e.uri, e.mimeType)
		r.checkMeta(e.uri, e.reserved)
	}
}

// checkMeta reports reserved keys of a _meta, which [abi.ReservedMeta] gives.
func (r *run) checkMeta(where string, reserved []string) {
	for _, key := range reserved {
		r.report.add(ruleMetaReserved, where, "the host removes %s", line(key, 100))
	}
}

// checkCursor lists with a cursor that the provider has not given. It begins as the provider's cursors do, to get past
// checks of the beginning alone.
func (r *run) checkCursor(ctx context.Context, l *list) {
	_, err := l.page(ctx, &resource.Request{Cursor: l.cursor + "\x00/../" + NoSuch})
	switch {
	case ctx.Err() != nil || abi.CodeOf(err) == abi.CodeInvalidParams:
	case err != nil:
		r.report.addFailure(ruleCursorFails, l.where, "expected invalid_params, but the list failed", err)
	default:
		r.report.add(ruleCursorTaken, l.where, "the provider accepts a cursor it has not given")
	}
}
