package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/goccy/go-yaml"
	"github.com/urfave/cli/v2"
)

// Output formats.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatYAML  = "yaml"
)

func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "output-format", Category: categoryOutput, Value: formatTable, Usage: "print as `FORMAT`: table, json (the MCP result) or yaml"}
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
	t := &table{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)}
	if len(head) > 0 {
		t.row(head...)
	}
	return t
}

// row prints one row. Guests cannot steer the terminal with it: control characters never pass the ABI.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.Join(strings.Fields(c), " ")
	}
	fmt.Fprintln(t.w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

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
