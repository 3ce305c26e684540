package webpage

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"iter"
	"maps"
	"net/http"
	"path"
	"strings"

	"github.com/wasmres/wasmres/internal/printable"
)

//go:embed base.html style.css refresh.js icon.svg
var files embed.FS

// An asset is a file that pages load.
type asset struct {
	contentType string
	text        []byte
}

// assets are the files that pages load, by name.
var assets = map[string]asset{ // never changed
	"style.css":  {"text/css; charset=utf-8", read("style.css")},
	"refresh.js": {"text/javascript; charset=utf-8", read("refresh.js")},
	"icon.svg":   {"image/svg+xml", read("icon.svg")},
}

func read(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil { // it is part of the program
		panic(err)
	}
	return text
}

// version changes with the assets, so that browsers may keep them for a long time.
var version = func() string {
	h := sha256.New()
	for _, name := range []string{"style.css", "refresh.js", "icon.svg"} {
		h.Write(assets[name].text)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}()

// policy is what pages may load, and where they may send forms.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Protect sets the headers that every answer to a browser has: it may load nothing from elsewhere, and be shown in no frame.
func Protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}

// Assets returns the names of the files that pages load.
func Assets() iter.Seq[string] { return maps.Keys(assets) }

// ServeAsset answers the file with a name that pages load; 404 for others.
func ServeAsset(w http.ResponseWriter, r *http.Request, name string) {
	a, ok := assets[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	if r.URL.Query().Get("v") == version {
		w.Header().Set("Cache-Control", "private, max-age=604800, immutable")
	}
	_, _ = w.Write(a.text)
}

// A Set has the pages of one site. It is safe for concurrent use.
type Set struct{ pages map[string]*template.Template }

// Parse reads the pages of a site: each file *.html of a folder is a page by its name without .html, which defines the template
// "main"; those whose names begin with _ define templates for all pages.
func Parse(in fs.FS) (*Set, error) {
	base, err := template.New("base").Funcs(functions).Parse(string(read("base.html")))
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(in, "*.html")
	if err != nil {
		return nil, err
	}
	var own []string
	for _, name := range names {
		if !strings.HasPrefix(name, "_") {
			own = append(own, name)
		} else if base, err = base.ParseFS(in, name); err != nil {
			return nil, err
		}
	}
	s := &Set{pages: map[string]*template.Template{}}
	for _, name := range own {
		page, err := template.Must(base.Clone()).ParseFS(in, name)
		if err != nil {
			return nil, err
		}
		s.pages[strings.TrimSuffix(path.Base(name), ".html")] = page
	}
	return s, nil
}

// A Link leads to another page.
type Link struct {
	Text, URL string
	IsHere    bool // the page is the one that is shown, or below it
}

// A View is what a page shows.
type View struct {
	Title   string
	Root    string // path of the site, without a slash at its end; assets are below it
	Home    string // path of the first page
	Site    string // what the site is, beside the name of the program
	Links   []Link // to the main pages
	Trail   []Link // to the pages above this one, the topmost first
	Person  string // who is signed in; empty for no one
	Role    string
	Refresh int    // seconds after which the script replaces what changes; 0 for never
	Events  string // URL of a stream of events, each of which has the script do so at once; empty for none
	Notice  string // what has just happened; empty for nothing
	Alert   string // why nothing has happened; empty if that was not so
	Main    any    // for the template "main"
}

// Version is the version of the assets, for their URLs.
func (*View) Version() string { return version }

// Write writes a page as an answer with a status.
func (s *Set) Write(w http.ResponseWriter, status int, name string, v *View) error {
	page := s.pages[name]
	if page == nil {
		return fmt.Errorf("there is no page %q", name)
	}
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, "base", v); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(printable.Text(b.String()))) // the browser may be gone
	return nil
}
