package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/commands"
	"github.com/wasmres/wasmres/internal/telemetry"
	"github.com/wasmres/wasmres/runtime/accesslog"
)

//go:generate go test -run=^TestReference$ -update .

const referenceDir = "../../docs/reference"

// TestReference holds the pages of docs/reference to the code. With -update it writes them.
func TestReference(t *testing.T) {
	for page, make := range map[string]func(*testing.T) string{
		"commands.md": commandsPage, "limits.md": limitsPage, "errors.md": errorsPage, "metrics.md": metricsPage,
	} {
		t.Run(page, func(t *testing.T) {
			file := filepath.Join(referenceDir, page)
			text := make(t) + "\n*Made from the code by `go generate ./cmd/wasmres`.*\n"
			if runtime.GOOS != "linux" {
				t.Skip("defaults of flags differ by system: the page has those of Linux")
			}
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			page, err := os.ReadFile(file)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(text, string(page)); diff != "" {
				t.Errorf("the page is stale: run go generate ./cmd/wasmres; code -, page +:\n%s", diff)
			}
		})
	}
}

// commandsPage lists the commands with their flags. Flags that several commands have in the same words stand once, at the end.
func commandsPage(*testing.T) string {
	all := allCommands()[1:] // without the program itself
	slices.SortFunc(all, func(a, b *cli.Tree) int { return strings.Compare(a.Name, b.Name) })
	used := map[string]int{} // rows of flags
	for _, c := range all {
		for _, f := range c.Flags {
			used[flagRow(f)]++
		}
	}
	const several = 6 // commands that have a flag whose row stands at the end
	var b strings.Builder
	b.WriteString("# Commands\n\nEach command has `--help`. [Flags of many commands](#flags-of-many-commands) stand once, at the end.\n")
	shared := map[string]string{} // rows of flags by their names
	for _, c := range all {
		fmt.Fprintf(&b, "\n## wasmres %s\n\n%s.\n", c.Name, upperFirst(c.Usage))
		if len(c.Commands) > 0 {
			continue
		}
		fmt.Fprintf(&b, "\n    %s\n", strings.TrimSpace("wasmres "+c.Name+" "+c.Args))
		var rows, others []string
		for _, f := range c.Flags {
			row := flagRow(f)
			if used[row] >= several {
				shared[f.Name] = row
				others = append(others, "`--"+f.Name+"`")
				continue
			}
			rows = append(rows, row)
		}
		if len(rows) > 0 {
			b.WriteString("\n| flag | default | |\n|---|---|---|\n" + strings.Join(rows, ""))
		}
		if len(others) > 0 {
			fmt.Fprintf(&b, "\nAlso %s.\n", strings.Join(others, ", "))
		}
	}
	b.WriteString("\n## Flags of many commands\n\n| flag | default | |\n|---|---|---|\n")
	names := make([]string, 0, len(shared))
	for name := range shared {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.WriteString(shared[name])
	}
	return b.String()
}

func flagRow(f cli.FlagInfo) string {
	names := "--" + f.Name
	for _, alias := range f.Aliases {
		names += ", " + strings.Repeat("-", min(len(alias), 2)) + alias
	}
	usage := f.Usage
	if f.Env != "" {
		usage += "; also by the environment variable `" + f.Env + "`"
	}
	flag := strings.TrimSpace(names + " " + f.Value)
	return fmt.Sprintf("| `%s` | %s | %s |\n", strings.ReplaceAll(flag, "|", `\|`), inCell(f.Default), inCell(usage))
}

// inCell escapes a text for a cell of a table.
func inCell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "\n", " ").Replace(strings.TrimSpace(text))
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// limitFlags has the flags of the limits whose fields have other names.
var limitFlags = map[string]string{
	"MilliCPU": "cpu", "Wait": "max-wait", "Table": "max-table", "Output": "max-output", "Items": "max-items", "Log": "max-log",
	"LogLines": "max-log-lines", "HostCalls": "max-host-calls", "Calls": "max-calls", "Sessions": "max-sessions",
}

// limitsPage lists the limits of a provider and of its module, from the comments of package limits.
func limitsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Limits, one by one\n\n[limits.md](../limits.md) says how they work together, and has those of a server.\n\n" +
		"## A provider\n\nFlags of `wasmres run`, and of every command that opens a provider.\n\n| flag | default | | the limit inside |\n|---|---|---|---|\n")
	opens := cli.Describe(commands.New(nil, nil, nil)).Find("run")
	for _, f := range structFields(t, "../../runtime/limits/limits.go", "Limits") {
		flag := cmp.Or(limitFlags[f.Names[0].Name], strings.ToLower(f.Names[0].Name))
		at := slices.IndexFunc(opens.Flags, func(f cli.FlagInfo) bool { return f.Name == flag })
		if at < 0 {
			t.Fatalf("wasmres run has no flag --%s: name that of %s in limitFlags", flag, f.Names[0].Name)
		}
		fmt.Fprintf(&b, "%s %s |\n", strings.TrimSuffix(flagRow(opens.Flags[at]), "\n"), limitText(f))
	}
	b.WriteString("\n## A module\n\n`--admit LIMIT=N` sets these; an error names the limit that a module exceeds.\n\n| limit | |\n|---|---|\n")
	for _, f := range structFields(t, "../../runtime/limits/module.go", "Module") {
		fmt.Fprintf(&b, "| `%s` | %s |\n", snakeCase(f.Names[0].Name), limitText(f))
	}
	return b.String()
}

