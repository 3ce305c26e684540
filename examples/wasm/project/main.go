// Project serves the files of a granted directory: a readme, a license, every file, and numbers about them.
package main

import (
	"io/fs"
	"strconv"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// root is where the operator mounts the project.
const root = "/project"

// watchEvery is how often the files somebody follows are looked at.
const watchEvery = 2 * time.Second

var project = wasmres.Dir(root)

func init() {
	wasmres.Provider("project", "1.0.0").
		Title("Project files").
		Describe("The files of a project folder, read-only. Names that begin with a dot stay private.").
		Prefixes("project://")
	wasmres.Ask("fs", "reads the project's files, mounted at "+root).Params(`{"paths":["` + root + `"]}`)

	wasmres.ReadAny(readOther).Watch(watchEvery, otherVersion)
	wasmres.Template("project://file/{filename}", file("filename")).
		Name("file").Describe("A file at the top of the project, or the files of a folder there.").
		Complete("filename", completeName).Watch(watchEvery, version("filename"))
	wasmres.Template("project://file/{+path}", file("path")).
		Name("path").Describe("A file anywhere in the project, as in src/main.go, or the files of a folder, as in src/.").
		Complete("path", completePath).Watch(watchEvery, version("path"))
	wasmres.Template("project://stats/{filename}", stats("filename")).
		Name("stats").Describe("Lines, words, bytes and time of change of a file at the top.").MIME("application/json").
		Complete("filename", completeName)
	wasmres.Template("project://stats/{+path}", stats("path")).
		Name("path-stats").Describe("The same of a file anywhere in the project.").MIME("application/json").
		Complete("path", completePath)

	wasmres.List(list)
}

// readOther serves documents, and the files at the top.
func readOther(r *wasmres.Request) (wasmres.Content, error) {
	if r.URI == uriPrefix {
		return openFolder(".")
	}
	return readDocument(r)
}

func otherVersion(r *wasmres.Request) (string, error) {
	if r.URI == uriPrefix {
		return folderVersion(".")
	}
	return documentVersion(r)
}

// file serves the file, or the files of the folder, that a template variable names.
func file(variable string) func(*wasmres.Request) (wasmres.Content, error) {
	return func(r *wasmres.Request) (wasmres.Content, error) {
		name, isFolder := strings.CutSuffix(r.Var(variable), "/")
		if isFolder {
			return openFolder(name)
		}
		if err := check(name); err != nil {
			return wasmres.Content{}, err
		}
		c, err := open(name)
		if err == errFolder {
			return openFolder(name)
		}
		return c, err
	}
}

func version(variable string) func(*wasmres.Request) (string, error) {
	return func(r *wasmres.Request) (string, error) {
		name, isFolder := strings.CutSuffix(r.Var(variable), "/")
		if isFolder {
			return folderVersion(name)
		}
		if err := check(name); err != nil {
			return "", err
		}
		return etagOf(name)
	}
}

func etagOf(name string) (string, error) {
	info, err := fs.Stat(project, name)
	if err != nil {
		return "", explain(name, err)
	}
	if info.IsDir() {
		return folderVersion(name)
	}
	return etag(info), nil
}

// etag names a version of a file by its time of change and its size.
func etag(info fs.FileInfo) string {
	return strconv.FormatInt(info.ModTime().UnixMilli(), 36) + "-" + strconv.FormatInt(info.Size(), 36)
}

func main() {}
