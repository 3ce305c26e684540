package project

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/wasmres/wasmres/runtime/preinit"
)

// A Module is the result of a compiler.
type Module struct {
	Name     string // of the project; valid as the name of a file
	Compiler string // with its version, as in "go1.26.8"
	Binary   []byte // with function names and debug information
}

// Options say how to build a project.
type Options struct {
	Log   io.Writer     // gets the commands and their output while they run; nil discards the output of commands that succeed
	Cache preinit.Cache // has the engines that scripts are packed into
}

// Build compiles the project in dir. An error is a [*Missing] tool, a [*Failed] command, or describes a fault of the project.
func Build(ctx context.Context, dir string, l Language, o Options) (*Module, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "wasmres-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	b := &builder{ctx: ctx, dir: dir, scratch: scratch, log: o.Log, cache: o.Cache, module: filepath.Join(scratch, "out.wasm")}
	if err := l.info().compile(b); err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(b.module)
	if err != nil {
		return nil, err
	}
	return &Module{Name: fileName(b.name, dir), Compiler: b.compiler, Binary: binary}, nil
}

// A builder is one build. compile of a language runs the tools and sets the fields below the blank line.
type builder struct {
	ctx     context.Context
	dir     string // of the project; absolute
	scratch string // directory of intermediate files
	log     io.Writer
	cache   preinit.Cache

	module   string // path of the module; in scratch, unless the tools choose another directory
	name     string // of the project; empty for the name of its directory
	compiler string
}

var safeFileName = expression(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// fileName returns the project's name or, if that is not safe as the name of a file, the name of the directory.
func fileName(name, dir string) string {
	if name = filepath.Base(name); safeFileName().MatchString(name) {
		return name
	}
	if name = filepath.Base(dir); safeFileName().MatchString(name) {
		return name
	}
	return "provider"
}

// path returns the path of a file of the project.
func (b *builder) path(name string) string { return filepath.Join(b.dir, name) }
