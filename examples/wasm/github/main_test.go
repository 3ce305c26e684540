package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

const picture = "\x89PNG\r\n\x1a\n"

// hub answers as GitHub does for the repository notes of ada, with the branches main and fix/typo.
func hub(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	answer := func(pattern, mime, text string) {
		mux.HandleFunc("GET /api/v3/repos/ada/notes/"+pattern, func(w http.ResponseWriter, r *http.Request) {
			if ref := r.FormValue("ref"); ref != "" && ref != "main" && ref != "fix/typo" {
				http.NotFound(w, r)
				return
			}
			if strings.HasPrefix(r.URL.Path, "/api/v3/repos/ada/notes/contents/") && r.Header.Get("Accept") != raw {
				t.Errorf("%s: got Accept: %s", r.URL, r.Header.Get("Accept"))
			}
			w.Header().Set("Content-Type", mime+"; charset=utf-8")
			w.Header().Set("ETag", fmt.Sprintf("%q", r.FormValue("ref")+r.Header.Get("Authorization")))
			fmt.Fprint(w, text)
		})
	}
	answer("contents/README.md", raw, "# Größe")
	answer("contents/a b.json", raw, "[]")
	answer("contents/img/logo.png", raw, picture)
	answer("contents/src", "application/json",
		`[{"name":"a b.go","path":"src/a b.go","type":"file","size":3,"sha":"1"},{"name":"x","path":"src/x","type":"dir","size":0}]`)
	answer("contents/odd", "application/json", "<html>")
	answer("branches", plain, `[{"name":"main"},{"name":"fix/typo"}]`)
	answer("git/trees/main", plain, `{"truncated":true,"tree":[{"path":"README.md","type":"blob","size":8},
		{"path":"src","type":"tree"},{"path":"src/a b.go","type":"blob","size":3},{"path":"src/x/y.go","type":"blob","size":4}]}`)
	return mux
}

func start(t *testing.T) *wasmrestest.Provider {
	server := httptest.NewTLSServer(hub(t))
	t.Cleanup(server.Close)
	p := wasmrestest.New(t)
	p.HTTP = server.Client().Transport
	p.Config = map[string]string{"api": server.URL + "/api/v3/", "repository": "notes"}
	return p
}

func TestFiles(t *testing.T) {
	p := start(t)
	p.Config["authorization"] = "Bearer {{secret:github}}"
	for _, c := range []struct {
		path, mime string
		text       bool
		data       string
	}{
		{"main/README.md", "text/markdown", true, "# Größe"},
		{"fix%3Atypo/README.md", "text/markdown", true, "# Größe"},
		{"main/a%20b.json", "application/json", true, "[]"},
		{"main/img/logo.png", "image/png", false, picture},
		{"fix%3Atypo/src", "application/json", true, `[{"name":"a b.go","path":"src/a b.go","type":"file","size":3,` +
			`"uri":"github://repo/ada/fix%3Atypo/src/a%20b.go"},` +
			`{"name":"x","path":"src/x","type":"dir","size":0,"uri":"github://repo/ada/fix%3Atypo/src/x"}]`},
		{"main/src", "application/json", true, `[{"name":"a b.go","path":"src/a b.go","type":"file","size":3,` +
			`"uri":"github://repo/ada/main/src/a%20b.go"},` +
			`{"name":"x","path":"src/x","type":"dir","size":0,"uri":"github://repo/ada/main/src/x"}]`},
	} {
		contents, err := p.Read("github://repo/ada/" + c.path)
		if err != nil || len(contents) != 1 {
			t.Errorf("%s: got %d contents, %v", c.path, len(contents), err)
			continue
		}
		got := contents[0]
		if got.MIME != c.mime || got.Text != c.text || string(got.Data) != c.data || !strings.Contains(got.ETag, "{{secret:github}}") {
			t.Errorf("%s: got %s, etag %s, text %t, %q", c.path, got.MIME, got.ETag, got.Text, got.Data)
		}
	}
	now, _, err := p.Poll("github://repo/ada/main/README.md", "")
	if _, changed, _ := p.Poll("github://repo/ada/main/README.md", now); now == "" || err != nil || changed {
		t.Errorf("got %q, %v, then changed %t", now, err, changed)
	}
}

func TestNoFiles(t *testing.T) {
	p := start(t)
	for uri, want := range map[string]error{
		"github://repo/ada/main/missing": wasmres.ErrNotFound, "github://repo/bob/main/README.md": wasmres.ErrNotFound,
		"github://repo/ada/gone/README.md": wasmres.ErrNotFound, "github://repo/a%2Fb/main/README.md": wasmres.ErrInvalid,
		"github://repo/../main/README.md": wasmres.ErrInvalid, "github://repo/ada/main/odd": wasmres.ErrUnavailable,
	} {
		if _, err := p.Read(uri); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", uri, err, want)
		}
	}
	delete(p.Config, "repository")
	const uri = "github://repo/ada/main/README.md"
	if _, err := p.Read(uri); !errors.Is(err, wasmres.ErrUnavailable) || !strings.Contains(err.Error(), "--config") {
		t.Errorf("got %v", err)
	}
	p.Config["repository"], p.HTTP = "notes", nil
	if _, err := p.Read(uri); !errors.Is(err, wasmres.ErrDenied) || !strings.Contains(err.Error(), "--net") {
		t.Errorf("got %v", err)
	}
}

func TestList(t *testing.T) {
	p := start(t)
	if got := p.List(); len(got) > 0 {
		t.Errorf("without an owner: got %v", got)
	}
	p.Config["owner"], p.Config["branch"] = "ada", "main"
	for _, size := range []int{1, 2, 3, 100} {
		p.PageSize = size
		var got []string
		for _, e := range p.List() {
			got = append(got, e.URI)
		}
		want := []string{"github://repo/ada/main/README.md", "github://repo/ada/main/src/a%20b.go",
			"github://repo/ada/main/src/x/y.go"}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %q", size, got)
		}
	}
	if len(p.Logs) == 0 || p.Logs[0].Level != "warn" {
		t.Errorf("got the log %v", p.Logs)
	}
}

func TestComplete(t *testing.T) {
	p := start(t)
	known := map[string]string{"owner": "ada", "branch": "main"}
	for _, c := range []struct {
		variable, prefix string
		known            map[string]string
		want             []string
	}{
		{"branch", "f", known, []string{"fix:typo"}},
		{"branch", "", nil, nil},
		{"path", "src/", known, []string{"src/a b.go", "src/x/"}},
		{"path", "src/x", known, []string{"src/x/"}},
		{"path", "gone/", known, nil},
		{"path", "src/", nil, nil},
	} {
		got, err := p.Complete(files, c.variable, c.prefix, c.known)
		if !slices.Equal(got, c.want) || err != nil {
			t.Errorf("%s %q: got %q, %v, want %q", c.variable, c.prefix, got, err, c.want)
		}
	}
}
