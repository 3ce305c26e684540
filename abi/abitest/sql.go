package abitest

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

const rowsTemplate = "kit://rows/{query}"

const query = "select * from größen where a = $1 -- ?"

// A database has one answer to everything.
type database struct {
	t       testing.TB
	columns []string
	parts   [][]abi.SQLRow
	err     error // where another part would be; nil for none
	fetched int   // parts
}

func (d *database) services() map[abi.Service]Service {
	return map[abi.Service]Service{abi.ServiceSQL: d.query, abi.ServiceSQLRows: d.rows}
}

// queryArgs are what the kit's provider asks with.
var queryArgs = []abi.SQLValue{
	{}, {Kind: abi.SQLBool, Int: 1}, {Kind: abi.SQLInt, Int: -7}, {Kind: abi.SQLFloat, Float: 1.5},
	{Kind: abi.SQLText, Text: "té"}, {Kind: abi.SQLBytes, Bytes: []byte{0, 255}},
}

func (d *database) query(request []byte) (message, body []byte, err error) {
	var req abi.SQLRequest
	if err := req.Decode(request); err != nil {
		d.t.Errorf("query: %v", err)
		return nil, nil, err
	}
	if want := (abi.SQLRequest{Connection: "main", Query: query, Args: queryArgs}); !reflect.DeepEqual(req, want) {
		d.t.Errorf("the guest asks %+v, want %+v", req, want)
	}
	resp := &abi.SQLResponse{}
	for _, name := range d.columns {
		resp.Columns = append(resp.Columns, abi.SQLColumn{Name: name, Type: "varchar"})
	}
	return d.part(resp)
}

func (d *database) rows(request []byte) (message, body []byte, err error) {
	checkStream(d.t, request)
	return d.part(&abi.SQLResponse{})
}

// part adds the next part of the rows to an answer.
func (d *database) part(resp *abi.SQLResponse) (message, body []byte, err error) {
	if d.fetched == len(d.parts) {
		if d.err == nil {
			d.t.Error("the guest asks for more rows than there are")
			return nil, nil, &abi.Error{Code: abi.CodeInvalidParams}
		}
		return nil, nil, d.err
	}
	resp.Rows = d.parts[d.fetched]
	d.fetched++
	if d.fetched < len(d.parts) || d.err != nil {
		resp.Stream = streamID
	}
	return resp.Append(nil), nil, nil
}

func text(s string) abi.SQLValue   { return abi.SQLValue{Kind: abi.SQLText, Text: s} }
func number(n int64) abi.SQLValue  { return abi.SQLValue{Kind: abi.SQLInt, Int: n} }
func float(x float64) abi.SQLValue { return abi.SQLValue{Kind: abi.SQLFloat, Float: x} }
func blob(s string) abi.SQLValue   { return abi.SQLValue{Kind: abi.SQLBytes, Bytes: []byte(s)} }

func row(values ...abi.SQLValue) abi.SQLRow { return abi.SQLRow{Values: values} }

