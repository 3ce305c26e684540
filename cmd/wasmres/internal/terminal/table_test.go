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

// Rows whose other cells leave no room for the description become paragraphs, and lose nothing.
func TestTableOnANarrowTerminal(t *testing.T) {
	head := []string{"URI", "TYPE", "DESCRIPTION"}
	rows := func() [][]string {
		return [][]string{{"notes://notes/today", "text/markdown", "What was written today, and by whom."}, {"notes://a", "", "Short."}}
	}
	for width, want := range map[int]string{
		0:  "URI                  TYPE           DESCRIPTION\nnotes://notes/today  text/markdown  What was written today, and by whom.\nnotes://a                           Short.\n",
		60: "URI                  TYPE           DESCRIPTION\nnotes://notes/today  text/markdown  What was written today,…\nnotes://a                           Short.\n",
		40: "URI          notes://notes/today\nTYPE         text/markdown\nDESCRIPTION  What was written today, and\n             by whom.\n\nURI          notes://a\nDESCRIPTION  Short.\n",
	} {
		var out bytes.Buffer
		if err := printTable(&out, width, head, rows()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%d columns: want -, got +:\n%s", width, diff)
		}
	}
}

func TestTableBreaksTheLastCell(t *testing.T) {
	var out bytes.Buffer
	table := &Table{w: &out, width: 32}
	table.Row("landlock", "ABI 7, no files and no more than that")
	table.Row("seccomp", "sealed")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "landlock  ABI 7, no files and no\n          more than that\nseccomp   sealed\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestFiguresLeaveNumbersOut(t *testing.T) {
	rows := [][]string{{"TENANT", "REQ/S", "LIMITED", "FAULTS"}, {"a-tenant-with-a-long-name", "412.0", "0", "0"}}
	for width, want := range map[int]string{
		80: "TENANT                     REQ/S  LIMITED  FAULTS\na-tenant-with-a-long-name  412.0        0       0\n",
		46: "TENANT                  REQ/S  LIMITED  FAULTS\na-tenant-with-a-long-…  412.0        0       0\n",
		40: "TENANT                    REQ/S  LIMITED\na-tenant-with-a-long-na…  412.0        0\n",
	} {
		var out bytes.Buffer
		style := Style{Width: width}
		style.Figures(&out, style.Fit(rows))
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%d columns: want -, got +:\n%s", width, diff)
		}
	}
}
