package check

import (
	"context"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

const maxDirectories = 1000 // in a check

const skillFile = "/SKILL.md"

func (e *entry) isDirectory() bool { return e.mimeType == abi.DirectoryType }

// checkDirectories checks the directories that are listed, those of skills, and the directories in them, and reads samples of
// their files.
func (r *run) checkDirectories(ctx context.Context) {
	queue := r.listedDirectories()
	if !resource.HasDirectories(r.cfg.Source) {
		for _, uri := range queue {
			r.report.add(ruleDirectoryUnlisted, uri, "the resource is a directory, and the provider lists no directories")
		}
		return
	}
	for known := map[string]bool{}; len(queue) > 0 && r.report.Directories < maxDirectories && ctx.Err() == nil; {
		uri := queue[0]
		queue = queue[1:]
		if normal := abi.NormalURI(uri); !known[normal] && abi.CheckURI(uri) == nil {
			known[normal] = true
			queue = append(queue, r.checkDirectory(ctx, uri)...)
		}
	}
}

// listedDirectories returns the listed resources that are directories. Without directories of the provider, those of skills are
// none.
func (r *run) listedDirectories() (uris []string) {
	for i := range r.entries {
		e := &r.entries[i]
		root, isSkill := strings.CutSuffix(e.uri, skillFile)
		switch {
		case e.isDirectory():
			uris = append(uris, e.uri)
		case isSkill && resource.HasDirectories(r.cfg.Source):
			uris = append(uris, root)
		}
	}
	return uris
}

// checkDirectory checks one directory, and returns samples of the directories in it. That names are those of files, and that each
// entry is a child, the host has checked: it fails the page.
func (r *run) checkDirectory(ctx context.Context, uri string) (directories []string) {
	r.report.Directories++
	children := r.checkPages(ctx, &list{where: uri, page: r.directoryPages(uri)})
	var inner, files []*entry
	for i := range children {
		if e := &children[i]; e.isDirectory() {
			inner = append(inner, e)
		} else {
			files = append(files, e)
		}
	}
	for _, e := range r.sample(files) {
		r.readOne(ctx, target{uri: e.uri, listed: e})
	}
	absent := strings.TrimSuffix(uri, "/") + "/" + NoSuch
	if _, err := r.directoryPages(absent)(ctx, &resource.Request{}); ctx.Err() == nil && !isNoDirectory(err) {
		r.report.add(ruleNotFound, absent, "expected not_found, but listing this directory, which does not exist, ends with %s", publicText(err))
	}
	for _, e := range r.sample(inner) {
		directories = append(directories, e.uri)
	}
	return directories
}

// isNoDirectory reports whether an error says that a URI is not one of a directory, or not one that the client may see.
func isNoDirectory(err error) bool {
	return slices.Contains([]abi.Code{abi.CodeNotFound, abi.CodeInvalidParams, abi.CodeDenied}, abi.CodeOf(err))
}

// directoryPages returns the function that answers the pages of a directory.
func (r *run) directoryPages(uri string) func(context.Context, *resource.Request) (*abi.Reply, error) {
	return func(ctx context.Context, req *resource.Request) (_ *abi.Reply, err error) {
		if req.URI, err = abi.ParseURI(uri); err != nil {
			return nil, err
		}
		return resource.ReadDirectory(ctx, r.cfg.Source, req)
	}
}