func (k *kit) testRows(t *testing.T) {
	var wide abi.SQLRow
	var names []string
	for i := range 300 {
		names, wide.Values = append(names, fmt.Sprint("c", i)), append(wide.Values, number(int64(i)))
	}
	var long []abi.SQLRow // close to 256 KiB
	for i := range 2500 {
		long = append(long, row(number(int64(i)), text(strings.Repeat("ü", 45))))
	}
	for name, d := range map[string]*database{
		"kinds": {columns: []string{"größe"}, parts: [][]abi.SQLRow{{
			row(abi.SQLValue{}), row(abi.SQLValue{Kind: abi.SQLBool, Int: 1}), row(abi.SQLValue{Kind: abi.SQLBool}),
			row(text("")), row(text("狐 🦊")), row(text("null")), row(blob("")), row(blob("\x00\x01\x7f\x80\xff")),
		}}},
		"integers": {columns: []string{"n"}, parts: [][]abi.SQLRow{{
			row(number(0)), row(number(1)), row(number(-1)), row(number(math.MaxInt64)), row(number(math.MinInt64)),
			row(number(1<<53 + 1)), row(number(-1<<53 - 1)), row(number(1 << 31)), row(number(-1 << 31)), row(number(1<<32 + 1)),
		}}},
		"floats": {columns: []string{"x"}, parts: [][]abi.SQLRow{{
			row(float(0)), row(float(1.5)), row(float(-0.25)), row(float(0.1)), row(float(1024)), row(float(-123456.789)),
		}}},
		"columns": {columns: []string{"a", "", "a"}, parts: [][]abi.SQLRow{{
			row(text("x"), abi.SQLValue{}, number(3)), row(text(""), text(""), text("")),
		}}},
		"parts": {columns: []string{"a"}, parts: [][]abi.SQLRow{
			{row(text("one"))}, {row(text("two")), row(text("three"))}, {row(text("four"))},
		}},
		"empty parts": {columns: []string{"a"}, parts: [][]abi.SQLRow{
			nil, {row(text("one"))}, nil, nil, {row(text("two"))}, nil,
		}},
		"no rows":   {columns: []string{"a", "b"}, parts: [][]abi.SQLRow{nil}},
		"wide":      {columns: names, parts: [][]abi.SQLRow{{wide, wide}, {wide}}},
		"long part": {columns: []string{"n", "text"}, parts: [][]abi.SQLRow{long, {row(number(1), text("end"))}}},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			got := one(t, k.granted(t, d.services(), rowsTemplate, "query", query))
			if got.Kind != abi.KindText {
				t.Errorf("got a content of kind %d", got.Kind)
			}
			wantTable(t, string(got.Body), d)
		})
	}
	for _, code := range []abi.Code{abi.CodeInvalidParams, abi.CodeUnavailable, abi.CodeTooLarge, abi.CodeDeadline} {
		t.Run(code.String()+" midway", func(t *testing.T) {
			d := &database{t: t, columns: []string{"a"}, parts: [][]abi.SQLRow{{row(text("one"))}, {row(text("two"))}}}
			d.err = &abi.Error{Code: code}
			wantCode(t, k.granted(t, d.services(), rowsTemplate, "query", query), code)
		})
	}
}

// wantTable compares a text with what the database has.
func wantTable(t *testing.T, got string, d *database) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if want := strings.Join(d.columns, "|"); lines[0] != want {
		t.Errorf("the line of columns: got %.100q, want %.100q", lines[0], want)
	}
	lines = lines[1:]
	for _, part := range d.parts {
		for _, row := range part {
			if len(lines) == 0 {
				t.Fatal("there are too few lines")
			}
			wantRow(t, lines[0], row.Values)
			lines = lines[1:]
		}
	}
	if len(lines) > 0 {
		t.Errorf("there are %d lines too many: %.100q", len(lines), lines)
	}
}

func wantRow(t *testing.T, got string, values []abi.SQLValue) {
	t.Helper()
	cells := strings.Split(got, "|")
	if len(cells) != len(values) {
		t.Errorf("got the line %.100q of %d values, want %d", got, len(cells), len(values))
		return
	}
	for i, v := range values {
		if !isValue(cells[i], v) {
			t.Errorf("got %.100q, want %+v", cells[i], v)
		}
	}
}

// isValue reports whether the kit's provider may write a value so. Floats are compared as numbers.
func isValue(cell string, v abi.SQLValue) bool {
	switch v.Kind {
	case abi.SQLBool:
		return cell == strconv.FormatBool(v.Int != 0)
	case abi.SQLInt:
		return cell == strconv.FormatInt(v.Int, 10)
	case abi.SQLFloat:
		x, err := strconv.ParseFloat(cell, 64)
		return err == nil && x == v.Float
	case abi.SQLText:
		return cell == v.Text
	case abi.SQLBytes:
		return strings.EqualFold(cell, fmt.Sprintf("%x", v.Bytes))
	}
	return cell == "null"
}
