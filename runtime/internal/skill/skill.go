package skill

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Bounds of one skill, the first two of which the extension sets.
const (
	MaxFiles = 512
	MaxBytes = 16 << 20 // of all files

	maxDepth       = 16   // of directories below that of the skill
	maxDirectories = 512  // of the skill
	maxPages       = 2048 // of all its directories
)

// maxTime is how long one page of a list, or one skill, may take.
const maxTime = 30 * time.Second

// listPages is how many pages of the source one page of skills may be made of.
const listPages = 8

const fileName = "/SKILL.md"

// A File is one file of a skill.
type File struct {
	URI    string // in normal form
	Digest string // SHA-256 of its bytes, as in "sha256:9f86…"
	Size   uint64 // bytes
}

// A Skill is a directory with a SKILL.md.
type Skill struct {
	URI         string // of SKILL.md, in normal form
	Frontmatter string // JSON object
	Files       []File // all, SKILL.md among them, in the order of the walk
}

// A Freshness says how long an answer may be cached, and for whom: as long, and for as many, as all that it was made of.
type Freshness struct {
	TTLMillis uint64
	Scope     abi.CacheScope
	begun     bool
}

func (f *Freshness) add(reply *abi.Reply) {
	if !f.begun {
		*f = Freshness{reply.TTLMillis, reply.CacheScope, true}
		return
	}
	f.TTLMillis = min(f.TTLMillis, reply.TTLMillis)
	if reply.CacheScope != abi.CachePublic {
		f.Scope = abi.CachePrivate
	}
}

// A Reader finds the skills of a source for one request, and is used once.
type Reader struct {
	Source  resource.Source
	Request resource.Request               // what each request to the source begins with, as the session
	LeftOut func(uri string, reason error) // is told of directories that are not valid skills; nil discards
	Freshness
}

// Get returns the skill whose SKILL.md has the URI. It fails with abi.CodeInvalidParams if there is none, or none within the bounds.
func (r *Reader) Get(ctx context.Context, uri abi.URI) (*Skill, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	s, err := r.get(ctx, uri)
	if isAbsent(err) {
		absent := abi.Errorf(abi.CodeInvalidParams, "no skill is served at %.256s", uri.Normal())
		return nil, absent.Because(err)
	}
	return s, err
}

// isAbsent reports whether an error says that there is no valid skill; other errors are of the moment, or of the provider.
func isAbsent(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeNotFound, abi.CodeInvalidParams, abi.CodeTooMany, abi.CodeTooLarge, abi.CodeDenied, abi.CodeUnsupported:
		return true
	}
	return false
}

func (r *Reader) get(ctx context.Context, uri abi.URI) (*Skill, error) {
	root, name, ok := split(uri.Normal())
	if !ok {
		return nil, invalid("the URI does not end in the name of the skill and %s", fileName)
	}
	w := walk{reader: r, skill: &Skill{URI: uri.Normal()}}
	if err := w.directory(ctx, root, 0); err != nil {
		return nil, err
	}
	return w.skill, w.readAll(ctx, name)
}

// split returns the directory and the name of the skill with a SKILL.md.
func split(uri string) (root, name string, ok bool) {
	root, ok = strings.CutSuffix(uri, fileName)
	if !ok {
		return "", "", false
	}
	name, err := url.PathUnescape(root[strings.LastIndexByte(root, '/')+1:])
	return root, name, err == nil && name != ""
}

// A Page is one page of skills.
type Page struct {
	Skills     []*Skill
	NextCursor string // empty for none
}

// List returns the skills whose SKILL.md the source lists. A page has one skill at least, if one is left, and ends when its skills
// reach a bound of one. A cursor is the number of entries to pass over of a page of the source, and the cursor of that page.
func (r *Reader) List(ctx context.Context, cursor string) (*Page, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	skip, from, err := parseCursor(cursor)
	if err != nil {
		return nil, err
	}
	page := &Page{}
	for range listPages {
		req := r.Request
		req.Cursor = from
		reply, err := r.Source.List(ctx, &req)
		if err != nil {
			return nil, err
		}
		r.add(reply)
		at, err := r.addSkills(ctx, page, reply.Resources, skip)
		if err != nil {
			return nil, err
		}
		if at < len(reply.Resources) {
			page.NextCursor = strconv.Itoa(at) + ":" + from
			return page, nil
		}
		if reply.NextCursor == "" {
			return page, nil
		}
		skip, from = 0, reply.NextCursor
		page.NextCursor = "0:" + from
		if len(page.Skills) > 0 {
			return page, nil
		}
	}
	return page, nil
}

func parseCursor(cursor string) (skip int, from string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	number, from, ok := strings.Cut(cursor, ":")
	if skip, err = strconv.Atoi(number); !ok || err != nil || skip < 0 {
		return 0, "", abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
	}
	return skip, from, nil
}

// addSkills adds the skills among entries from an index on, and returns the index at which the page is full.
func (r *Reader) addSkills(ctx context.Context, page *Page, entries []abi.Resource, at int) (int, error) {
	files, size := 0, uint64(0)
	for ; at < len(entries); at++ {
		uri, err := abi.ParseURI(entries[at].URI)
		if err != nil || !strings.HasSuffix(uri.Normal(), fileName) {
			continue
		}
		if files >= MaxFiles || size >= MaxBytes {
			return at, nil
		}
		s, err := r.get(ctx, uri)
		switch {
		case isAbsent(err):
			files++ // it has cost something
			if r.LeftOut != nil {
				r.LeftOut(uri.Normal(), err)
			}
			continue
		case err != nil:
			return at, fmt.Errorf("skill %s: %w", uri, err)
		}
		page.Skills = append(page.Skills, s)
		files += len(s.Files)
		for _, f := range s.Files {
			size += f.Size
		}
	}
	return at, nil
}
