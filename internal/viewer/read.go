package viewer

import (
	"bytes"
	"encoding/json"
	"html/template"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/markdown"
	"github.com/wasmres/wasmres/internal/webpage"
	"github.com/wasmres/wasmres/runtime"
)

const (
	maxShown    = 256 << 10 // bytes of a text on a page
	maxContents = 50        // of one resource on a page
)

// A content is one that a page shows: as one of Text, HTML and Image, or else to be saved.
type content struct {
	runtime.Content
	Name  string // of the kind, for a person
	Text  string
	HTML  template.HTML
	Image string // URL
	Raw   string // URL that saves it
	IsCut bool
}

// readPage is what the page of a resource shows.
type readPage struct {
	Read
	Contents []content
	More     int // contents that are not shown
}

// read reads a resource, and notes what that has cost.
func (s *Server) read(r *http.Request, uri string) ([]runtime.Content, Read, error) {
	ctx, fuel := app.Measure(r.Context())
	began := time.Now()
	contents, err := s.cfg.App.Provider().Read(ctx, uri)
	done := Read{URI: webpage.Short(500, uri), Took: time.Since(began).Round(time.Microsecond), Fuel: fuel()}
	for i := range contents {
		done.Bytes += len(contents[i].Data)
	}
	if err != nil {
		done.Error = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads = append(s.reads, done); len(s.reads) > maxReads {
		s.reads = s.reads[1:]
	}
	return contents, done, err
}

func (s *Server) showRead(w http.ResponseWriter, r *http.Request) error {
	uri := r.URL.Query().Get("uri")
	contents, done, err := s.read(r, uri)
	if err != nil {
		return err
	}
	p := readPage{Read: done, More: max(len(contents)-maxContents, 0)}
	for i := range contents[:len(contents)-p.More] {
		p.Contents = append(p.Contents, s.show(&contents[i], uri, i))
	}
	view := s.view(webpage.Short(80, uri), "", p)
	view.Events = s.link("events", uri)
	view.Trail = []webpage.Link{{Text: "Resources", URL: s.root + "/"}}
	return s.pages.Write(w, http.StatusOK, "read", view)
}

// images are the types that browsers show as pictures, and that have no scripts as a picture.
var images = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true, "image/svg+xml": true, "image/bmp": true, "image/x-icon": true}

// show says how a page shows a content.
func (s *Server) show(c *runtime.Content, uri string, number int) content {
	shown := content{Content: *c, Name: c.MIMEType, Raw: s.root + "/raw?" + url.Values{"uri": {uri}, "n": {strconv.Itoa(number)}}.Encode()}
	kind, _, err := mime.ParseMediaType(c.MIMEType)
	if err != nil {
		kind = ""
	}
	isText := c.Kind == abi.KindText
	switch {
	case images[kind] && len(c.Data) > 0:
		shown.Image = shown.Raw + "&show=1"
	case isText && (kind == "text/markdown" || kind == "text/x-markdown") && len(c.Data) <= markdown.MaxSource:
		shown.HTML = s.markdown(c.Data, uri)
	case isText && (kind == "application/json" || strings.HasSuffix(kind, "+json")):
		shown.Text = indented(c.Data)
	case isText:
		shown.Text = string(c.Data)
	}
	if len(shown.Text) > maxShown {
		shown.Text, shown.IsCut = strings.ToValidUTF8(shown.Text[:maxShown], ""), true
	}
	return shown
}

// indented indents JSON; another text stays as it is.
func indented(text []byte) string {
	var b bytes.Buffer
	if len(text) > maxShown || json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// raw answers the bytes of a content: to be saved, or as a picture in a page.
func (s *Server) raw(w http.ResponseWriter, r *http.Request) error {
	uri := r.URL.Query().Get("uri")
	n, err := strconv.Atoi(r.URL.Query().Get("n"))
	if err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "n is not a number")
	}
	contents, _, err := s.read(r, uri)
	if err != nil {
		return err
	}
	if n < 0 || n >= len(contents) {
		return abi.Errorf(abi.CodeNotFound, "the resource has no content %d", n)
	}
	c := &contents[n]
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox") // a picture of SVG has styles, and must run nothing
	h.Set("Content-Type", "application/octet-stream")
	if kind, _, err := mime.ParseMediaType(c.MIMEType); err == nil && images[kind] && r.URL.Query().Get("show") == "1" {
		h.Set("Content-Type", kind)
	} else {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": nameOf(c.URI)}))
	}
	h.Set("Content-Length", strconv.Itoa(len(c.Data)))
	_, _ = w.Write(c.Data) // the browser may be gone
	return nil
}

// nameOf returns a name for the file of a resource: letters, digits, dots and dashes.
func nameOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return "resource"
	}
	name := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r == '-' || r == '.' || r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
			return r
		}
		return '-'
	}, path.Base(u.Path))
	name = strings.TrimLeft(name, ".-")
	if name = name[max(len(name)-100, 0):]; name == "" {
		return "resource"
	}
	return name
}
