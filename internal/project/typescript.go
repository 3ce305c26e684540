package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	guestsdk "github.com/wasmres/wasmres/guest-sdk"
)

const (
	typeScriptEntry = "provider.ts"
	nodeModules     = "node_modules"
	sourceMapModule = "wasmres:/sourcemap.js" // of the SDK, which the build replaces
)

// bundling are the arguments of esbuild: one module. The engine is no browser, but is nearer to one than to
// Node.js.
var bundling = []string{
	typeScriptEntry, "--bundle", "--format=esm", "--platform=browser", "--target=es2024", "--charset=utf8", "--external:wasmres",
	`--define:process.env.NODE_ENV="production"`, "--define:global=globalThis",
	"--loader:.md=text", "--loader:.csv=text", "--loader:.html=text",
	"--sourcemap=external", "--sources-content=false", "--log-level=warning", "--color=false",
}

// compileTypeScript bundles the sources with the project's esbuild, checks their types with its tsc, and packs the
// bundle as JavaScript.
func compileTypeScript(b *builder) error {
	if find("node") == "" {
		return &Missing{"Node.js", advice{mac: "brew install node", anywhere: nodeAdvice}.forThisOS()}
	}
	var about struct{ Name string }
	if err := readJSON(b.path("package.json"), &about); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b.name = path.Base(about.Name)
	engine := guestsdk.JavaScriptEngine()
	b.compiler = "tsc " + packageVersion(b.dir, "typescript") + ", " + engine.Version
	bundle, err := bundleTypeScript(b)
	if err != nil {
		return err
	}
	if err := checkTypes(b); err != nil {
		return err
	}
	scripts := []script{bundle.script}
	modules := usedModules(engine.Modules, scripts)
	modules[sourceMapModule] = bundle.sourceMap
	return prepare(b, engine, packScripts(scripts, modules))
}

// A bundle is one script made of several files, and the module that has its source map.
type bundle struct {
	script    script
	sourceMap string
}

func bundleTypeScript(b *builder) (made bundle, err error) {
	esbuild := nativeBundler(b.dir)
	if esbuild == "" {
		if esbuild, err = packageProgram(b.dir, "esbuild", "esbuild"); err != nil {
			return bundle{}, err
		}
	}
	out := filepath.Join(b.scratch, scriptEntry)
	mcp := "--alias:wasmres/mcp=" + b.path(sdkDir+"/mcp.ts") // which is bundled, unlike wasmres
	if _, err := b.run(command{path: esbuild, args: append(slices.Clone(bundling), mcp, "--outfile="+out)}); err != nil {
		return bundle{}, withBuiltinAdvice(err)
	}
	text, err := readBounded(out, maxScriptBytes)
	if err != nil {
		return bundle{}, err
	}
	encoded, err := readBounded(out+".map", maxMapBytes)
	if err != nil {
		return bundle{}, err
	}
	m, err := readSourceMap(encoded)
	if err != nil {
		return bundle{}, err
	}
	names := m.names(resolved(b.scratch), resolved(b.dir))
	return bundle{script{scriptEntry, string(text)}, m.script(names)}, nil
}

// readBounded reads what esbuild has written, unless that has more than limit bytes.
func readBounded(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s imports too much: %s may have %d MiB", typeScriptEntry, filepath.Base(file), limit>>20)
	}
	return os.ReadFile(file)
}

// resolved returns a directory without symbolic links, as the paths in source maps are.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// checkTypes runs the compiler for its messages alone. esbuild has removed the types without looking at them.
func checkTypes(b *builder) error {
	tsc, err := packageProgram(b.dir, "typescript", "tsc")
	if err != nil {
		return err
	}
	_, err = b.run(command{path: tsc, args: []string{"--noEmit", "--pretty", fmt.Sprint(b.log == nil)}})
	var failed *Failed
	if errors.As(err, &failed) {
		failed.Output = terminalColor().ReplaceAllString(failed.Output, "")
	}
	return err
}

// terminalColor matches the sequences that change colors. tsc shows the lines of errors only with colors.
var terminalColor = expression("\x1b\\[[0-9;]*m")

