// Command manual writes the manual pages of wasmres into a folder: wasmres.1, and a page for each command.
//
//	go run ./cmd/wasmres/internal/manual [-version VERSION] [-date DATE] FOLDER
//
// The program itself has no code for them, as each worker would start with it.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/commands"
)

func main() {
	version, date := flag.String("version", "", "of the program"), flag.String("date", "", "of the version, as 2026-11-28")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: manual [-version VERSION] [-date DATE] FOLDER")
		os.Exit(cli.StatusUsage)
	}
	if err := writePages(flag.Arg(0), *version, *date); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(cli.StatusFailed)
	}
}

func writePages(folder, version, date string) error {
	program := cli.Describe(commands.New(nil, nil, nil))
	for _, t := range append([]*cli.Tree{program}, program.Commands...) {
		p := &page{version: version, date: date}
		p.write(t)
		name := strings.TrimSuffix("wasmres-"+t.Name, "-") + ".1"
		if err := os.WriteFile(filepath.Join(folder, name), p.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A page is a manual page in the macros of man(7).
type page struct {
	bytes.Buffer
	version, date string
}

func (p *page) write(t *cli.Tree) {
	name := strings.TrimSuffix("wasmres-"+t.Name, "-")
	fmt.Fprintf(p, ".TH %s 1 %q \"wasmres %s\"\n", strings.ToUpper(escape(name)), p.date, escape(p.version))
	p.line(".SH NAME", "", escape(name)+` \- `+escape(t.Usage))
	p.line(".SH SYNOPSIS", ".B ", escape(commandName(t)))
	p.text(t.Args)
	p.description(t, ".SH DESCRIPTION")
	p.flags(t)
	for _, c := range t.Commands {
		if t.Name == "" {
			continue
		}
		p.line(".SH ", "", strings.ToUpper(escape(c.Name)))
		p.text(c.Usage)
		p.line(".PP", ".B ", escape(commandName(c)))
		p.text(c.Args)
		p.description(c, ".PP")
		p.flags(c)
	}
	if t.Name == "" {
		p.commands(t)
		return
	}
	p.line(".SH SEE ALSO", ".BR ", `wasmres (1)`)
}

func commandName(t *cli.Tree) string { return strings.TrimSpace("wasmres " + t.Name) }

// commands lists all commands, with a page for each.
func (p *page) commands(t *cli.Tree) {
	p.line(".SH COMMANDS", "", "")
	for _, c := range t.Commands {
		p.line(".TP", ".BR ", escape("wasmres-"+c.Name)+" (1)")
		p.text(c.Usage)
	}
}

// description writes paragraphs; those that begin with a space stand as they are.
func (p *page) description(t *cli.Tree, head string) {
	if t.Description == "" {
		return
	}
	p.line(head, "", "")
	for i, part := range strings.Split(strings.Trim(t.Description, "\n"), "\n\n") {
		if i > 0 {
			p.line(".PP", "", "")
		}
		if !strings.HasPrefix(part, " ") {
			p.text(part)
			continue
		}
		p.line(".nf", "", "")
		for line := range strings.Lines(part) {
			p.line("", "", escape(strings.TrimRight(line, "\n")))
		}
		p.line(".fi", "", "")
	}
}

// flags writes the flags of a command by category, its own first.
func (p *page) flags(t *cli.Tree) {
	for _, shared := range []bool{false, true} {
		category := "\x00"
		for _, f := range t.Flags {
			if f.Hidden || shared != (f.Group != "") {
				continue
			}
			if f.Category != category {
				category = f.Category
				p.line(".SS ", "", escape(cmp.Or(category, "Flags")))
			}
			p.line(".TP", ".B ", escape(f.Synopsis()))
			p.text(f.FullUsage())
		}
	}
}

// line writes a macro on a line of its own, unless it is empty or takes what follows, and then a line; an empty one is left out.
func (p *page) line(macro, before, text string) {
	switch {
	case strings.HasSuffix(macro, " "):
		before, macro = macro, ""
	case macro != "":
		fmt.Fprintln(p, macro)
	}
	if text != "" {
		fmt.Fprintln(p, before+text)
	}
}

// text writes a paragraph, a line for each of its lines.
func (p *page) text(text string) {
	for line := range strings.Lines(text) {
		p.line("", "", escape(strings.TrimRight(line, "\n")))
	}
}

// escape returns text for a line of troff, in which nothing is a macro.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "…", "...", "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		return `\&` + text
	}
	return text
}
