package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
)

// Bounds of what --help prints. The help of a command fits on a screen of 80 columns; "help COMMAND" prints all of it.
const (
	helpLines    = 40
	maxHelpWidth = 100
	maxFlagWidth = 30 // columns of the names of flags, before their usages
	allCommands  = "commands"
)

// A detail says how much help prints. Each leaves out more than the one before it.
type detail int

const (
	allFlags     detail = iota // also those that the command shares with others
	fullUsages                 // of its own flags
	firstClauses               // of usages
	firstExample               // of the description: its first paragraph, and the block after it
	mainFlags                  // of the first category; the others by name
	oneLine                    // for each flag
)

// PrintHelp prints the short help of a command: as much as fits into 40 lines.
func PrintHelp(w io.Writer, t *Tree) error {
	for d := fullUsages; ; d++ {
		out := helpOf(w, t, d)
		if d == oneLine || bytes.Count(out, []byte("\n")) <= helpLines {
			_, err := w.Write(out)
			return err
		}
	}
}

// PrintManual prints all about a command.
func PrintManual(w io.Writer, t *Tree) error {
	_, err := w.Write(helpOf(w, t, allFlags))
	return err
}

// A help prints what there is to know about one command.
type help struct {
	out    *bytes.Buffer
	style  terminal.Style
	t      *Tree
	detail detail
}

// helpOf returns the help of a command for the width of the terminal w; 80 columns if w is none.
func helpOf(w io.Writer, t *Tree, d detail) []byte {
	h := &help{&bytes.Buffer{}, terminal.NewStyle(w), t, d}
	h.style.Width = min(h.style.Width, maxHelpWidth)
	name := strings.TrimSpace("wasmres " + t.Name)
	h.style.Paragraph(h.out, name+" - ", 3, t.Usage)
	fmt.Fprintln(h.out)
	h.style.Paragraph(h.out, "Usage: "+name+" ", 7, t.synopsis())
	h.description()
	h.commands()
	h.ownFlags()
	h.sharedFlags()
	h.end()
	return h.out.Bytes()
}

// synopsis says what follows the name of a command.
func (t *Tree) synopsis() string {
	if len(t.Flags) > 0 {
		return strings.TrimSpace("[FLAGS] " + t.Args)
	}
	return t.Args
}

// description prints paragraphs as wide as the terminal, and those that begin with a space as they are.
func (h *help) description() {
	if h.t.Description == "" {
		return
	}
	parts := strings.Split(strings.Trim(h.t.Description, "\n"), "\n\n")
	if h.detail >= firstExample && len(parts) > 2 {
		parts = []string{parts[0], withoutLead(parts[1])}
	}
	for _, part := range parts {
		if part == "" {
			continue
		}
		fmt.Fprintln(h.out)
		if strings.HasPrefix(part, " ") {
			fmt.Fprintln(h.out, part)
			continue
		}
		h.style.Paragraph(h.out, "", 0, part)
	}
}

// withoutLead returns a paragraph without its last sentence if that ends in a colon, which leads to a paragraph that is left out.
func withoutLead(paragraph string) string {
	if !strings.HasSuffix(paragraph, ":") {
		return paragraph
	}
	end := strings.LastIndex(strings.ReplaceAll(paragraph, "\n", " "), ". ")
	return paragraph[:end+1]
}

// commands prints the commands below this one. The short help of the program has only the names of most of them.
func (h *help) commands() {
	width := 0
	for _, c := range h.t.Commands {
		width = max(width, len(c.word()))
	}
	for i, s := range sectionsOf(h.t.Commands, func(c *Tree) string { return c.Category }) {
		if i > 1 && h.detail > allFlags {
			h.names(i == 2, s.title, len(s.items), func(at int) string { return s.items[at].word() })
			continue
		}
		h.title(s.title, "Commands")
		for _, c := range s.items {
			h.style.Paragraph(h.out, "   "+c.word(), 3+width+terminal.ColumnGap, c.Usage)
		}
	}
}

// word returns the last word of the name of a command.
func (t *Tree) word() string { return t.Name[strings.LastIndexByte(t.Name, ' ')+1:] }

// ownFlags prints the flags that this command does not share with others.
func (h *help) ownFlags() {
	own := visible(h.t.Flags, "")
	for i, s := range sectionsOf(own, func(f FlagInfo) string { return f.Category }) {
		if i > 0 && h.detail >= mainFlags {
			h.names(i == 1, s.title, len(s.items), func(at int) string { return "--" + s.items[at].Name })
			continue
		}
		h.title(s.title, "Flags")
		if h.detail >= mainFlags {
			own = s.items
		}
		h.flags(s.items, widthOf(own))
	}
}

