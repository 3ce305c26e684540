package main

import (
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/registryserver"
)

// walksAll has TestAuthorsPublish take longer. TestPages makes, builds, tests and reads providers in each language, too; how they are
// signed, pushed and pulled does not depend on the language.
var walksAll = flag.Bool("walk-all", false, "have authors publish in five languages, instead of Go alone")

// An author goes from nothing to a signed provider in a registry that a user reads from. The log has the time of each step.
func TestAuthorsPublish(t *testing.T) {
	if testing.Short() {
		t.Skip("builds projects")
	}
	bin := filepath.Dir(guesttest.Program(t))
	registry, _ := registryserver.Start(t, registryserver.Options{})
	languages := []project.Language{project.Go, project.Rust, project.C, project.JavaScript, project.Python}
	if !*walksAll {
		languages = languages[:1]
	}
	for _, lang := range languages {
		t.Run(string(lang), func(t *testing.T) {
			r := newReader(t, "walk", bin)
			r.env = append(r.env, "WASMRES_KEY_PASSPHRASE=correct horse")
			reference := registry + "/" + string(lang) + "/notes:1.0.0"
			began := time.Now()
			for _, step := range []commandLine{
				{shell: "wasmres new notes --lang " + string(lang) + " && cd notes", output: "…"},
				{shell: "wasmres build", output: "…"},
				{shell: "wasmres test notes.wasm", output: "ok …"},
				{shell: "wasmres keygen me", output: "…"},
				{shell: "wasmres push --sign me.key notes.wasm " + reference, output: "…\npushed …\nsigned …"},
				{shell: "wasmres verify --key me.pub " + reference, output: "…"},
				{shell: "wasmres read --store ../store " + reference + " notes://notes/templates", output: "A template describes many URIs at once: …"},
			} {
				start := time.Now()
				r.run(step)
				t.Logf("%6.1f s  %s", time.Since(start).Seconds(), step.shell)
			}
			t.Logf("%6.1f s  in all", time.Since(began).Seconds())
		})
	}
}
