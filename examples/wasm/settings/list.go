package main

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/wasmres/wasmres/examples/wasm/uripath"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// list lists the files of all environments, in order. The cursor is the last one.
func list(_ *wasmres.Request, page *wasmres.Page) error {
	last := page.Cursor()
	if environment, file, ok := strings.Cut(last, "/"); last != "" && !(ok && isName(environment) && isName(file)) {
		return wasmres.Invalid("unknown cursor")
	}
	environments, err := entries(".")
	if err != nil {
		return err
	}
	for _, e := range environments {
		files, err := filesOf(e)
		if err != nil {
			return err
		}
		for _, f := range files {
			name := e.Name() + "/" + f.Name()
			if name <= last {
				continue
			}
			entry := wasmres.Entry{
				URI: "config://app/" + uripath.Escape(name), Name: name, MIME: formats[strings.ToLower(path.Ext(name))].mime,
			}
			if info, err := f.Info(); err == nil {
				entry.LastModified = info.ModTime()
			}
			if !page.Add(entry) {
				page.Next(last)
				return nil
			}
			last = name
		}
	}
	return nil
}

// entries returns what is in a folder and may be shown. A folder that is gone has nothing.
func entries(folder string) (shown []fs.DirEntry, err error) {
	all, err := wasmres.Dir(root).ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, explain(folder, err)
	}
	for _, e := range all {
		if isName(e.Name()) {
			shown = append(shown, e)
		}
	}
	return shown, nil
}

// filesOf returns the files of an environment whose format is known.
func filesOf(environment fs.DirEntry) (files []fs.DirEntry, err error) {
	if !environment.IsDir() {
		return nil, nil
	}
	all, err := entries(environment.Name())
	for _, f := range all {
		if _, ok := formats[strings.ToLower(path.Ext(f.Name()))]; ok && !f.IsDir() {
			files = append(files, f)
		}
	}
	return files, err
}

func completeEnvironment(_ *wasmres.Request, prefix string) (names []string, err error) {
	all, err := entries(".")
	for _, e := range all {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// completeFile suggests files of the environment that is known, or of all.
func completeFile(r *wasmres.Request, prefix string) (names []string, err error) {
	environments, err := entries(".")
	seen := map[string]bool{}
	for _, e := range environments {
		if known := r.Var("environment"); known != "" && known != e.Name() {
			continue
		}
		files, err := filesOf(e)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if strings.HasPrefix(f.Name(), prefix) && !seen[f.Name()] {
				seen[f.Name()] = true
				names = append(names, f.Name())
			}
		}
	}
	return names, err
}
