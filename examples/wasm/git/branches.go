package main

import (
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/wasmres/wasmres/examples/wasm/uripath"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// A branchJSON describes a branch, or a tag.
type branchJSON struct {
	Name    string `json:"name"`
	Current bool   `json:"current,omitempty"`
	Remote  bool   `json:"remote,omitempty"`
	Commit  string `json:"commit"`
	Log     string `json:"log"`
}

func branches(*wasmres.Request) (wasmres.Content, error) {
	g, err := open()
	if err != nil {
		return wasmres.Content{}, err
	}
	current, err := g.branch()
	if err != nil {
		return wasmres.Content{}, err
	}
	all := []branchJSON{}
	for _, dir := range []string{branchDir, remoteDir} {
		refs, err := g.refs(dir)
		if err != nil {
			return wasmres.Content{}, err
		}
		for _, r := range refs {
			b := branchJSON{Name: r.short(), Commit: r.hash.String(), Log: "git://log?ref=" + uripath.EscapeSegment(r.short())}
			b.Remote = dir == remoteDir
			b.Current = !b.Remote && b.Name == current
			all = append(all, b)
		}
	}
	return g.refsJSON(map[string]any{"branches": all})
}

func tags(*wasmres.Request) (wasmres.Content, error) {
	g, err := open()
	if err != nil {
		return wasmres.Content{}, err
	}
	refs, err := g.refs(tagDir)
	if err != nil {
		return wasmres.Content{}, err
	}
	all := []branchJSON{}
	for _, r := range refs {
		hash, err := g.peel(r)
		if err != nil {
			return wasmres.Content{}, err
		}
		all = append(all, branchJSON{Name: r.short(), Commit: hash.String(), Log: "git://log?ref=" + uripath.EscapeSegment(r.short())})
	}
	return g.refsJSON(map[string]any{"tags": all})
}

// peel gives the commit a tag is of. A tag of something else, as a file, is of that.
func (g *repository) peel(r ref) (plumbing.Hash, error) {
	if !r.peeled.IsZero() {
		return r.peeled, nil
	}
	c, err := g.commitOf(r.hash)
	if errors.Is(err, wasmres.ErrNotFound) {
		return r.hash, nil
	}
	if err != nil {
		return r.hash, err
	}
	return c.Hash, nil
}

func (g *repository) refsJSON(v any) (wasmres.Content, error) {
	version, err := g.refsVersion()
	if err != nil {
		return wasmres.Content{}, err
	}
	return asJSON(v, version)
}

func watchRefs(*wasmres.Request) (string, error) {
	g, err := open()
	if err != nil {
		return "", err
	}
	version, err := g.refsVersion()
	return etagOf(version), err
}

// refsVersion gives what differs when a branch or a tag does, or what is checked out.
func (g *repository) refsVersion() (string, error) {
	var b strings.Builder
	current, err := g.branch()
	if err != nil {
		return "", err
	}
	b.WriteString(current)
	for _, dir := range []string{branchDir, remoteDir, tagDir} {
		refs, err := g.refs(dir)
		if err != nil {
			return "", err
		}
		for _, r := range refs {
			b.WriteString("\n" + r.name + " " + r.hash.String())
		}
	}
	return b.String(), nil
}
