package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
)

// Output formats. FormatTable is text for a person.
const (
	FormatTable = "table"
	FormatJSON  = "json"
	formatYAML  = "yaml"
)

// CategoryOutput is the category, in the help, of flags that say what to print.
const CategoryOutput = "Output"

// Usages of [FormatFlag]: of commands that print an MCP result, and of those that print a report of their own.
const (
	ResultFormats = ReportFormats + "; json is the MCP result"
	ReportFormats = "print as `FORMAT`: table (or plain text), json or yaml"
)

// FormatFlag returns the flag --output-format.
func FormatFlag(usage string) Flag {
	return Choice(&StringFlag{Name: "output-format", Category: CategoryOutput, Value: FormatTable, Usage: usage}, FormatTable, FormatJSON, formatYAML)
}

// OutputFormat returns the value of --output-format, which must be one of the formats.
func OutputFormat(c *Context) (string, error) {
	switch f := c.String("output-format"); f {
	case FormatTable, FormatJSON, formatYAML:
		return f, nil
	default:
		return "", Usagef(c, "--output-format %s: it is one of table, json, yaml", f)
	}
}

// PrintData prints a JSON text as JSON or YAML.
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

// PrintValue prints a value as JSON or YAML.
func PrintValue(w io.Writer, format string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return PrintData(w, format, text)
}
