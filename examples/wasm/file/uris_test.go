package main

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// The README grants folders under the paths that they have, so that files have the URIs that clients expect of them. Each
// is listed and read.
func TestURIs(t *testing.T) {
	const pdf, image = "%PDF-1.7\n\xff", png
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{
		"/files": fstest.MapFS{
			"README.md": {Data: []byte("# Readme\n")}, "CHANGELOG.md": {Data: []byte("# Changelog\n")},
			"config.yaml": {Data: []byte("debug: false\n")}, "logs/app.log": {Data: []byte("started\n")},
			"home/user/documents/report.pdf": {Data: []byte(pdf)}, "project/src/main.rs": {Data: []byte("fn main() {}\n")},
			"project/config.yaml": {Data: []byte("debug: true\n")}, "project/logo.png": {Data: []byte(image)},
		},
	}
	listed := map[string]wasmrestest.Entry{}
	for _, e := range p.List() {
		listed[e.URI] = e
	}
	for uri, want := range map[string]struct {
		mime, text string
		isText     bool
	}{
		"file://readme":                          {"text/markdown", "# Readme\n", true},
		"file://config":                          {"application/yaml", "debug: false\n", true},
		"file://changelog":                       {"text/markdown", "# Changelog\n", true},
		"file:///config.yaml":                    {"application/yaml", "debug: false\n", true},
		"file:///logs/app.log":                   {"text/plain", "started\n", true},
		"file:///home/user/documents/report.pdf": {"application/pdf", pdf, false},
		"file:///project/src/main.rs":            {"text/x-rust", "fn main() {}\n", true},
		"file:///project/config.yaml":            {"application/yaml", "debug: true\n", true},
		"file:///project/logo.png":               {"image/png", image, false},
	} {
		if e := listed[uri]; e.MIME != want.mime || e.Size != uint64(len(want.text)) {
			t.Errorf("%s: listed as %+v, want type %s and size %d", uri, e, want.mime, len(want.text))
		}
		contents, err := p.Read(uri)
		if err != nil || len(contents) != 1 || contents[0].URI != uri || contents[0].MIME != want.mime ||
			contents[0].Text != want.isText || string(contents[0].Data) != want.text {
			t.Errorf("%s: got %+v, %v, want %q of %s", uri, contents, err, want.text, want.mime)
		}
		delete(listed, uri)
	}
	if _, ok := listed["file:///README.md"]; !ok || len(listed) != 2 { // and CHANGELOG.md
		t.Errorf("listed, too: %+v", listed)
	}
	var templates []string
	for _, m := range p.Manifest().Templates {
		templates = append(templates, m.URI)
	}
	if len(templates) != 1 || templates[0] != "file:///{+path}" {
		t.Errorf("got templates %q", templates)
	}
}
