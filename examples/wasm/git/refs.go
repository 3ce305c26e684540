package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	linksMax  = 5        // symbolic refs that may lead to each other
	looseMax  = 4 << 10  // bytes of a file that holds one ref
	packedMax = 16 << 20 // bytes of packed-refs
	refsMax   = 100_000  // refs there may be
	headName  = "HEAD"
	branchDir = "refs/heads/"
	remoteDir = "refs/remotes/"
	tagDir    = "refs/tags/"
)

// A ref is a name for an object.
type ref struct {
	name   string // in full, as in refs/heads/main
	hash   plumbing.Hash
	peeled plumbing.Hash // what the tag is of; zero when unknown, or when it is none
}

// errNoRef says that there is no such ref.
var errNoRef = errors.New("no such ref")

// ref gives the ref of a name in full. A symbolic one leads to its target, whose name is given.
func (g *repository) ref(name string) (ref, error) {
	for range linksMax {
		if !isRefName(name) {
			return ref{}, errNoRef
		}
		content, err := readFile(g.home(name), name, looseMax)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) { // a folder is invalid
			return g.packedRef(name)
		}
		if err != nil {
			return ref{}, err
		}
		text := strings.TrimSpace(string(content))
		target, symbolic := strings.CutPrefix(text, "ref:")
		if !symbolic {
			if !plumbing.IsHash(text) {
				return ref{}, fmt.Errorf("the ref %q is damaged", name)
			}
			return ref{name: name, hash: plumbing.NewHash(text)}, nil
		}
		name = strings.TrimSpace(target)
	}
	return ref{}, fmt.Errorf("the ref %q leads nowhere", name)
}

// isRefName reports whether a name is below refs or one like HEAD, and no way to another file.
func isRefName(name string) bool {
	top := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
	return (top || strings.HasPrefix(name, "refs/")) && fs.ValidPath(name) && !strings.ContainsFunc(name, unwritable)
}

// home gives the folder that has a ref: each working tree has a HEAD of its own.
func (g *repository) home(name string) fs.FS {
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, own) {
			return g.own
		}
	}
	if strings.HasPrefix(name, "refs/") {
		return g.common
	}
	return g.own
}

// packedRef finds a ref in the file packed-refs.
func (g *repository) packedRef(name string) (ref, error) {
	packed, err := g.packedRefs()
	if err != nil {
		return ref{}, err
	}
	_, rest, found := strings.Cut(packed, " "+name+"\n")
	if !found {
		return ref{}, errNoRef
	}
	line := packed[:len(packed)-len(rest)]
	r, ok := parsePacked(line[strings.LastIndexByte(line[:len(line)-1], '\n')+1:], rest)
	if !ok {
		return ref{}, errNoRef
	}
	return r, nil
}

// packedBelow gives the refs that packed-refs has below a folder.
func (g *repository) packedBelow(dir string) (found []ref, err error) {
	packed, err := g.packedRefs()
	for err == nil && packed != "" {
		at := strings.IndexByte(packed, '\n') + 1
		line, rest := packed[:at], packed[at:]
		packed = rest
		if _, name, _ := strings.Cut(line, " "); !strings.HasPrefix(name, dir) {
			continue
		}
		if r, ok := parsePacked(line, rest); ok {
			found = append(found, r)
		}
	}
	return found, err
}

// packedRefs gives what packed-refs has: lines that all end.
func (g *repository) packedRefs() (string, error) {
	if g.packed != "" {
		return g.packed, nil
	}
	content, err := readFile(g.common, "packed-refs", packedMax)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	g.packed = string(content) + "\n"
	return g.packed, nil
}

// parsePacked reads a line of packed-refs, a hash and a name. The next one, if it begins with ^, says what the tag is
// of.
func parsePacked(line, rest string) (r ref, ok bool) {
	hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	if !plumbing.IsHash(hash) || !isRefName(name) {
		return r, false
	}
	r = ref{name: name, hash: plumbing.NewHash(hash)}
	if next, _, _ := strings.Cut(rest, "\n"); strings.HasPrefix(next, "^") && plumbing.IsHash(next[1:]) {
		r.peeled = plumbing.NewHash(next[1:])
	}
	return r, true
}

func compareRefs(a, b ref) int { return strings.Compare(a.name, b.name) }

// refs gives all refs below a folder such as refs/heads/, by name. Symbolic ones are left out.
func (g *repository) refs(dir string) ([]ref, error) {
	packed, err := g.packedBelow(dir)
	if err != nil {
		return nil, err
	}
	var all []ref
	err = fs.WalkDir(g.common, path.Clean(dir), func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // all are packed, or it is just gone
		}
		if err != nil || d.IsDir() {
			return err
		}
		if len(all) == refsMax {
			return fmt.Errorf("there are more than %d refs", refsMax)
		}
		if r, err := g.ref(name); err == nil && r.name == name {
			all = append(all, r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all = append(all, packed...)
	slices.SortStableFunc(all, compareRefs) // those that have a file first
	return slices.CompactFunc(all, func(a, b ref) bool { return a.name == b.name }), nil
}

// short gives the name people use.
func (r ref) short() string {
	for _, dir := range []string{branchDir, tagDir, remoteDir} {
		if name, ok := strings.CutPrefix(r.name, dir); ok {
			return name
		}
	}
	return r.name
}
