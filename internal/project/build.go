package project

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

// A Module is what a compiler has left of a project.
type Module struct {
	Name     string // of the project, which does for a file
	Compiler string // with its version, as in "go1.26.8"
	Binary   []byte // with names of functions, and whatever else helps to debug
}

// Build compiles the project in dir. log takes the commands and what they say as they run; with nil nothing is said of
// those that succeed. Errors are a [*Missing] tool, a [*Failed] command, or say what is wrong with the project.
func Build(ctx context.Context, dir string, l Language, log io.Writer) (*Module, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "wasmres-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	b := &builder{ctx: ctx, dir: dir, scratch: scratch, log: log, module: filepath.Join(scratch, "out.wasm")}
	if err := l.traits().compile(b); err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(b.module)
	if err != nil {
		return nil, err
	}
	return &Module{Name: fileName(b.name, dir), Compiler: b.compiler, Binary: binary}, nil
}

// A builder is one build under way. To compile is to run the tools and to fill in the rest.
type builder struct {
	ctx     context.Context
	dir     string // of the project; absolute
	scratch string // a folder for what is made on the way
	log     io.Writer

	module   string // path of the module; in scratch, unless the tools have their own place
	name     string // of the project; empty for that of its folder
	compiler string
}

var plainName = expression(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// fileName gives a project's name as far as it does for a file, and otherwise that of its folder.
func fileName(name, dir string) string {
	if name = filepath.Base(name); plainName().MatchString(name) {
		return name
	}
	if name = filepath.Base(dir); plainName().MatchString(name) {
		return name
	}
	return "provider"
}

// path gives the path of a file of the project.
func (b *builder) path(name string) string { return filepath.Join(b.dir, name) }