// sharedFlags prints the names of the flags that this command shares with others, and all about them if all is asked for.
func (h *help) sharedFlags() {
	for _, g := range flagGroups {
		shared := visible(h.t.Flags, g.commands)
		slices.SortStableFunc(shared, func(a, b FlagInfo) int {
			return slices.Index(g.categories, a.Category) - slices.Index(g.categories, b.Category)
		})
		for i, s := range sectionsOf(shared, func(f FlagInfo) string { return f.Category }) {
			if i == 0 {
				h.title("Flags of all commands that "+g.commands+h.more(), "")
			}
			if h.detail > allFlags {
				h.names(false, s.title, len(s.items), func(at int) string { return "--" + s.items[at].Name })
				continue
			}
			fmt.Fprintf(h.out, "\n  %s:\n", s.title)
			h.flags(s.items, widthOf(shared))
		}
	}
}

// more says how to see what the short help leaves out of shared flags; nothing if it leaves out nothing.
func (h *help) more() string {
	if h.detail == allFlags {
		return ""
	}
	return ", see 'wasmres help " + h.t.Name + "'"
}

// end says how to see what the short help leaves out, unless the title of shared flags has said it.
func (h *help) end() {
	hasShared := slices.ContainsFunc(h.t.Flags, func(f FlagInfo) bool { return f.Group != "" })
	switch {
	case h.detail == allFlags || hasShared:
	case h.t.Name == "":
		fmt.Fprintf(h.out, "\nSee also: wasmres COMMAND --help, wasmres help %s\n", allCommands)
	case h.detail > fullUsages:
		fmt.Fprintf(h.out, "\nEverything about it: wasmres help %s\n", h.t.Name)
	}
}

func (h *help) title(category, otherwise string) {
	if category == "" {
		category = otherwise
	}
	fmt.Fprintf(h.out, "\n%s:\n", category)
}

// names prints names as a paragraph with a title, which loses what it has in parentheses.
func (h *help) names(first bool, title string, n int, name func(at int) string) {
	if first {
		fmt.Fprintln(h.out)
	}
	title, _, _ = strings.Cut(title, " (")
	var all []string
	for at := range n {
		all = append(all, name(at))
	}
	h.style.Paragraph(h.out, "   "+title+": ", 5, strings.Join(all, " "))
}

// flags prints flags, with width columns for their names.
func (h *help) flags(flags []FlagInfo, width int) {
	indent := 3 + width + terminal.ColumnGap
	for _, f := range flags {
		name, usage := "   "+f.Synopsis(), f.FullUsage()
		if over := utf8.RuneCountInString(name) + terminal.ColumnGap - indent; over > 0 {
			name += strings.Repeat(" ", terminal.ColumnGap)
		}
		if h.detail >= firstClauses {
			usage = firstClause(f.Usage)
		}
		if h.detail >= oneLine {
			usage = h.style.Clip(usage, h.style.Width-max(indent, utf8.RuneCountInString(name)))
		}
		h.style.Paragraph(h.out, name, indent, usage)
	}
}

// Synopsis returns the names of a flag and its value, as in "-o, --output FILE".
func (f FlagInfo) Synopsis() string {
	var names []string
	for _, n := range f.Aliases {
		names = append(names, dashed(n))
	}
	return strings.TrimSpace(strings.Join(append(names, dashed(f.Name)), ", ") + " " + f.Value)
}

// FullUsage returns the usage of a flag with its values, its default and the variable that it may come from.
func (f FlagInfo) FullUsage() string {
	usage := f.Usage
	if slices.ContainsFunc(f.Values, func(v string) bool { return !strings.Contains(usage, v) }) {
		usage += "; one of " + strings.Join(f.Values, ", ")
	}
	if f.Default != "" {
		usage += " (default: " + f.Default + ")"
	}
	if f.Env != "" {
		usage += " [$" + f.Env + "]"
	}
	return usage
}

// firstClause returns the beginning of a usage, up to what explains it.
func firstClause(usage string) string {
	for _, end := range []string{"; ", ": ", " (", ", as in "} {
		if first, _, found := strings.Cut(usage, end); found {
			usage = first
		}
	}
	return usage
}

// visible returns the flags of a group that are not hidden; with an empty group, those of none.
func visible(flags []FlagInfo, group string) []FlagInfo {
	return slices.DeleteFunc(slices.Clone(flags), func(f FlagInfo) bool { return f.Hidden || f.Group != group })
}

// widthOf returns the columns for the names of flags.
func widthOf(flags []FlagInfo) int {
	width := 0
	for _, f := range flags {
		width = max(width, utf8.RuneCountInString(f.Synopsis()))
	}
	return min(width, maxFlagWidth)
}

// A section has the items of one category.
type section[T any] struct {
	title string
	items []T
}

// sectionsOf returns a section for each category, in the order in which they come first.
func sectionsOf[T any](all []T, category func(T) string) (sections []section[T]) {
	for _, item := range all {
		title := category(item)
		at := slices.IndexFunc(sections, func(s section[T]) bool { return s.title == title })
		if at < 0 {
			at, sections = len(sections), append(sections, section[T]{title: title})
		}
		sections[at].items = append(sections[at].items, item)
	}
	return sections
}
