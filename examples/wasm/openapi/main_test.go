package main

import (
	"encoding/json"
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

// library answers as the API of api.json does.
func library() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("ETag", `"open"`)
		fmt.Fprint(w, `{"open":true}`)
	})
	mux.HandleFunc("GET /v1/books", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"query": r.URL.RawQuery, "for": r.Header.Get("Authorization")})
	})
	mux.HandleFunc("GET /v1/books/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != "a b" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"title":"Größe"}`)
	})
	mux.HandleFunc("GET /v1/books/7/cover", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, picture)
	})
	return mux
}

func start(t *testing.T) *wasmrestest.Provider {
	server := httptest.NewTLSServer(library())
	t.Cleanup(server.Close)
	p := wasmrestest.New(t)
	p.HTTP = server.Client().Transport
	p.Config = map[string]string{"server": server.URL + "/v1"}
	return p
}

func TestOperationsAreResourcesAndTemplates(t *testing.T) {
	m := wasmrestest.New(t).Manifest()
	var all []string
	for _, e := range slices.Concat(m.Resources, m.Templates) {
		all = append(all, e.URI+" "+e.Title+" "+e.MIME)
	}
	want := []string{
		"api://status Status application/json", "api://books{?genre,limit} Books application/json",
		"api://books/{book_id} Book application/json", "api://books/{book_id}/cover Cover image/png",
	}
	if !slices.Equal(all, want) {
		t.Errorf("got %q", all)
	}
	const ask = `{"hosts":["library.example.org"],"methods":["GET"],"schemes":["https"]}`
	if got := m.Capabilities[0].Params; got != ask {
		t.Errorf("got %s, want %s", got, ask)
	}
}

func TestRead(t *testing.T) {
	p := start(t)
	p.Config["authorization"] = "Bearer t"
	for uri, want := range map[string]string{
		"api://status":                           `{"open":true}`,
		"api://books":                            `{"for":"Bearer t","query":""}` + "\n",
		"api://books?genre=science%20%26%20more": `{"for":"Bearer t","query":"genre=science+%26+more"}` + "\n",
		"api://books/a%20b":                      `{"title":"Größe"}`,
	} {
		if got := p.Text(uri); got != want {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
	if got := p.Bytes("api://books/7/cover"); string(got) != picture {
		t.Errorf("got %q", got)
	}
	if _, err := p.Read("api://books/8"); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	got, err := p.Complete("api://books{?genre,limit}", "genre", "p", nil)
	if !slices.Equal(got, []string{"poetry"}) || err != nil {
		t.Errorf("complete: got %v, %v", got, err)
	}
}

func TestAnswersCanBeFollowed(t *testing.T) {
	p := start(t)
	for uri, etag := range map[string]string{"api://status": `"open"`, "api://books": ""} {
		before, _, err := p.Poll(uri, "")
		if before == "" || etag != "" && before != etag || err != nil {
			t.Errorf("%s: got %q, %v", uri, before, err)
		}
		if _, changed, err := p.Poll(uri, before); changed || err != nil {
			t.Errorf("%s: got changed %t, %v", uri, changed, err)
		}
	}
}

func TestNothingGranted(t *testing.T) {
	p := start(t)
	p.HTTP = nil
	if _, err := p.Read("api://status"); !errors.Is(err, wasmres.ErrDenied) || !strings.Contains(err.Error(), "--net") {
		t.Errorf("got %v", err)
	}
	p.Config["server"] = "library.example.org"
	if _, err := p.Read("api://status"); !errors.Is(err, wasmres.ErrUnavailable) || !strings.Contains(err.Error(), "--config") {
		t.Errorf("got %v", err)
	}
}
