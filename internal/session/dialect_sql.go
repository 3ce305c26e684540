package session

import (
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/abi"
)

// sqlDialects are those of the power to query databases.
var sqlDialects = []*dialect{
	{
		service: abi.ServiceSQL, name: "sql.query", capability: CapabilitySQL,
		places:   `CONNECTION "STATEMENT"`,
		options:  "null, bool=, int=, float=, text=, blob= (or sha256= for a long one) for each parameter, maxRows=N",
		answers:  rowsAnswers,
		question: func() question { return &queryQuestion{} }, response: func() response { return &rowsResponse{} },
	},
	{
		service: abi.ServiceSQLRows, name: "sql.rows", capability: CapabilitySQL,
		places: "NUMBER", answers: rowsAnswers,
		question: func() question { return &streamQuestion{} }, response: func() response { return &rowsResponse{} },
	},
}

var rowsAnswers = []string{"columns", "rows", "stream"}

type queryQuestion struct {
	abi.SQLRequest
	args []string // as options
}

func (q *queryQuestion) Decode(request []byte) error {
	if err := q.SQLRequest.Decode(request); err != nil {
		return err
	}
	for i := range q.Args {
		q.args = appendArg(q.args, &q.Args[i])
	}
	return nil
}

func (q *queryQuestion) places() []*string { return []*string{&q.Connection, &q.Query} }

func (q *queryQuestion) options() []string { return numberOption(q.args, "maxRows", q.MaxRows) }

func (q *queryQuestion) setOption(name, value string) (err error) {
	if name == "maxRows" {
		return setNumber(&q.MaxRows, value)
	}
	q.args, err = parseArg(q.args, name, value)
	return err
}

func (q *queryQuestion) check() error { return nil }

type rowsResponse struct{ abi.SQLResponse }

func (r *rowsResponse) stream() *uint64 { return &r.Stream }

func (r *rowsResponse) check() error {
	for _, row := range r.Rows {
		for _, v := range row.Values {
			if v.Kind > abi.SQLBytes {
				return fmt.Errorf("a value is of the unknown kind %d", v.Kind)
			}
		}
	}
	return nil
}

func (r *rowsResponse) members() []member {
	var columns *value
	if len(r.Columns) > 0 {
		columns = array(nil)
	}
	for _, c := range r.Columns {
		columns.members = append(columns.members, member{value: columnValue(c)})
	}
	rows := array(nil)
	for _, row := range r.Rows {
		cells := array(nil)
		for i := range row.Values {
			cells.members = append(cells.members, member{value: cellValue(&row.Values[i])})
		}
		rows.members = append(rows.members, member{value: cells})
	}
	return []member{{"columns", columns}, {"rows", rows}, {"stream", unlessZero(r.Stream)}}
}

func columnValue(c abi.SQLColumn) *value {
	if c.Type == "" {
		return object(member{"name", text(c.Name)})
	}
	return object(member{"name", text(c.Name)}, member{"type", text(c.Type)})
}

func (r *rowsResponse) set(m member) error {
	switch m.name {
	case "columns":
		return m.value.into(&r.Columns)
	case "rows":
		return r.setRows(m.value)
	case "stream":
		return m.value.into(&r.Stream)
	}
	return errUnknown
}

func (r *rowsResponse) setRows(v *value) error {
	if v.kind != kindArray {
		return errRows
	}
	r.Rows = make([]abi.SQLRow, len(v.members))
	for i, row := range v.members {
		if row.value.kind != kindArray {
			return errRows
		}
		r.Rows[i].Values = make([]abi.SQLValue, len(row.value.members))
		for j, cell := range row.value.members {
			if err := setCell(&r.Rows[i].Values[j], cell.value); err != nil {
				return fmt.Errorf("row %d, column %d: %w", i+1, j+1, err)
			}
		}
	}
	return nil
}

var errRows = errors.New(`rows are arrays of values, as in [[1, "Ada"], [2, null]]`)
