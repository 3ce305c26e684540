package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const (
	tagsMax = 10   // tags that may be of each other
	backMax = 1000 // commits that ~ goes back
	hashMin = 4    // digits of a shortened hash
)

// openAt opens the repository, and finds the commit that the variable ref of a request means.
func openAt(r *wasmres.Request) (*repository, *object.Commit, error) {
	g, err := open()
	if err != nil {
		return nil, nil, err
	}
	c, err := g.resolve(r.Var("ref"))
	return g, c, err
}

// resolve gives the commit that a revision means, as people write them: HEAD, main, v1.0, origin/main, refs/heads/main,
// a hash or its beginning, each with ~N or ^N behind it. Nothing means HEAD.
func (g *repository) resolve(revision string) (*object.Commit, error) {
	if revision == "" {
		revision = headName
	}
	at := strings.IndexAny(revision, "~^")
	if at < 0 {
		at = len(revision)
	}
	hash, err := g.lookUp(revision[:at])
	if errors.Is(err, errNoRef) {
		return nil, wasmres.NotFound("the repository has no " + strconv.Quote(revision[:at]))
	}
	if err != nil {
		return nil, err
	}
	c, err := g.commitOf(hash)
	if err != nil {
		return nil, err
	}
	return g.ancestor(c, revision[at:])
}

// lookUp gives the object that a name or a hash means.
func (g *repository) lookUp(name string) (plumbing.Hash, error) {
	if name == "@" {
		name = headName
	}
	if plumbing.IsHash(name) {
		return plumbing.NewHash(name), nil
	}
	for _, rule := range plumbing.RefRevParseRules {
		if r, err := g.ref(fmt.Sprintf(rule, name)); !errors.Is(err, errNoRef) {
			return r.hash, err
		}
	}
	digits := strings.ToLower(name)
	if len(digits) < hashMin || len(digits) > len(zeros) || strings.Trim(digits, "0123456789abcdef") != "" {
		return plumbing.ZeroHash, errNoRef
	}
	found, err := g.withPrefix(digits)
	switch {
	case err != nil:
		return plumbing.ZeroHash, err
	case len(found) == 0:
		return plumbing.ZeroHash, errNoRef
	case len(found) > 1:
		return plumbing.ZeroHash, wasmres.Invalid("several objects begin with " + digits + ": give more digits")
	}
	return found[0], nil
}

// commitOf gives the commit that an object is, or is a tag of.
func (g *repository) commitOf(hash plumbing.Hash) (*object.Commit, error) {
	for range tagsMax {
		o, err := g.EncodedObject(plumbing.AnyObject, hash)
		if err != nil {
			return nil, missing(hash, err)
		}
		switch o.Type() {
		case plumbing.CommitObject:
			return g.decode(o)
		case plumbing.TagObject:
			tag, err := object.DecodeTag(g, o)
			if err != nil {
				return nil, err
			}
			hash = tag.Target
		default:
			return nil, wasmres.NotFound(hash.String() + " is no commit, but a " + o.Type().String())
		}
	}
	return nil, fmt.Errorf("the tag %s leads to tags without end", hash)
}

// decode gives a commit, without parents that the clone does not have.
func (g *repository) decode(o plumbing.EncodedObject) (*object.Commit, error) {
	c, err := object.DecodeCommit(g, o)
	if err == nil && g.shallow[c.Hash] {
		c.ParentHashes = nil
	}
	return c, err
}

// ancestor goes back from a commit: ~2 is the parent's parent, ^2 the second parent.
func (g *repository) ancestor(c *object.Commit, way string) (*object.Commit, error) {
	for total := 0; way != ""; {
		times, parent, rest, err := step(way)
		if err != nil {
			return nil, err
		}
		if total += times; total > backMax {
			return nil, errFar
		}
		for range times {
			if parent >= len(c.ParentHashes) {
				return nil, wasmres.NotFound(c.Hash.String() + " has " + strconv.Itoa(len(c.ParentHashes)) + " parents")
			}
			if c, err = g.commitOf(c.ParentHashes[parent]); err != nil {
				return nil, err
			}
		}
		way = rest
	}
	return c, nil
}

var errFar = wasmres.Invalid("no more than " + strconv.Itoa(backMax) + " commits back")

// step reads the first step of a way, as in ~2^2: how many times to go to which parent.
func step(way string) (times, parent int, rest string, err error) {
	rest = strings.TrimLeft(way[1:], "0123456789")
	n := 1
	if digits := way[1 : len(way)-len(rest)]; digits != "" {
		if n, err = strconv.Atoi(digits); err != nil || n > backMax {
			return 0, 0, "", errFar
		}
	}
	switch {
	case way[0] == '~':
		return n, 0, rest, nil
	case way[0] == '^' && n == 0:
		return 0, 0, rest, nil
	case way[0] == '^':
		return 1, n - 1, rest, nil
	}
	return 0, 0, "", wasmres.Invalid("a revision ends in ~N or ^N, not in " + strconv.Quote(way))
}

// missing explains that an object cannot be had.
func missing(hash plumbing.Hash, err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return wasmres.NotFound("the repository has no object " + hash.String())
	}
	if errors.Is(err, errTooLarge) {
		return &wasmres.Error{Code: wasmres.ErrTooLarge.Code, Message: err.Error()}
	}
	return err
}
