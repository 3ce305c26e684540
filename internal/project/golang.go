package project

import (
	"os"
	"path"
	"strconv"
	"strings"
)

const (
	minGo     = 24 // minor version of Go 1: the first with go:wasmexport
	goWebsite = "get Go 1.24 or newer at https://go.dev/dl/"
)

var goVersion = expression(`^go1\.([0-9]+)`)

func compileGo(b *builder) error {
	tool := find("go")
	if tool == "" {
		return &Missing{"go", advice{mac: "brew install go", anywhere: goWebsite}.forThisOS()}
	}
	env := []string{"GOOS=wasip1", "GOARCH=wasm", "GOFLAGS="}
	version, err := b.run(command{tool, []string{"env", "GOVERSION"}, env})
	if err != nil {
		return err
	}
	b.compiler = strings.TrimSpace(version)
	if m := goVersion().FindStringSubmatch(b.compiler); m != nil {
		if minor, err := strconv.Atoi(m[1]); err != nil || minor < minGo {
			return &Missing{"a newer Go (" + tool + " is " + b.compiler + ")", goWebsite}
		}
	}
	b.name = goModule(b.path("go.mod"))
	// No -s: the linker would leave out only the names, which the module for debugging keeps.
	_, err = b.run(command{tool, []string{"build", "-buildmode=c-shared", "-trimpath", "-o", b.module, "."}, env})
	return err
}

var majorSuffix = expression(`^v[0-9]+$`)

// goModule returns the last element of the module path in a go.mod, without its major version; empty for none.
func goModule(file string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "module" {
			continue
		}
		name := strings.Trim(fields[1], "\"`")
		if majorSuffix().MatchString(path.Base(name)) {
			name = path.Dir(name)
		}
		return path.Base(name)
	}
	return ""
}
