package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/wasmres/wasmres/internal/peers/serving/fixture"
)

// built is where everything is that is started.
type built struct {
	root     string // of the sources
	dir      string // of what is built, the fixtures and the compiled modules
	wasmres  string
	provider string
	node     string // empty when there is none
}

func buildAll(o options) (*built, error) {
	root, err := findRoot(o.root)
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	b := &built{root: root, dir: filepath.Join(cache, "wasmres-serving"), wasmres: o.binary, provider: o.provider}
	if err := fixture.Write(b.fixtures()); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.compiled(), 0o700); err != nil {
		return nil, err
	}
	return b, errors.Join(b.buildWasmres(), b.buildProvider(), b.buildPeers(), b.findNode())
}

// findRoot gives the folder of the module wasmres.
func findRoot(given string) (string, error) {
	dir, err := filepath.Abs(given)
	for ; err == nil; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module github.com/wasmres/wasmres\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("this is not inside wasmres' sources: say -root FOLDER")
		}
	}
	return "", err
}

func (b *built) fixtures() string { return filepath.Join(b.dir, "fixtures") }
func (b *built) compiled() string { return filepath.Join(b.dir, "compiled") }

// env is the environment servers are started with.
func (b *built) env() []string {
	return append(os.Environ(), fixture.Env+"="+b.fixtures(), "WASMRES_CACHE_DIR="+b.compiled())
}

func (b *built) buildWasmres() error {
	if b.wasmres != "" {
		return nil
	}
	b.wasmres = filepath.Join(b.dir, "wasmres")
	return command(b.root, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-o", b.wasmres, "./cmd/wasmres")
}

func (b *built) buildProvider() error {
	if b.provider != "" {
		return nil
	}
	b.provider = filepath.Join(b.dir, "fixtures.wasm")
	return command(filepath.Join(b.root, "examples", "wasm"), []string{"GOOS=wasip1", "GOARCH=wasm"},
		"go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", b.provider, "./fixtures")
}

func (b *built) peers() string { return filepath.Join(b.root, "internal", "peers", "serving") }

func (b *built) buildPeers() error {
	return command(b.peers(), nil, "go", "build", "-o", b.dir+string(filepath.Separator), "./gosdk", "./mcpgo", "./fixed")
}

// findNode installs what the TypeScript server needs, if there is Node.js.
func (b *built) findNode() error {
	node, err := exec.LookPath("node")
	if err != nil {
		fmt.Fprintln(os.Stderr, "serving: there is no node, so the TypeScript server is left out")
		return nil
	}
	b.node = node
	js := filepath.Join(b.peers(), "js")
	if _, err := os.Stat(filepath.Join(js, "node_modules")); err == nil {
		return nil
	}
	return command(js, nil, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
}

func command(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s in %s: %w\n%s", name, strings.Join(args, " "), dir, err, out)
	}
	return nil
}
