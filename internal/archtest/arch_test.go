package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/wasmres/wasmres"

// doors names the packages that may import a dependency, tests aside.
var doors = map[string][]string{
	"github.com/tetratelabs/wazero":           {"runtime/internal/engine/wazero"},
	"github.com/bytecodealliance/wasmtime-go": {"runtime/internal/engine/wasmtime"},
	"github.com/modelcontextprotocol/go-sdk":  {"runtime/internal/mcp/legacy"},
	"github.com/urfave/cli/v2":                {"cmd/wasmres/internal/cli"},
	"github.com/goccy/go-yaml":                {"cmd/wasmres/internal/cli", "internal/strict"}, // writes reports; reads configuration files
	"golang.org/x/crypto":                     {"internal/seal"},
	"golang.org/x/term":                       {"cmd/wasmres/internal/terminal"},
	"github.com/zalando/go-keyring":           {"runtime/capability/secret"},
	"golang.org/x/net":                        {"runtime/capability/httpcap"},
	"golang.org/x/sys":                        {"runtime/internal/snapshot", "runtime/internal/confine", "runtime/internal/process", "runtime/internal/worker/child", "runtime/internal/worker/protocol", "runtime/internal/mcp/stdio", "runtime/capability/sqlcap/sqlite", "internal/tenant", "cmd/wasmres/internal/terminal", "runtime/internal/engine/wazero"}, // one for each system call family
	"github.com/landlock-lsm/go-landlock":     {"runtime/internal/confine"},
	"github.com/HdrHistogram/hdrhistogram-go": {"internal/bench"},
	"github.com/go-jose/go-jose/v4":           {"internal/oauth"},
	"charm.land/bubbletea/v2":                 {"cmd/wasmres/internal/browse"},
	"github.com/charmbracelet/x/ansi":         {"cmd/wasmres/internal/contents", "internal/ptytest"},
	"golang.org/x/image":                      {"cmd/wasmres/internal/contents"},
	"github.com/charmbracelet/x/vt":           {"internal/ptytest"},
	"github.com/creack/pty":                   {"internal/ptytest"},
	"github.com/clipperhouse/displaywidth":    {"internal/textwidth"},
	"github.com/hashicorp/golang-lru/v2":      {"internal/lru"},
	"github.com/mholt/acmez/v3":               {"internal/acme"},
	"github.com/klauspost/compress":           {"runtime/internal/compress", "registry/internal/layout"}, // answers; modules at rest
	"github.com/segmentio/asm":                {"internal/textenc"},
	"github.com/gabriel-vasile/mimetype":      {"internal/check"},
	"github.com/fsnotify/fsnotify":            {"runtime/watch"},
	"github.com/coreos/go-systemd/v22":        {"internal/systemd"},
	"github.com/prometheus/client_golang":     {"internal/telemetry"},
	"go.opentelemetry.io":                     {"internal/telemetry/traces"},
	"github.com/getkin/kin-openapi":           {"internal/admin/admintest"},
	"github.com/tailscale/hujson":             {"internal/clientconfig"},
	"github.com/pelletier/go-toml/v2":         {"internal/clientconfig"},
	"github.com/google/go-cmp":                {},
	"github.com/google/go-containerregistry":  {},
	"github.com/google/jsonschema-go":         {"runtime/internal/mcp/mcptest"},
	"github.com/rogpeppe/go-internal":         {"internal/session", "internal/guesttest", "internal/clientconfig"},
	"github.com/yuin/goldmark":                {"internal/markdown"},
	"github.com/yosida95/uritemplate":         {"internal/check"},
	"github.com/jackc/pgx/v5":                 {"runtime/capability/sqlcap/postgres"},
	"github.com/go-sql-driver/mysql":          {"runtime/capability/sqlcap/mysql"},
	"github.com/opencontainers/go-digest":     {"registry/internal/oci"},
	"github.com/opencontainers/image-spec":    {"registry/internal/oci"},
	"github.com/secure-systems-lab":           {"registry/internal/bundle"},
	"oras.land/oras-go/v2":                    {"registry/internal/remote"},
	"modernc.org/libc":                        {"runtime/capability/sqlcap/sqlite"},
	"modernc.org/sqlite":                      {"runtime/capability/kvcap/sqlitekv", "runtime/capability/sqlcap/sqlite", "internal/tenant/store", "internal/usage"}, // values of guests; databases of operators; tenants; bills
}

