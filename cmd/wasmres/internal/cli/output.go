package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
)

// Output formats.
const (
	FormatTable = "table"
	formatJSON  = "json"
	formatYAML  = "yaml"
)

const CategoryOutput = "Output"

// What --output-format means: for commands that print an answer of MCP, and for those that print something of ours.
const (
	ResultFormats = ReportFormats + "; json is the MCP result"
	ReportFormats = "print as `FORMAT`: table (or plain text), json or yaml"
)

func FormatFlag(usage string) Flag {
	return &StringFlag{Name: "output-format", Category: CategoryOutput, Value: FormatTable, Usage: usage}
}

func OutputFormat(c *Context) (string, error) {
	switch f := c.String("output-format"); f {
	case FormatTable, formatJSON, formatYAML:
		return f, nil
	default:
		return "", Usagef(c, "--output-format %s: it is one of table, json, yaml", f)
	}
}

// PrintData prints a JSON text for machines.
func PrintData(w io.Writer, format string, text json.RawMessage) error {
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

// PrintValue prints a value for machines.
func PrintValue(w io.Writer, format string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return PrintData(w, format, text)
}
