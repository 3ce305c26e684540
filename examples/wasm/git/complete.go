package main

import (
	"errors"
	"io"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// suggested is how many values reach a client.
const suggested = 100

// completeRef suggests HEAD, branches and tags.
func completeRef(_ *wasmres.Request, prefix string) ([]string, error) {
	g, err := open()
	if err != nil {
		return nil, err
	}
	return g.names(prefix)
}

// names gives those of HEAD, branches and tags that begin with prefix, each once.
func (g *repository) names(prefix string) (found []string, err error) {
	if strings.HasPrefix(headName, prefix) {
		found = append(found, headName)
	}
	for _, dir := range []string{branchDir, tagDir, remoteDir} {
		refs, err := g.refs(dir)
		if err != nil {
			return nil, err
		}
		for _, r := range refs {
			if strings.HasPrefix(r.short(), prefix) && len(found) < suggested {
				found = append(found, r.short())
			}
		}
	}
	return found, nil
}

// completeCommit suggests what completeRef does, and the newest commits before HEAD.
func completeCommit(_ *wasmres.Request, prefix string) ([]string, error) {
	g, err := open()
	if err != nil {
		return nil, err
	}
	found, err := g.names(prefix)
	if err != nil {
		return nil, err
	}
	tip, err := g.head()
	if tip == nil {
		return found, err
	}
	commits, err := g.history(tip)
	for n := 0; err == nil && n < logDefault && len(found) < suggested; n++ {
		c, end := commits.Next()
		if end == io.EOF {
			break
		}
		if err = end; err == nil && strings.HasPrefix(c.Hash.String(), prefix) {
			found = append(found, c.Hash.String())
		}
	}
	return found, err
}

// completePath suggests files and folders, one level at a time; folders end in a slash.
func completePath(r *wasmres.Request, prefix string) ([]string, error) {
	return complete(r, prefix, true)
}

// completeFolder suggests folders, one level at a time; they end in a slash.
func completeFolder(r *wasmres.Request, prefix string) ([]string, error) {
	return complete(r, prefix, false)
}

// complete suggests what is in a folder. One that does not exist has nothing to suggest.
func complete(r *wasmres.Request, prefix string, files bool) (found []string, err error) {
	g, c, err := openAt(r)
	if errors.Is(err, wasmres.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir, _ := path.Split(prefix)
	dir = strings.TrimSuffix(dir, "/")
	tree, err := g.folder(c, dir)
	if errors.Is(err, wasmres.ErrNotFound) || errors.Is(err, wasmres.ErrInvalid) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range tree.Entries {
		name := join(dir, e.Name)
		isFile := e.Mode != filemode.Dir
		if !strings.HasPrefix(name, prefix) || e.Mode == filemode.Submodule || isFile && !files || uriOf("", name, "") == "" {
			continue
		}
		if !isFile {
			name += "/"
		}
		if found = append(found, name); len(found) == suggested {
			break
		}
	}
	return found, nil
}
