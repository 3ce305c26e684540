// Skills serves the agent skills of a granted directory: each folder in it that has a file SKILL.md.
package main

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/examples/wasm/uripath"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const (
	scheme   = "skill://"
	root     = "/skills" // where the operator grants the directory
	skillDoc = "SKILL.md"

	skillsMax  = 1000   // that are listed
	entriesMax = 10_000 // of the directory that are looked at for a list
	depthMax   = 16     // of folders that are looked into
	uriMax     = 2048   // bytes that the host takes for a URI
)

func init() {
	wasmres.Provider("skills", "1.0.0").
		Title("Skills").
		Describe("The agent skills in the folders of a directory.").
		Prefixes(scheme)
	wasmres.Ask("fs", "reads the skills that are served")

	wasmres.Template(scheme+"{+path}", read).
		Name("skill file").Title("Skill file").Describe("A file of a skill, as in skill://git-workflow/SKILL.md.")
	wasmres.List(list)
	wasmres.ListDirectory(listDirectory)
}

// read answers one file.
func read(r *wasmres.Request) (wasmres.Content, error) {
	file, err := checked(r.Var("path"))
	if err != nil {
		return wasmres.Content{}, err
	}
	data, err := wasmres.Dir(root).ReadFile(file)
	if err != nil {
		return wasmres.Content{}, explain(r.URI, err)
	}
	c := wasmres.Bytes(data).MIME(typeOf(file))
	if utf8.Valid(data) {
		c = c.AsText()
	}
	return c, nil
}

// list lists the SKILL.md of each skill; their other files are in their directories.
func list(_ *wasmres.Request, page *wasmres.Page) error {
	var found []string
	seen := 0
	err := fs.WalkDir(wasmres.Dir(root), ".", func(file string, e fs.DirEntry, err error) error {
		seen++
		switch {
		case err != nil && file == ".":
			return err
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return err
		case seen > entriesMax || len(found) == skillsMax:
			return fs.SkipAll
		case err == nil && !e.IsDir() && e.Name() == skillDoc && path.Dir(file) != "." && uriOf(file) != "":
			found = append(found, file)
		case e != nil && e.IsDir() && file != "." && (uriOf(file) == "" || strings.Count(file, "/") >= depthMax):
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return explain(scheme, err)
	}
	return page.Each(len(found), func(i int) wasmres.Entry {
		return wasmres.Entry{
			URI: uriOf(found[i]), Name: path.Base(path.Dir(found[i])), Description: describe(found[i]), MIME: typeOf(skillDoc),
		}
	})
}

// listDirectory lists the files and folders in one folder.
func listDirectory(r *wasmres.Request, page *wasmres.Page) error {
	dir, err := checked(r.Var("path"))
	if err != nil {
		return err
	}
	after := page.Cursor()
	if strings.ContainsAny(after, "/\\\x00") {
		return wasmres.Invalid("unknown cursor") // it is not the name of a file
	}
	entries, err := wasmres.ReadDirAfter(wasmres.Dir(root), dir, after, page.Limit()+1)
	if err != nil {
		return explain(r.URI, err)
	}
	for _, e := range entries {
		uri := uriOf(dir + "/" + e.Name())
		if uri == "" {
			after = e.Name()
			continue
		}
		if !page.Add(entryOf(uri, e)) {
			page.Next(after)
			return nil
		}
		after = e.Name()
	}
	if len(entries) > page.Limit() {
		page.Next(after)
	}
	return nil
}

func entryOf(uri string, e fs.DirEntry) wasmres.Entry {
	entry := wasmres.Entry{URI: uri, Name: e.Name(), MIME: typeOf(e.Name())}
	if e.IsDir() {
		entry.MIME = wasmres.DirectoryType
		return entry
	}
	if info, err := e.Info(); err == nil {
		entry.Size, entry.LastModified = info.Size(), info.ModTime()
	}
	return entry
}

// checked refuses paths that lead out of the directory, and hidden ones. The host has refused the former already; a provider that
// holds files does not rely on it.
func checked(file string) (string, error) {
	if uriOf(file) == "" {
		return "", wasmres.NotFound("there is no " + strconv.Quote(file))
	}
	return file, nil
}

// uriOf gives the URI of a file, or nothing if it is hidden or cannot have one. Names of hosts have small letters only, so the
// first folder must have such a name.
func uriOf(file string) string {
	first, _, _ := strings.Cut(file, "/")
	uri := scheme + uripath.Escape(file)
	if !fs.ValidPath(file) || file == "." || !utf8.ValidString(file) || len(uri) > uriMax || strings.HasPrefix(file, ".") ||
		strings.Contains(file, "/.") || strings.ContainsFunc(first, outsideHost) || strings.ContainsFunc(file, unwritable) {
		return ""
	}
	return uri
}

func outsideHost(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
}

// unwritable reports whether a character cannot stand in the path of a URI, not even encoded.
func unwritable(c rune) bool { return c == '\\' || c < ' ' || c >= 0x7f && c < 0xa0 }

// describe gives the description that stands on one line in the frontmatter of a SKILL.md; nothing if there is none.
func describe(file string) string {
	data, err := wasmres.Dir(root).ReadFile(file)
	if err != nil || !utf8.Valid(data) {
		return ""
	}
	text, ok := strings.CutPrefix(string(data), "---\n")
	if !ok {
		return ""
	}
	head, _, _ := strings.Cut(text, "\n---")
	for line := range strings.Lines(head) {
		if d, ok := strings.CutPrefix(line, "description:"); ok {
			d = strings.TrimSpace(d)
			if strings.HasPrefix(d, "|") || strings.HasPrefix(d, ">") {
				return ""
			}
			return strings.Trim(d, `"'`)
		}
	}
	return ""
}

// types has the types that names promise.
var types = map[string]string{
	".csv": "text/csv", ".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".md": "text/markdown",
	".pdf": "application/pdf", ".png": "image/png", ".py": "text/x-python", ".sh": "text/x-shellscript", ".svg": "image/svg+xml",
	".ts": "text/x-typescript", ".txt": "text/plain", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
}

func typeOf(name string) string { return types[strings.ToLower(path.Ext(name))] }

// explain words for the client what went wrong with a file.
func explain(uri string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid): // of the latter, it is a folder, or is not one
		return wasmres.NotFound("there is no " + strconv.Quote(uri))
	case errors.Is(err, fs.ErrPermission):
		return wasmres.Denied(strconv.Quote(uri) + " may not be read: has a folder been granted, as with --dir FOLDER:" + root + "?")
	}
	return err
}

func main() {}
