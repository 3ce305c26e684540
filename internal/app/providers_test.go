package app

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// identityOf returns what clients receive about the server.
func identityOf(a *App) resource.Identity { return a.source.(resource.Identified).Identity() }

// namedConfig is that of an example under some name.
func namedConfig(t *testing.T, name, file string) Config {
	t.Helper()
	return Config{
		File: file, Name: name, CacheDir: guesttest.CacheDir(t), Version: "1.2.3", Logger: slog.New(slog.DiscardHandler),
	}
}

func TestSeveralProvidersAreOne(t *testing.T) {
	a, err := OpenAll(t.Context(), []Config{
		namedConfig(t, "first", guesttest.File(t, "hello")), namedConfig(t, "second", guesttest.File(t, "everything")),
	})
	if err != nil {
		t.Fatal(err)
	}
	var page struct{ Resources []struct{ URI string } }
	result, err := a.Call(t.Context(), "resources/list", struct{}{})
	if err != nil || json.Unmarshal(result, &page) != nil || len(page.Resources) != 1000 {
		t.Fatalf("got %d entries, %v, want a page of 1,000", len(page.Resources), err)
	}
	if got := page.Resources[0].URI + " " + page.Resources[1].URI; got != "hello://about test://static-text" {
		t.Errorf("got %s first, want the entries in the order of the providers", got)
	}
	want := resource.Identity{Name: "wasmres", Version: "0",
		Instructions: "first: Greets people.\nsecond: Every kind of resource, for testing hosts and clients."}
	if got := identityOf(a); got != want || a.versionOf() != "1.2.3" {
		t.Errorf("got %+v and %s, want %+v", got, a.versionOf(), want)
	}
	if len(a.each()) != 2 || a.Provider() != nil {
		t.Errorf("got %d providers", len(a.each()))
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAllProvidersOpenOrNone(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.wasm")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	hello := guesttest.File(t, "hello")
	for name, tt := range map[string]struct {
		configs []Config
		want    string
	}{
		"none":          {nil, "none given"},
		"one fails":     {[]Config{namedConfig(t, "a", hello), namedConfig(t, "b", text)}, "provider b: " + text + ": not a WebAssembly module"},
		"the first":     {[]Config{namedConfig(t, "a", text), namedConfig(t, "b", hello)}, "provider a: "},
		"same name":     {[]Config{namedConfig(t, "a", hello), namedConfig(t, "a", guesttest.File(t, "project"))}, `two members are called "a"`},
		"same resource": {[]Config{namedConfig(t, "a", hello), namedConfig(t, "b", hello)}, `a and b both claim the resource "hello://about"`},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := OpenAll(t.Context(), tt.configs)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if a != nil {
				t.Error("something is open")
			}
		})
	}
}

func TestOneProviderIsItself(t *testing.T) {
	a, err := OpenAll(t.Context(), []Config{namedConfig(t, "ignored", guesttest.File(t, "hello"))})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if a.Provider() == nil || identityOf(a).Name != "hello" || len(a.each()) != 1 {
		t.Errorf("got %+v", identityOf(a))
	}
}
