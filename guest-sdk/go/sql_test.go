package wasmres_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// asking runs f as a handler, with a database named main.
func asking(t *testing.T, database wasmrestest.Database, f func() error) error {
	t.Helper()
	p := start(t, func() {
		wasmres.Resource("t://run", func(*wasmres.Request) (string, error) { return "", f() })
	})
	p.SQL = map[string]wasmrestest.Database{"main": database}
	_, err := p.Read("t://run")
	return err
}

func TestQueryGivesAllRows(t *testing.T) {
	for _, n := range []int{0, 1, 100, 101, 350} {
		err := asking(t, func(statement string, args []any) (wasmrestest.Table, error) {
			if statement != "select ?" || !slices.Equal(args, []any{int64(n)}) {
				t.Errorf("got %q, %v", statement, args)
			}
			table := wasmrestest.Table{Columns: []string{"id", "name"}}
			for i := range n {
				table.Rows = append(table.Rows, []any{i, fmt.Sprint("row ", i)})
			}
			return table, nil
		}, func() error {
			rows, err := wasmres.Query("main", "select ?", n)
			if err != nil {
				return err
			}
			if columns := rows.Columns(); len(columns) != 2 || columns[1].Name != "name" {
				t.Errorf("got columns %v", columns)
			}
			count := 0
			for row := range rows.All() {
				var id int
				var name string
				if err := row.Scan(&id, &name); err != nil || id != count || name != fmt.Sprint("row ", count) {
					t.Fatalf("row %d is %d, %q, %v", count, id, name, err)
				}
				count++
			}
			if count != n || rows.Next() {
				t.Errorf("got %d rows, want %d", count, n)
			}
			return rows.Err()
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestArguments(t *testing.T) {
	want := []any{nil, true, int64(-1), int64(7), int64(8), 0.5, 1.5, "text", "", []byte{0, 255}, []byte{}, nil}
	err := asking(t, func(_ string, args []any) (wasmrestest.Table, error) {
		if fmt.Sprintf("%#v", args) != fmt.Sprintf("%#v", want) {
			t.Errorf("got  %#v\nwant %#v", args, want)
		}
		return wasmrestest.Table{}, nil
	}, func() error {
		_, err := wasmres.Query("main", "", nil, true, -1, int8(7), uint64(8), float32(0.5), 1.5, "text", "", []byte{0,
			255}, []byte{}, []byte(nil))
		for _, arg := range []any{struct{}{}, uint64(1 << 63), &want} {
			if _, err := wasmres.Query("main", "", arg); !errors.Is(err, wasmres.ErrInvalid) || !strings.Contains(err.Error(), "argument 1") {
				t.Errorf("%T: got %v", arg, err)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestScan(t *testing.T) {
	err := asking(t, func(string, []any) (wasmrestest.Table, error) {
		return wasmrestest.Table{Columns: []string{"n", "x", "s", "b", "t", "none"}, Rows: [][]any{{42, 0.5, "12.50",
			[]byte{1}, true, nil}}}, nil
	}, func() error {
		row, err := wasmres.QueryRow("main", "")
		if err != nil {
			return err
		}
		var n, of int
		var n64 int64
		var x, ofText float64
		var s, sx, st, sb string
		var b []byte
		var is, isN bool
		var none, some wasmres.Value
		for _, dest := range [][]any{
			{&n, &x, &s, &b, &is, &none}, {&n64, &sx, &ofText, &sb, &st, &none}, {&isN, &x, &some, &some, &of, &none},
		} {
			if err := row.Scan(dest...); err != nil {
				t.Error(err)
			}
		}
		if n != 42 || n64 != 42 || x != 0.5 || ofText != 12.5 || s != "12.50" || sx != "0.5" || st != "true" ||
			sb != "\x01" || string(b) != "\x01" ||
			!is || !isN || of != 1 || !none.IsNull() || none.Any() != nil || some.String() != "\x01" {
			t.Errorf("got %v %v %v %v %q %q %q %q %v %v %v", n, n64, x, ofText, s, sx, st, sb, is, isN, of)
		}
		for want, dest := range map[string][]any{
			"6 columns are scanned to 1":          {&n},
			"column none: it is null":             {&n, &x, &s, &b, &is, &s},
			"column x: it is not an integer":      {&n, &n, &s, &b, &is, &none},
			"column s: it is not an integer":      {&n, &x, &n, &b, &is, &none},
			"column s: it is not a bool":          {&n, &x, &is, &b, &is, &none},
			"column b: it is not a number":        {&n, &x, &s, &x, &is, &none},
			"column n: the variable is of a type": {new(uint), &x, &s, &b, &is, &none},
		} {
			err := row.Scan(dest...)
			if cause := errors.Unwrap(err); !errors.Is(err, wasmres.ErrInternal) || cause == nil || !strings.Contains(cause.Error(), want) {
				t.Errorf("got %v, want %q", cause, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestQueryErrors(t *testing.T) {
	database := func(statement string, _ []any) (wasmrestest.Table, error) {
		switch statement {
		case "none":
			return wasmrestest.Table{Columns: []string{"n"}}, nil
		case "down":
			return wasmrestest.Table{}, wasmres.Unavailable("", 0)
		}
		return wasmrestest.Table{}, errors.New("syntax")
	}
	err := asking(t, database, func() error {
		for statement, want := range map[string]error{"none": wasmres.ErrNotFound, "down": wasmres.ErrUnavailable,
			"selec": wasmres.ErrInvalid} {
			if _, err := wasmres.QueryRow("main", statement); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", statement, err, want)
			}
		}
		_, err := wasmres.Query("other", "none")
		return err
	})
	if !errors.Is(err, wasmres.ErrDenied) {
		t.Errorf("got %v, want denied", err)
	}
	if _, err := wasmres.Query("main", ""); !errors.Is(err, wasmres.ErrUnsupported) {
		t.Errorf("without a host: got %v", err)
	}
}
