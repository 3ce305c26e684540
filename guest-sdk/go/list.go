package wasmres

import (
	"strconv"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// defaultPage is how many entries a page has when the host leaves it to the guest.
const defaultPage = 500

// List registers what answers listings beside the fixed resources, page by page:
//
//	wasmres.List(func(r *wasmres.Request, page *wasmres.Page) error {
//		return page.Each(len(notes), func(i int) wasmres.Entry { return notes[i].entry() })
//	})
//
// The fixed resources of [Resource] are listed by the host and must not be added again.
func List(list func(r *Request, page *Page) error) {
	if registered.list != nil {
		panic("wasmres: List is called twice")
	}
	registered.list = list
	registered.ops |= 1 << opList
}

// DirectoryType is the MIME type of a directory resource.
const DirectoryType = "inode/directory"

// ListDirectory registers what answers the direct children of directory resources, page by page. The URI of the directory is in r,
// without a slash at its end; the URI of a child is that, a slash, and the name of the child. Directories among them have the
// type [DirectoryType]. For a URI that is not one of a directory, the answer is [NotFound].
//
// A provider with directories can have skills: each SKILL.md that [List] or [Resource] lists is one, with all files below its directory. The host
// makes their digests.
func ListDirectory(list func(r *Request, page *Page) error) {
	if registered.listDir != nil {
		panic("wasmres: ListDirectory is called twice")
	}
	registered.listDir = list
	registered.ops |= 1 << opListDir
}

// A Page takes the entries of one page of a listing.
type Page struct {
	out    *out
	cursor string
	limit  int
	count  int
	full   bool
	next   string
	ttl    time.Duration
	scope  uint64
}

// Cursor gives where to go on: what an earlier page was given by [Page.Next], or nothing at the start.
func (p *Page) Cursor() string { return p.cursor }

// Limit gives how many entries fit.
func (p *Page) Limit() int { return p.limit }

// Add puts an entry on the page. It reports false when the page is full and e is not on it: give [Page.Next] a cursor
// that leads to e, and return.
func (p *Page) Add(e Entry) bool {
	if p.full || p.count >= p.limit {
		return false
	}
	p.out.buf = e.append(p.out.buf, 1)
	p.count++
	if len(p.out.buf) >= flushAt {
		p.full = p.out.flush() != nil
	}
	return true
}

// Next sets the cursor that leads to the following page. Without it this page is the last one.
func (p *Page) Next(cursor string) { p.next = cursor }

// TTL says how long the page may be kept, by clients, and by the host if it is public.
func (p *Page) TTL(d time.Duration) { p.ttl = d }

// Public says that the page may be given to anybody, not only to who asked: with a TTL, the host keeps it, and asks again
// when that is over or the list has changed.
func (p *Page) Public() { p.scope = cachePublic }

// Each lists the entries 0 to n-1, minding cursor and limit.
func (p *Page) Each(n int, entry func(i int) Entry) error {
	start := 0
	if p.cursor != "" {
		var err error
		if start, err = strconv.Atoi(p.cursor); err != nil || start < 0 || start > n {
			return Invalid("unknown cursor")
		}
	}
	for i := start; i < n; i++ {
		if p.full || p.count >= p.limit || !p.Add(entry(i)) {
			p.Next(strconv.Itoa(i))
			return nil
		}
	}
	return nil
}

// run answers one listing.
func (p *Page) run(list func(*Request, *Page) error, r *Request) error {
	if err := list(r, p); err != nil {
		return err
	}
	b := wire.AppendString(p.out.buf, 4, p.next)
	b = wire.AppendUint(b, 10, millis(p.ttl))
	p.out.buf = wire.AppendUint(b, 11, p.scope)
	return nil
}
