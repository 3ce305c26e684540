package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
)

// TestPages does what the pages for authors of providers say, each in a folder of its own, from top to bottom:
//
//   - A block of source code is a file, which the line before it names at its end, as in "`main.go`:". It is written.
//   - In a block "console", lines that begin with "$ " are commands, and those that follow are what they print: stdout
//     and stderr, where "…" stands for anything, alone on a line for any lines, and the width of spaces does not count.
//     A command fails where its line ends in "# exit status N", and only there.
//   - Commands that do not end go on until the end of the page, servers until the next one starts, and "wasmres dev" until
//     "wasmres build" as well. A block without commands is what the last of them prints next. Variables that are exported stay.
//   - A page's names for what differs in each run are taken for those that are printed: see [standIns] and [newReader].
//
// Other blocks are left out, as "sh", which is what a reader does to a machine: the line before it is a comment of HTML that
// says why no test runs it. A page about a language makes a new project in its first block.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds projects")
	}
	pages, err := filepath.Glob("../../docs/languages/*.md")
	if err != nil || len(pages) != len(project.Languages()) {
		t.Fatalf("there are %d pages about %d languages: %v", len(pages), len(project.Languages()), err)
	}
	tutorials, err := filepath.Glob("../../docs/tutorials/*.md")
	if err != nil || len(tutorials) == 0 {
		t.Fatalf("there are no tutorials: %v", err)
	}
	bin := filepath.Dir(guesttest.Program(t))
	quickNode(t, bin)
	for _, file := range append(append(pages, tutorials...), "../../README.md",
		"../../docs/patterns.md", "../../docs/porting.md", "../../docs/hosting.md", "../../docs/operating.md", "../../docs/registry.md",
		"../../docs/clients.md", "../../docs/providers.md", "../../docs/check.md", "../../docs/testing.md", "../../docs/capabilities.md", "../../docs/abi.md", "../../docs/images.md") {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := parsePage(string(text))
			if err != nil {
				t.Fatalf("%s:%v", file, err)
			}
			r := newReader(t, file, bin)
			for i, b := range blocks {
				r.do(b)
				if lang := project.Language(name); i == 0 && slices.Contains(project.Languages(), lang) {
					r.testNewProject(lang)
				}
			}
		})
	}
}

// A block is something a page has the reader do.
type block struct {
	line int // of the page
	file string
	text string // of the file, or what is printed without a command
	runs []commandLine
}

// A commandLine is a command and what it prints.
type commandLine struct {
	line   int
	shell  string
	status int
	output string
}

var (
	fence    = regexp.MustCompile("^```+([a-z]*)$")
	fileName = regexp.MustCompile("`([^` ]+)`:$")
	failing  = regexp.MustCompile(`# exit status ([1-9])$`)
	notRun   = regexp.MustCompile(`^<!-- not run: .+ -->$`)
	indented = regexp.MustCompile(`^    (\$ |wasmres )`) // a block of commands without a fence

	sources = []string{"go", "rust", "c", "ts", "js", "python"} // languages whose blocks must be files
)

// parsePage returns the blocks that a reader acts on. An error begins with a line's number.
func parsePage(text string) (blocks []block, err error) {
	lines := strings.Split(text, "\n")
	before := "" // the last line that is not empty
	for i := 0; i < len(lines); i++ {
		open := fence.FindStringSubmatch(lines[i])
		if open == nil {
			if indented.MatchString(lines[i]) {
				return nil, fmt.Errorf("%d: write commands in a block console, or sh", i+1)
			}
			if strings.TrimSpace(lines[i]) != "" {
				before = lines[i]
			}
			continue
		}
		length := slices.Index(lines[i+1:], strings.TrimSuffix(lines[i], open[1]))
		if length < 0 {
			return nil, fmt.Errorf("%d: the block does not end", i+1)
		}
		b := block{line: i + 2, text: strings.Join(lines[i+1:i+1+length], "\n") + "\n"}
		if name := fileName.FindStringSubmatch(before); name != nil {
			b.file = name[1]
		}
		reason := notRun.MatchString(before)
		i, before = i+1+length, ""
		switch {
		case b.file == "" && (open[1] == "sh" || strings.HasPrefix(b.text, "$ ")) && open[1] != "console" && !reason:
			return nil, fmt.Errorf("%d: make the block console, or sh after a line <!-- not run: WHY -->", b.line)
		case open[1] == "console":
			b.parseCommands()
			blocks = append(blocks, b)
		case b.file != "":
			blocks = append(blocks, b)
		case slices.Contains(sources, open[1]):
			return nil, fmt.Errorf("%d: the line before the block does not end in the name of a file, as in `main.go`:", b.line)
		}
	}
	return blocks, nil
}

