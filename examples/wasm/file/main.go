// File serves the files of a granted directory, of any size: file:///docs/a.md is docs/a.md there.
package main

import (
	"io/fs"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// scheme is what the URIs of files begin with: a host, which is empty, and the root.
const scheme = "file:///"

// defaultRoot is where the operator grants the directory when nothing else is configured.
const defaultRoot = "/files"

func init() {
	wasmres.Provider("file", "1.0.0").
		Title("Files").
		Describe("The files of a directory, read-only.").
		Prefixes(prefixes()...).
		ConfigSchema(`{"type":"object","properties":{` +
			`"root":{"type":"string","description":"the directory, as it is granted: ` + defaultRoot + ` if nothing is said"},` +
			`"hidden":{"type":"string","enum":["true","false"],"description":"whether names may begin with a dot"}}}`)
	wasmres.Ask("fs", "reads the files that are served")

	wasmres.Template(scheme+"{+path}", readPath).
		Name("file").Title("File").Describe("A file by its path, as in file:///docs/a.md, or the files of a folder, as in file:///docs/.").
		Complete("path", complete).Ranges()
	wasmres.ReadAny(readOther)
	wasmres.List(list)
}

// A tree is what may be seen of the directory.
type tree struct {
	files  fs.FS
	root   string // where they are granted
	hidden bool   // whether names that begin with a dot are seen
}

// configured gives the tree that the operator has configured.
func configured(r *wasmres.Request) tree {
	root, ok := r.Config("root")
	if !ok {
		root = defaultRoot
	}
	hidden, _ := r.Config("hidden")
	return tree{wasmres.Dir(root), root, hidden == "true"}
}

func main() {}
