package terminal

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal/terminaltest"
)

func TestCutLast(t *testing.T) {
	rows := func(last string) [][]string {
		return [][]string{{"URI", "DESCRIPTION"}, {"x:a", "short"}, {"x:bcdef", last}}
	}
	const long = "A description of more than thirty characters."
	for name, tt := range map[string]struct {
		width int
		want  string
	}{
		"no terminal":    {0, long},
		"wide":           {80, long},
		"narrow":         {39, "A description of more than th…"},
		"far too narrow": {5, "A description of mo…"},
	} {
		t.Run(name, func(t *testing.T) {
			got := rows(long)
			cutLast(got, tt.width)
			if diff := cmp.Diff(rows(tt.want), got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestTableEscapesText(t *testing.T) {
	var out bytes.Buffer
	hostile := []string{terminaltest.Hostile, terminaltest.Hostile}
	if err := PrintTable(&out, []string{"NAME", "ABOUT"}, [][]string{hostile}); err != nil {
		t.Fatal(err)
	}
	terminaltest.CheckEscaped(t, out.String())
}

// Columns stay columns with characters that are wide, combine or join, and whatever cells are empty.
func TestTableColumns(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out, "NAME", "TYPE", "ABOUT")
	table.Row("漢字", "text", "wide")
	table.Row("e\u0301e\u0301", "", "combining")
	table.Row("a name without more")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "NAME  TYPE  ABOUT\n漢字  text  wide\ne\u0301e\u0301          combining\na name without more\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}