// row is a line of the map in ARCHITECTURE.md: a rank and one or more packages.
var (
	row  = regexp.MustCompile(`(?m)^\| ([0-9]+) \| ([^|]+) \|`)
	name = regexp.MustCompile("`([^`]+)`")
)

// ranks reads the map of the house. A package imports only packages of strictly lower rank.
func ranks(t *testing.T) map[string]int {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		for _, n := range name.FindAllStringSubmatch(r[2], -1) {
			found[n[1]], _ = strconv.Atoi(r[1])
		}
	}
	if len(found) == 0 {
		t.Fatal("ARCHITECTURE.md has no map")
	}
	return found
}

func TestImportsFollowTheRanks(t *testing.T) {
	ranks := ranks(t)
	for dir, imports := range packages(t) {
		rank, known := ranks[dir]
		if !known {
			t.Errorf("package %s has no rank: give it one in the map of ARCHITECTURE.md", dir)
			continue
		}
		for imported := range imports {
			local, ok := strings.CutPrefix(imported, module+"/")
			if ok && ranks[local] >= rank {
				t.Errorf("%s (rank %d) imports %s (rank %d), which is not lower", dir, rank, local, ranks[local])
			}
		}
	}
}

// The server must work without the fast path, which only makes it faster: so one package alone knows of it.
func TestTheFastPathCanBeRemoved(t *testing.T) {
	const fastPath, user = "runtime/internal/mcp/streamable/fastpath", "runtime"
	for dir, imports := range packages(t) {
		if imports[module+"/"+fastPath] && dir != user {
			t.Errorf("%s imports %s, which only %s may", dir, fastPath, user)
		}
	}
}

func TestDependenciesHaveOneDoor(t *testing.T) {
	for dir, imports := range packages(t) {
		for imported := range imports {
			if !strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") || strings.HasPrefix(imported, module) {
				continue
			}
			if door, ok := doorOf(imported); !ok || !slices.Contains(door, dir) {
				t.Errorf("%s imports %s, whose door is %v", dir, imported, door)
			}
		}
	}
}

func doorOf(imported string) ([]string, bool) {
	for dependency, door := range doors {
		if imported == dependency || strings.HasPrefix(imported, dependency+"/") {
			return door, true
		}
	}
	return nil, false
}

func TestEveryRankedPackageExists(t *testing.T) {
	found := packages(t)
	for _, dir := range slices.Sorted(maps.Keys(ranks(t))) {
		if _, ok := found[dir]; !ok {
			t.Errorf("package %s has a rank in ARCHITECTURE.md but no source", dir)
		}
	}
}

func TestDrawersWithoutANounAreRefused(t *testing.T) {
	for dir := range packages(t) {
		switch path.Base(dir) {
		case "util", "utils", "common", "helpers", "misc", "types", "models":
			t.Errorf("package %s: name it after what it owns", dir)
		}
	}
}

func TestFilesStayReadable(t *testing.T) {
	const wall = 700
	for _, file := range goFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines > wall {
			t.Errorf("%s has %d lines, at most %d", file, lines, wall)
		}
	}
}

// packages gives, for each folder of the root module with Go source, what its files import, tests aside.
func packages(t *testing.T) map[string]map[string]bool {
	t.Helper()
	found := map[string]map[string]bool{}
	for _, file := range goFiles(t) {
		rel, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Dir(filepath.ToSlash(rel))
		if found[dir] == nil {
			found[dir] = map[string]bool{}
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			found[dir][imported] = true
		}
	}
	return found
}

const root = "../.."

// goFiles lists the Go files of the root module; folders with a go.mod of their own, and testdata, are left out.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root {
			_, nested := os.Stat(filepath.Join(file, "go.mod"))
			if nested == nil || d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
		}
		if strings.HasSuffix(file, ".go") {
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
