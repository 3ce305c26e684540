package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

func TestHello(t *testing.T) {
	p := wasmrestest.New(t)
	if got, want := p.Text("greeting://Ada"), "Hello, Ada!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := p.Text("hello://about"); !strings.HasPrefix(got, "# hello") {
		t.Errorf("about: got %q", got)
	}
	got, err := p.Complete("greeting://{name}", "name", "a", nil)
	if want := []string{"Ada", "Alan"}; !slices.Equal(got, want) || err != nil {
		t.Errorf("complete: got %v, %v, want %v", got, err, want)
	}
}
