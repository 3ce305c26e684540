package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/wasmres/wasmres/internal/printable"
)

// Output formats.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatYAML  = "yaml"
)

// What --output-format means: for commands that print an answer of MCP, and for those that print something of ours.
const (
	resultFormats = reportFormats + "; json is the MCP result"
	reportFormats = "print as `FORMAT`: table (or plain text), json or yaml"
)

func formatFlag(usage string) cli.Flag {
	return &cli.StringFlag{Name: "output-format", Category: categoryOutput, Value: formatTable, Usage: usage}
}

func outputFormat(c *cli.Context) (string, error) {
	switch f := c.String("output-format"); f {
	case formatTable, formatJSON, formatYAML:
		return f, nil
	default:
		return "", usagef(c, "--output-format %s: it is one of table, json, yaml", f)
	}
}

// printData prints a JSON text for machines.
func printData(w io.Writer, format string, text json.RawMessage) error {
	if format == formatYAML {
		out, err := yaml.JSONToYAML(text)
		if err != nil {
			return fmt.Errorf("as yaml: %w", err)
		}
		_, err = w.Write(out)
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(text)
}

// A table prints rows in columns.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, head ...string) *table {
	t := &table{tabwriter.NewWriter(w, 0, 8, columnGap, ' ', 0)}
	if len(head) > 0 {
		t.row(head...)
	}
	return t
}

// row prints one row, each cell on one line that cannot steer the terminal.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = cell(c)
	}
	fmt.Fprintln(t.w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

func cell(s string) string { return printable.Line(oneSpaced(s)) }

func oneSpaced(s string) string { return strings.Join(strings.Fields(s), " ") }

func (t *table) flush() error { return t.w.Flush() }

// printTable prints rows of a list, whose last cell is a description: on a terminal, that is cut to fit.
func printTable(w io.Writer, head []string, rows [][]string) error {
	cutLast(append([][]string{head}, rows...), terminalWidth(w))
	t := newTable(w, head...)
	for _, r := range rows {
		t.row(r...)
	}
	return t.flush()
}

const (
	columnGap  = 2
	leastWidth = 20 // of a description: narrower says nothing, and the terminal may wrap
)

// cutLast cuts the last cell of each row so that rows are no wider than width. A width of 0 is unknown: nothing is cut.
func cutLast(rows [][]string, width int) {
	if width <= 0 {
		return
	}
	last := len(rows[0]) - 1
	for i := range last {
		column := 0
		for _, r := range rows {
			column = max(column, utf8.RuneCountInString(cell(r[i])))
		}
		width -= column + columnGap
	}
	for _, r := range rows {
		r[last] = clip(cell(r[last]), max(width, leastWidth))
	}
}

// terminalWidth is the columns of the terminal w, 0 when it is none.
func terminalWidth(w io.Writer) int {
	if !terminal(w) {
		return 0
	}
	width, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// grouped gives a number with commas between its thousands.
func grouped(n uint64) string {
	digits := []byte(fmt.Sprint(n))
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = slices.Insert(digits, at, ',')
	}
	return string(digits)
}

// humanSize prints a number of bytes for people.
func humanSize(n uint64) string {
	const step = 1024
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/step, 0
	for value >= step && unit < 3 {
		value, unit = value/step, unit+1
	}
	return fmt.Sprintf("%.1f %s", value, []string{"KiB", "MiB", "GiB", "TiB"}[unit])
}

// clip shortens a text for a table cell.
func clip(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width {
		return s
	}
	return string(runes[:width-1]) + "…"
}