var abiCode = regexp.MustCompile(`abi\.(Code|Lifecycle)([A-Za-z]+)`)

// limitText returns the comment of a field without its name, and with codes as clients see them.
func limitText(f *ast.Field) string {
	text := strings.TrimPrefix(strings.Join(strings.Fields(f.Doc.Text()), " "), f.Names[0].Name+" is ")
	text = strings.TrimPrefix(text, f.Names[0].Name+" is, ")
	text = abiCode.ReplaceAllStringFunc(text, func(name string) string {
		return "`" + snakeCase(abiCode.FindStringSubmatch(name)[2]) + "`"
	})
	return inCell(upperFirst(text))
}

func snakeCase(name string) string {
	return strings.ToLower(camelCase.ReplaceAllString(name, "${1}_$2"))
}

var camelCase = regexp.MustCompile(`([a-z])([A-Z])`)

func structFields(t *testing.T, file, name string) []*ast.Field {
	t.Helper()
	var fields []*ast.Field
	ast.Inspect(parseSource(t, file), func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == name {
			fields = spec.Type.(*ast.StructType).Fields.List
		}
		return true
	})
	if len(fields) == 0 {
		t.Fatalf("%s has no struct %s", file, name)
	}
	return fields
}

func parseSource(t *testing.T, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// errorsPage lists the codes of the ABI, and how package mcp reports each to clients.
func errorsPage(t *testing.T) string {
	mcp := parseSource(t, "../../runtime/internal/mcp/error.go")
	failures := parseSource(t, "../../runtime/internal/mcp/failure.go")
	rpc := constants(mcp)
	for name, c := range constants(failures) {
		rpc[name] = c
	}
	classes := map[string][2]string{} // JSON-RPC codes and messages, by names of codes of the ABI
	ast.Inspect(failures, func(n ast.Node) bool {
		entry, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, isName := entry.Key.(*ast.SelectorExpr)
		class, isClass := entry.Value.(*ast.CompositeLit)
		if isName && isClass && len(class.Elts) == 3 {
			classes[key.Sel.Name] = [2]string{rpc[class.Elts[0].(*ast.Ident).Name].value, strings.Trim(class.Elts[2].(*ast.BasicLit).Value, `"`)}
		}
		return true
	})
	if len(classes) < 20 {
		t.Fatalf("found %d classes of errors", len(classes))
	}
	var b strings.Builder
	b.WriteString("# Error codes\n\n[clients.md](../clients.md#errors) says what else an error has.\n\n" +
		"## Codes of the ABI\n\nGuests may answer 0 to 31; the host alone states the others. A client gets the JSON-RPC code, the name as `data.code`, and\n" +
		"the message unless the provider has one of its own.\n\n| code | name | meaning | JSON-RPC | message |\n|---|---|---|---|---|\n")
	abiCodes := constants(parseSource(t, "../../abi/code.go"))
	for _, name := range sortedByValue(abiCodes) {
		c := abiCodes[name]
		class, ok := classes[name]
		switch {
		case name == "CodeOK":
			class = [2]string{}
		case !ok:
			class = [2]string{rpc["CodeInternalError"].value, "Internal error"}
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", c.value, codeName(c.value), inCell(cmp.Or(c.comment, "success")), class[0], class[1])
	}
	b.WriteString("\n## Codes of JSON-RPC and MCP\n\n| code | name |\n|---|---|\n")
	for _, name := range sortedByValue(constants(mcp)) {
		c := constants(mcp)[name]
		words := strings.ReplaceAll(snakeCase(name[len("Code"):]), "_", " ")
		fmt.Fprintf(&b, "| %s | %s |\n", c.value, strings.TrimSuffix(words+": "+c.comment, ": "))
	}
	return b.String()
}

// metricsPage lists the metrics of package telemetry.
func metricsPage(t *testing.T) string {
	m := telemetry.New(telemetry.Config{Version: "1", State: func() telemetry.State { return telemetry.State{Expiry: time.Now()} }})
	m.Observe("acme", accesslog.Entry{Time: time.Now(), Method: "resources/read", Code: "ok"})
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	types := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(answer.Body.String(), -1) {
		types[found[1]] = found[2]
	}
	described := regexp.MustCompile(`^Desc\{fqName: "(.*)", help: "(.*?)",(?: unit: "",)? constLabels: \{\}, variableLabels: \{(.*)\}\}$`)
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		m.Describe(descs)
	}()
	var rows []string
	for d := range descs {
		parts := described.FindStringSubmatch(d.String())
		if parts == nil {
			t.Errorf("%s is unlike others", d)
			continue
		}
		kind := types[parts[1]]
		if kind == "" && strings.HasSuffix(parts[1], "_total") {
			kind = "counter" // those that are zero are left out
		}
		if kind == "" {
			t.Errorf("%s was not collected: what is its type?", parts[1])
		}
		labels := ""
		if parts[3] != "" {
			labels = "`" + strings.Join(strings.FieldsFunc(parts[3], func(r rune) bool { return r == ',' || r == ' ' }), "`, `") + "`"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", parts[1], kind, labels, inCell(parts[2])))
	}
	slices.Sort(rows)
	return "# Metrics\n\n`wasmres serve` answers `/metrics` at `admin.listen` of `serve.yaml`. " +
		"[hosting.md](../hosting.md#probes-and-metrics) says what the labels\nmean. `go_*` and `process_*` are those of Prometheus's Go client.\n\n" +
		"| metric | type | labels | |\n|---|---|---|---|\n" + strings.Join(rows, "")
}
