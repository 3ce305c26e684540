package guestsdk

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/wasm"
)

const engineDir = "javascript/engine"

// The engine that is carried is the one that make left, and the glue beside it is that it was made from.
func TestJavaScriptEngineIsCurrent(t *testing.T) {
	engine := JavaScriptEngine()
	digest, err := os.ReadFile(engineDir + "/engine.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x  engine.wasm\n", sha256.Sum256(engine.Module)); string(digest) != want {
		t.Errorf("engine.sha256: got %q, want %q", digest, want)
	}
	origin, err := wasm.Custom(engine.Module, "wasmres.engine")
	if err != nil || origin == nil {
		t.Fatalf("the engine does not say what it was made from: %v", err)
	}
	licence, err := os.ReadFile(engineDir + "/LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	const commit = ", commit 1ab8676f4b6d6d669baeb5f21790fb9734636a20\n"
	want := engine.Version + commit + "glue sha256:" + glueDigest(t) + "\n\n" + string(licence)
	if string(origin) != want {
		t.Errorf("engine.wasm was made from other files: run make in guest-sdk/%s\ngot  %.160s\nwant %.160s",
			engineDir, origin, want)
	}
}

// glueDigest gives the digest of what sha256sum says of the glue, as the Makefile makes it.
func glueDigest(t *testing.T) string {
	t.Helper()
	names := []string{engineDir + "/Makefile"}
	for _, pattern := range []string{"*.c", "*.h", "*.s"} {
		found, err := filepath.Glob(engineDir + "/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%d files %s: %v", len(found), pattern, err)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	var list bytes.Buffer
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(text), filepath.Base(name))
	}
	return fmt.Sprintf("%x", sha256.Sum256(list.Bytes()))
}

// Every module of the SDK is carried, under the name that the others import it by.
func TestJavaScriptModules(t *testing.T) {
	engine := JavaScriptEngine()
	isScript := func(name string) bool { return strings.HasSuffix(name, ".js") }
	for name, text := range sources(t, "javascript/lib", isScript) {
		if engine.Modules["wasmres:/"+name] != text {
			t.Errorf("%s is not carried as it is", name)
		}
		delete(engine.Modules, "wasmres:/"+name)
	}
	if len(engine.Modules) > 0 {
		t.Errorf("more is carried: %d modules", len(engine.Modules))
	}
}
