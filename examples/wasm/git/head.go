package main

import (
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/object"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// A headJSON says what is checked out. A new repository has a branch and no commit.
type headJSON struct {
	Branch string      `json:"branch,omitempty"` // empty when a commit is checked out
	Commit *commitJSON `json:"commit,omitempty"`
}

func head(*wasmres.Request) (wasmres.Content, error) {
	g, err := open()
	if err != nil {
		return wasmres.Content{}, err
	}
	branch, err := g.branch()
	if err != nil {
		return wasmres.Content{}, err
	}
	c, err := g.head()
	if err != nil {
		return wasmres.Content{}, err
	}
	h := headJSON{Branch: branch}
	if c != nil {
		commit := describe(c)
		h.Commit = &commit
	}
	version, err := g.headVersion()
	if err != nil {
		return wasmres.Content{}, err
	}
	return asJSON(h, version)
}

func watchHead(*wasmres.Request) (string, error) {
	g, err := open()
	if err != nil {
		return "", err
	}
	version, err := g.headVersion()
	return etagOf(version), err
}

// headVersion gives what differs when another branch or commit is checked out.
func (g *repository) headVersion() (string, error) {
	branch, err := g.branch()
	if err != nil {
		return "", err
	}
	r, err := g.ref(headName)
	if errors.Is(err, errNoRef) {
		err = nil
	}
	return branch + "@" + r.hash.String(), err
}

// head gives the commit that is checked out; nil when nothing is committed yet.
func (g *repository) head() (*object.Commit, error) {
	r, err := g.ref(headName)
	if errors.Is(err, errNoRef) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return g.commitOf(r.hash)
}

// branch gives the branch that is checked out; empty for none.
func (g *repository) branch() (string, error) {
	content, err := readFile(g.own, headName, looseMax)
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "ref:")
	if !ok {
		return "", nil
	}
	return strings.TrimPrefix(strings.TrimSpace(name), branchDir), nil
}
