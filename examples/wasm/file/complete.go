package main

import (
	"errors"
	"io/fs"
	"strings"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// suggestions is how many values reach clients.
const suggestions = 100

// complete suggests files and folders, one level at a time; folders end in a slash.
func complete(r *wasmres.Request, typed string) ([]string, error) {
	t, dir, prefix := configured(r), ".", typed
	if i := strings.LastIndexByte(typed, '/'); i >= 0 {
		dir, prefix = typed[:i], typed[i+1:]
		if t.check(dir) != nil {
			return nil, nil
		}
	}
	found, err := t.suggest(dir, prefix)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) { // no such folder, or it is a file
		return nil, nil
	}
	return found, t.explain(dir, err)
}

// suggest gives the paths of what is in a folder and begins with a prefix. In the order of names, that is the prefix
// itself and what comes right after it.
func (t tree) suggest(dir, prefix string) (found []string, err error) {
	if path := join(dir, prefix); prefix != "" && t.check(path) == nil {
		if info, err := fs.Stat(t.files, path); err == nil {
			found = t.appendPath(found, path, info.IsDir())
		}
	}
	for after := prefix; len(found) < suggestions; {
		entries, err := wasmres.ReadDirAfter(t.files, dir, after, batch)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if after = e.Name(); !strings.HasPrefix(after, prefix) {
				return found, nil
			}
			found = t.appendPath(found, join(dir, after), e.IsDir())
		}
		if len(entries) < batch {
			break
		}
	}
	return found[:min(len(found), suggestions)], nil
}

// appendPath appends what can be asked for.
func (t tree) appendPath(found []string, path string, isDir bool) []string {
	if uriOf(path) == "" || !t.shows(path) {
		return found
	}
	if isDir {
		path += "/"
	}
	return append(found, path)
}