// packageProgram returns the path of a program that a package of the project has.
func packageProgram(dir, name, program string) (string, error) {
	if found := findNodeProgram(dir, program); found != "" {
		return found, nil
	}
	install := "npm install"
	if _, err := os.Stat(filepath.Join(dir, "package.json")); err != nil {
		install += " --save-dev typescript esbuild"
	}
	return "", &Missing{"the package " + name, fmt.Sprintf("in %s, run %s", dir, install)}
}

// packageDir returns the directory of an installed package, without symbolic links; empty if it is not in node_modules.
func packageDir(dir, name string) string {
	for ; ; dir = filepath.Dir(dir) {
		if found, err := filepath.EvalSymlinks(filepath.Join(dir, nodeModules, name)); err == nil {
			return found
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// packageVersion returns the version of an installed package; "unknown" if it is not in node_modules.
func packageVersion(dir, name string) string {
	var about struct{ Version string }
	if err := readJSON(filepath.Join(packageDir(dir, name), "package.json"), &about); err != nil {
		return "unknown"
	}
	return about.Version
}

// nativeBundler returns the program that the package esbuild runs; empty if it is not beside the package. Run by itself
// it starts sooner, and its output has no stack of Node.js.
func nativeBundler(dir string) string {
	system := map[string]string{"windows": "win32"}[runtime.GOOS]
	cpu := map[string]string{"amd64": "x64", "386": "ia32", "ppc64le": "ppc64", "mipsle": "mips64el"}[runtime.GOARCH]
	platform := cmp.Or(system, runtime.GOOS) + "-" + cmp.Or(cpu, runtime.GOARCH)
	program := filepath.Join("bin", "esbuild")
	if system != "" {
		program = "esbuild.exe"
	}
	return find(filepath.Join(filepath.Dir(packageDir(dir, "esbuild")), "@esbuild", platform, program))
}

// builtin matches what esbuild says of an import that only Node.js has.
var builtin = expression(`(?m)^ *The package "(?:node:)?([a-z0-9_/]+)" wasn't found on the file system but is built into node\..*$`)

// instead says what to use in the place of a module of Node.js.
var instead = map[string]string{
	"fs":   `use dir of "wasmres", which has the folders that the operator grants`,
	"http": `use fetch of "wasmres"`, "net": `use fetch of "wasmres"`, "dns": `use fetch of "wasmres"`,
	"sqlite": `use query of "wasmres"`, "process": `use env of "wasmres" for environment variables`,
	"child_process": "a provider cannot start programs", "worker_threads": "a provider has one thread",
}

// unresolved matches what esbuild advises about an import of a package that is not installed.
var unresolved = expression(`(?m)^ *You can mark the path "([^"\n]+)" as external to exclude it from the bundle,.*$`)

// packageAdvice says what to do about an import of a package that is not installed.
func packageAdvice(path string) string {
	if strings.HasPrefix(path, "@modelcontextprotocol/") {
		return `Import it from "wasmres/mcp", which has what providers need of the official SDK.`
	}
	name, rest, _ := strings.Cut(path, "/")
	if strings.HasPrefix(name, "@") {
		scoped, _, _ := strings.Cut(rest, "/")
		name += "/" + scoped
	}
	return "Install the package with: npm install " + name
}

// withBuiltinAdvice replaces what esbuild advises about imports of Node.js by what there is in the sandbox, and about
// packages that are not installed by how to install them.
func withBuiltinAdvice(err error) error {
	var failed *Failed
	if !errors.As(err, &failed) {
		return err
	}
	failed.Output = builtin().ReplaceAllStringFunc(failed.Output, func(text string) string {
		name := builtin().FindStringSubmatch(text)[1]
		return "  " + builtinAdvice(name)
	})
	failed.Output = unresolved().ReplaceAllStringFunc(failed.Output, func(text string) string {
		return "  " + packageAdvice(unresolved().FindStringSubmatch(text)[1])
	})
	return err
}

func builtinAdvice(name string) string {
	family, _, _ := strings.Cut(name, "/")
	text := fmt.Sprintf("%s is a part of Node.js, which the sandbox does not have", name)
	switch family {
	case "http2", "https":
		family = "http"
	case "tls", "dgram":
		family = "net"
	}
	if use, ok := instead[family]; ok {
		return text + ": " + use + "."
	}
	return text + ": use another package, or one of this name from npm that needs no Node.js."
}
