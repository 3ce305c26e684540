package main

import (
	"io/fs"
	"strings"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// list lists the files of the branch of the owner that are configured; without them nothing. The cursor is the path of
// the last file.
func list(r *wasmres.Request, page *wasmres.Page) error {
	owner, ok := r.Config("owner")
	branch, alsoOK := r.Config("branch")
	if !ok || !alsoOK {
		return nil
	}
	repo, err := repository(r, owner)
	if err != nil {
		return err
	}
	_, body, err := get(r, repo+"/git/trees/"+escape(branch)+"?recursive=1", plain)
	if err != nil {
		return err
	}
	type tree struct {
		Truncated bool
		Tree      []struct {
			Path string
			Type string // blob, tree or commit
			Size int64
		}
	}
	all, err := decode[tree](body)
	if all.Truncated {
		r.Warn("the list is not complete: the server does not tell all files of this branch at once")
	}
	last := page.Cursor()
	if last != "" && !fs.ValidPath(last) {
		return wasmres.Invalid("unknown cursor")
	}
	for _, f := range all.Tree {
		if f.Type != "blob" || f.Path <= last {
			continue
		}
		entry := wasmres.Entry{URI: uriOf(owner, branch, f.Path), Name: f.Path, MIME: mimeOf(f.Path, true), Size: f.Size}
		if !page.Add(entry) {
			page.Next(last)
			return nil
		}
		last = f.Path
	}
	return err
}

// completeBranch suggests branches of the owner that is known.
func completeBranch(r *wasmres.Request, prefix string) (names []string, err error) {
	repo, err := repository(r, r.Var("owner"))
	if err != nil {
		return nil, nil // the owner is not known yet
	}
	_, body, err := get(r, repo+"/branches?per_page=100", plain)
	if err != nil {
		return nil, err
	}
	branches, err := decode[[]struct{ Name string }](body)
	for _, b := range branches {
		if name := strings.ReplaceAll(b.Name, "/", ":"); strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, err
}

// completePath suggests what is in the folder that a path begins with; folders end in a slash.
func completePath(r *wasmres.Request, prefix string) (paths []string, err error) {
	if r.Var("owner") == "" || r.Var("branch") == "" {
		return nil, nil
	}
	folder := prefix[:max(0, strings.LastIndexByte(prefix, '/'))]
	resp, body, err := contents(r, folder)
	if err != nil || !isFolder(resp) {
		return nil, nil // there is no such folder
	}
	entries, err := decode[[]entry](body)
	for _, e := range entries {
		if e.Type == "dir" {
			e.Path += "/"
		}
		if strings.HasPrefix(e.Path, prefix) {
			paths = append(paths, e.Path)
		}
	}
	return paths, err
}
