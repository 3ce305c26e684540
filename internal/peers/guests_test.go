package peers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

// What guests are asked for.
var (
	text   = []byte("text://a")            // a static text
	format = []byte("format://guests/one") // a text that is formatted
	visits = []byte("visits://")           // how many requests the instance has seen, this one included
	lookup = []byte("document://")         // the size and the end of what was prepared
)

// A guest is a folder of testdata, and what the guest prepares when it starts.
type guest struct {
	name     string
	language string
	kib      int // of the document
}

var guests = []guest{
	{name: "go", language: "go"},
	{name: "go-1MiB", language: "go", kib: 1024},
	{name: "c", language: "c"},
	{name: "c-1MiB", language: "c", kib: 1024},
}

// A dialect is what a guest speaks with its host: a name in the folder.
type dialect string

const (
	wasmresV1 dialect = "wasmres"
	extismPDK dialect = "extism"
)

var (
	building sync.Mutex
	built    = map[string][]byte{} // guarded by building
)

// binary gives the module, built from its source as it is now. A guest whose tools are missing skips the test.
func (g guest) binary(tb testing.TB, d dialect) []byte {
	tb.Helper()
	g.needTools(tb)
	building.Lock()
	defer building.Unlock()
	key := g.name + "/" + string(d)
	if built[key] == nil {
		built[key] = g.build(tb, d)
	}
	return built[key]
}

func (g guest) needTools(tb testing.TB) {
	tb.Helper()
	if g.language != "c" {
		return
	}
	for _, tool := range []string{"clang", "wasm-ld"} {
		if _, err := exec.LookPath(tool); err != nil {
			tb.Skipf("the guest in C needs clang and lld: %v", err)
		}
	}
}

func (g guest) build(tb testing.TB, d dialect) []byte {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), "guest.wasm")
	kib := strconv.Itoa(g.kib)
	var cmd *exec.Cmd
	switch g.language {
	case "go":
		cmd = exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w -X main.kib="+kib, "-o", out, "./testdata/go/"+string(d))
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	case "c":
		cmd = exec.Command("clang", "--target=wasm32", "-O2", "-mbulk-memory", "-nostdlib", "-Wl,--no-entry", "-DKIB="+kib, "-o", out, "testdata/c/"+string(d)+".c")
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build the guest %s for %s: %v\n%s", g.name, d, err, said)
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	if d == wasmresV1 {
		binary = withManifest(binary)
	}
	return binary
}

// withManifest packs a manifest into a module, in a custom section: so the guests need not describe themselves.
func withManifest(binary []byte) []byte {
	m := abi.Manifest{Name: "peer", Ops: 1<<abi.OpDescribe | 1<<abi.OpRead}
	section := m.Append(append([]byte{byte(len(abi.ManifestSection))}, abi.ManifestSection...))
	return append(append(binary, 0, byte(len(section))), section...) // of fewer than 128 bytes
}
