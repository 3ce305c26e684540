// The program table has wasmres and other people's programs work on the same providers, and writes what works into the table
// of docs/registry.md. It fails if a cell does.
//
//	cd registry/internal/interop && go run ./table
package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/registry/internal/interop/clients"
)

const page = "../../../docs/registry.md"

// The marks between which the table is in the page.
const (
	begin = "<!-- make interop writes this table -->\n"
	end   = "<!-- the end of the table -->\n"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run runs each cell with either registry on the other side.
func run() error {
	work, err := os.MkdirTemp("", "interop-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	programs, err := clients.Build(work)
	if err != nil {
		return err
	}
	results := map[string]string{}
	var failed []error
	for _, registry := range []string{"docker-registry", "crane"} {
		w, err := newWorld(programs, registry, filepath.Join(work, registry))
		if err != nil {
			return err
		}
		for _, c := range cells {
			if err := c.run(w); err != nil {
				failed = append(failed, fmt.Errorf("%s, %s, with the registry of %s: %w", c.operation, c.program, registry, err))
				continue
			}
			results[c.operation+c.program] = c.how
		}
		w.close()
	}
	return errors.Join(append(failed, write(results))...)
}

// write replaces the table in the page.
func write(results map[string]string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(text, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return fmt.Errorf("%s has not the marks of the table", page)
	}
	return os.WriteFile(page, slices.Concat(before, []byte(begin+markdown(results)+end), after), 0o644)
}

// markdown returns a row for each operation and a column for each program. A cell that failed says so.
func markdown(results map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s |\n|---%s|\n", strings.Join(columns, " | "), strings.Repeat("|---", len(columns)))
	for _, operation := range operations {
		fmt.Fprintf(&b, "| %s |", operation)
		for _, program := range columns {
			text, ok := results[operation+program]
			if !ok {
				text = "**fails**"
			}
			if !slices.ContainsFunc(cells, func(c cell) bool { return c.operation == operation && c.program == program }) {
				text = "–"
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	return b.String()
}