// parseCommands parts the text into commands and what each prints.
func (b *block) parseCommands() {
	b.file = ""
	lines := strings.SplitAfter(strings.TrimSuffix(b.text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			if last := len(b.runs) - 1; last >= 0 {
				b.runs[last].output += lines[i]
			}
			continue
		}
		run := commandLine{line: b.line + i}
		for ; strings.HasSuffix(line, "\\\n") && i+1 < len(lines); i++ {
			line += lines[i+1]
		}
		run.shell = strings.TrimSpace(line)
		if status := failing.FindStringSubmatch(run.shell); status != nil {
			run.status = int(status[1][0] - '0')
		}
		b.runs = append(b.runs, run)
	}
}

// standIns are what pages show for names that differ in each run.
var standIns = map[string]string{"k7q2mzm5x3fd": `[a-z0-9]{12}`} // by what stands for it: the ID of a key

// prints reports whether what was printed is what a page shows, and what stood for the names of standIns.
func prints(shown, printed string) (names map[string]string, ok bool) {
	var expr strings.Builder
	expr.WriteString(`\A`)
	for line := range strings.Lines(tidy(shown)) {
		if line == "…\n" {
			expr.WriteString(`(?:.*\n)*?`)
			continue
		}
		line = strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
		for name, form := range standIns {
			line = strings.ReplaceAll(line, name, "(?P<"+name+">"+form+")")
		}
		expr.WriteString(line)
	}
	all := regexp.MustCompile(expr.String() + `\z`)
	found := all.FindStringSubmatch(tidy(printed))
	if found == nil {
		return nil, false
	}
	names = map[string]string{}
	for i, name := range all.SubexpNames() {
		if name != "" {
			names[name] = found[i]
		}
	}
	return names, true
}

// spaces between words are one space, as the width of columns depends on versions and sizes.
var spaces = regexp.MustCompile(`[ \t]+`)

// tidy leaves the spaces at the ends of lines out, and the empty lines at the end.
func tidy(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(spaces.ReplaceAllString(line, " "), " \r\n") + "\n")
	}
	if text = strings.TrimRight(b.String(), "\n"); text != "" {
		text += "\n"
	}
	return text
}

func TestPrints(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"", "", true}, {"", "\n", true}, {"", "a\n", false}, {"a", "a\n", true}, {"a", "a  \n\n", true}, {"a", "ab", false},
		{"a…c", "abc", true}, {"a…c", "ac", true}, {"a…c", "a\nc", false}, {"a.c", "abc", false},
		{"…\nb", "b", true}, {"…\nb", "a\na\nb\n", true}, {"…", "", true}, {"a  b", "a\tb", true},
		{"a b", "ab", false}, {"…\nb", "a\nab", false}, {"a\n…", "a\nb\nc", true},
	} {
		if _, got := prints(c.shown, c.printed); got != c.want {
			t.Errorf("%q shown, %q printed: got %v", c.shown, c.printed, got)
		}
	}
}

func TestPrintsNames(t *testing.T) {
	names, ok := prints("Key k7q2mzm5x3fd of …", "Key abcdefgh2345 of acme\n")
	if !ok || names["k7q2mzm5x3fd"] != "abcdefgh2345" {
		t.Errorf("got %v, %v", names, ok)
	}
}

func TestPagesSayWhyBlocksAreNotRun(t *testing.T) {
	for _, page := range []string{
		"```sh\nwasmres serve\n```\n", "text:\n\n```\n$ wasmres serve\n```\n", "    wasmres serve\n", "```go\nx\n```\n",
	} {
		if _, err := parsePage(page); err == nil {
			t.Errorf("%q is accepted", page)
		}
	}
	if _, err := parsePage("<!-- not run: it needs systemd -->\n```sh\nwasmres serve\n```\n"); err != nil {
		t.Error(err)
	}
}

// quickNode makes a program node in bin that runs Node.js, if there is one, as [guesttest.AssemblyScript] does.
func quickNode(t *testing.T, bin string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		return // a page that needs it says so
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' %s \"$@\"\n", node, guesttest.NodeFlag)
	if err := os.WriteFile(filepath.Join(bin, "node"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// readmeFiles makes the files that a reader of the README has after running make: the README and examples.
func readmeFiles(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# wasmres\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, example := range []string{"hello", "project"} {
		folder := filepath.Join(dir, "examples", "wasm", example)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(guesttest.File(t, example), filepath.Join(folder, example+".wasm")); err != nil {
			t.Fatal(err)
		}
	}
}
