package guestsdk

import (
	"strings"
	"testing"
)

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
