package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

// in runs a command in a folder, and returns what it prints.
func in(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func TestSystemsOf32BitsAreRefused(t *testing.T) {
	// The file alone has the error, and needs nothing of the standard library, which would have to be compiled for that system first.
	on386 := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = sourcetree.Root()
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=386", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if files, err := on386("list", "-f", "{{.GoFiles}}", "./abi"); err != nil || !strings.Contains(files, "wordsize.go") {
		t.Errorf("the files of package abi are %s, %v", files, err)
	}
	if out, err := on386("build", "abi/wordsize.go"); err == nil || !strings.Contains(out, "wasmres_needs_a_system_of_64_bits") {
		t.Errorf("go build: %v\n%s", err, out)
	}
}

// TestRelease makes a release for this platform, and looks into each of its files. The program is the one that another folder gives.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a release")
	}
	dpkg := guesttest.Tool(t, "dpkg", "dpkg-deb")
	dist, platform := t.TempDir(), runtime.GOOS+"/"+runtime.GOARCH
	in(t, sourcetree.Root(), "env", "PLATFORMS="+platform, "LEVEL=1", ".ci/release", "1.2.3", dist)
	name := "wasmres_1.2.3_" + strings.ReplaceAll(platform, "/", "_")

	in(t, dist, "sha256sum", "--check", "--strict", "SHA256SUMS")
	unpacked := t.TempDir()
	in(t, unpacked, "tar", "-xzf", filepath.Join(dist, name+".tar.gz"), "--strip-components=1")
	for _, file := range []string{"README.md", "man/wasmres.1", "man/wasmres-read.1", "completions/wasmres.zsh"} {
		if _, err := os.Stat(filepath.Join(unpacked, file)); err != nil {
			t.Error(err)
		}
	}
	version := in(t, unpacked, "./wasmres", "version", "--output-format", "json")
	if !strings.Contains(version, `"version": "1.2.3"`) || !strings.Contains(version, `"commit": "`) {
		t.Errorf("wasmres version prints %s", version)
	}

	if !bytes.Equal(builtElsewhere(t, "1.2.3"), readFile(t, filepath.Join(unpacked, "wasmres"))) {
		t.Error("the program differs from the one that the same sources give in another folder")
	}

	var sbom struct {
		BOMFormat  string
		Components []struct{ Name string }
	}
	text := readFile(t, filepath.Join(dist, name+".cdx.json"))
	if err := json.Unmarshal(text, &sbom); err != nil || sbom.BOMFormat != "CycloneDX" || !bytes.Contains(text, []byte("github.com/tetratelabs/wazero")) {
		t.Errorf("the SBOM has %d components, %v", len(sbom.Components), err)
	}
	again := filepath.Join(t.TempDir(), "sbom")
	in(t, sourcetree.Root(), ".ci/sbom", "1.2.3", again, filepath.Join(unpacked, "wasmres"))
	if !bytes.Equal(readFile(t, again), text) {
		t.Errorf("another SBOM of the same program differs: %s", text)
	}
	if formula := string(readFile(t, filepath.Join(dist, "wasmres.rb"))); !strings.Contains(formula, name+".tar.gz") {
		t.Errorf("the formula is %s", formula)
	}

	root := t.TempDir()
	in(t, root, dpkg, "--extract", filepath.Join(dist, "wasmres_1.2.3_"+runtime.GOARCH+".deb"), root)
	if got := in(t, root, "usr/bin/wasmres", "--version"); got != "wasmres 1.2.3\n" {
		t.Errorf("the program of the package prints %q", got)
	}
	unit := string(readFile(t, filepath.Join(root, "usr/lib/systemd/system/wasmres.service")))
	if !strings.Contains(unit, "ExecStart=/usr/bin/wasmres serve") {
		t.Errorf("the unit of the package is %s", unit)
	}

	if _, err := exec.LookPath("buildah"); err == nil {
		image := t.TempDir()
		in(t, image, "tar", "-xf", filepath.Join(dist, "wasmres_1.2.3_"+runtime.GOARCH+".oci.tar"))
		if config := in(t, image, "sh", "-c", "cat blobs/sha256/* | grep -a 65532"); !strings.Contains(config, `"User":"65532:65532"`) {
			t.Errorf("the configuration of the image is %s", config)
		}
	}
}

// builtElsewhere builds the program of a release from a copy of the sources, and returns it.
func builtElsewhere(t *testing.T, version string) []byte {
	t.Helper()
	root, tree := sourcetree.Root(), filepath.Join(t.TempDir(), "tree")
	commit := strings.TrimSpace(in(t, root, "git", "rev-parse", "HEAD"))
	in(t, root, "sh", "-c", "mkdir "+tree+" && tar --exclude=node_modules -cf - go.mod go.sum abi cmd guest-sdk internal registry runtime | tar -xf - -C "+tree)
	const variables = "-X github.com/wasmres/wasmres/cmd/wasmres/internal/cli."
	in(t, tree, "env", "CGO_ENABLED=0", "GOFLAGS=", "go", "build", "-trimpath", "-buildvcs=false", "-tags", "urfave_cli_no_docs",
		"-ldflags", "-s -w -buildid= "+variables+"version="+version+" "+variables+"commit="+commit, "-o", "wasmres", "./cmd/wasmres")
	return readFile(t, filepath.Join(tree, "wasmres"))
}

// TestManualPages has a reader of manual pages look for mistakes.
func TestManualPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the tool")
	}
	dir := t.TempDir()
	in(t, ".", "go", "run", "./internal/manual", "-version", "1.2.3", "-date", "2026-11-28", dir)
	pages, err := filepath.Glob(filepath.Join(dir, "wasmres*.1"))
	if err != nil || len(pages) < 40 {
		t.Fatalf("there are %d pages, %v", len(pages), err)
	}
	in(t, dir, guesttest.Tool(t, "mandoc", "mandoc"), append([]string{"-T", "lint", "-W", "warning"}, pages...)...)
}
