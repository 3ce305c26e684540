package wasmres

import (
	"strconv"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// Query runs a statement that reads, on a database the operator granted under a name. It needs the power "sql": see
// [Ask].
//
//	rows, err := wasmres.Query("main", "select id, name from users where born > $1", "1900-01-01")
//	if err != nil {
//		return "", err
//	}
//	for row := range rows.All() {
//		var id int
//		var name string
//		if err := row.Scan(&id, &name); err != nil {
//			return "", err
//		}
//		…
//	}
//	return text, rows.Err()
//
// The statement is in the database's own words: parameters are $1, $2 for PostgreSQL, ? for MySQL and MariaDB, and ?1,
// ?2 for SQLite. Arguments are nil, bool, an integer, a float, string or []byte. The database refuses a statement that
// writes. Rows come as they are read, in parts: a table of any size takes little memory. A call may read a few
// statements at the same time. The host ends those that are still open when the call ends.
//
// In native tests, wasmrestest calls a function in place of the database.
func Query(connection, statement string, args ...any) (*Rows, error) {
	return query(connection, statement, args, 0)
}

// QueryRow is Query for the first row. Without one the error is [ErrNotFound].
func QueryRow(connection, statement string, args ...any) (Row, error) {
	rows, err := query(connection, statement, args, 1)
	if err != nil {
		return Row{}, err
	}
	if !rows.Next() {
		if rows.err == nil {
			rows.err = ErrNotFound
		}
		return Row{}, rows.err
	}
	return rows.Row(), nil
}

func query(connection, statement string, args []any, most uint64) (*Rows, error) {
	b := wire.AppendString(make([]byte, 0, 256), 1, connection)
	b = wire.AppendString(b, 2, statement)
	for i, arg := range args {
		var at int
		var ok bool
		b, at = wire.Begin(b, 3)
		if b, ok = appendArgument(b, arg); !ok {
			return nil, Invalid("argument " + strconv.Itoa(i+1) + " of the statement is of a type no database takes")
		}
		b = wire.End(b, at)
	}
	r := &Rows{}
	if r.load(serviceSQL, wire.AppendUint(b, 4, most)); r.err != nil {
		return nil, r.err
	}
	return r, nil
}

// appendArgument appends the fields of a value, and reports whether databases have its type.
func appendArgument(b []byte, arg any) ([]byte, bool) {
	switch v := arg.(type) {
	case nil:
		return b, true
	case bool:
		b = wire.AppendUint(b, 1, sQLBool)
		return wire.AppendBool(b, 2, v), true
	case float32:
		b = wire.AppendUint(b, 1, sQLFloat)
		return wire.AppendFloat(b, 3, float64(v)), true
	case float64:
		b = wire.AppendUint(b, 1, sQLFloat)
		return wire.AppendFloat(b, 3, v), true
	case string:
		b = wire.AppendUint(b, 1, sQLText)
		return wire.AppendString(b, 4, v), true
	case []byte:
		if v == nil {
			return b, true
		}
		b = wire.AppendUint(b, 1, sQLBytes)
		return wire.AppendBytes(b, 5, v), true
	case uint64:
		if v>>63 != 0 {
			return b, false
		}
	}
	n, ok := integer(arg)
	b = wire.AppendUint(b, 1, sQLInt)
	return wire.AppendUint(b, 2, uint64(n)), ok
}

// integer gives a number of any integer type.
func integer(arg any) (n int64, ok bool) {
	switch v := arg.(type) {
	case int:
		return int64(v), true
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint64:
		return int64(v), true
	}
	return 0, false
}

// A Column describes the values of one column.
type Column struct {
	Name string
	Type string // as the database calls it; empty when it does not say
}

// Rows are what a statement gives, read one by one.
type Rows struct {
	columns []Column
	part    string // that is yet to be read
	stream  uint64 // of the parts after it; 0 for none
	row     Row
	err     error
}

// Columns describes the columns.
func (r *Rows) Columns() []Column { return r.columns }

// Next goes to the next row, the first one at first. It reports false at the end, and when something went wrong: see
// [Rows.Err].
func (r *Rows) Next() bool {
	for r.err == nil {
		for r.part != "" {
			f, rest, ok := wire.Next(r.part)
			if r.part = rest; !ok {
				r.fail()
				return false
			}
			if f.Num == 2 {
				return r.read(f.Text)
			}
		}
		if r.stream == 0 {
			return false
		}
		r.load(serviceSQLRows, wire.AppendUint(nil, 1, r.stream))
	}
	return false
}

// Row gives the row that Next went to.
func (r *Rows) Row() Row { return r.row }

// Scan copies the values of the row that Next went to: see [Row.Scan].
func (r *Rows) Scan(dest ...any) error { return r.row.Scan(dest...) }

// All gives the rows that are left, for range. What may have gone wrong is in [Rows.Err] afterwards.
func (r *Rows) All() func(yield func(Row) bool) {
	return func(yield func(Row) bool) {
		for r.Next() && yield(r.row) {
		}
	}
}

// Err gives what ended the rows before their end; nil for nothing. A handler may return it as it is.
func (r *Rows) Err() error { return r.err }

func (r *Rows) fail() {
	r.part, r.stream, r.err = "", 0, ErrInternal
}

// load asks for the next part.
func (r *Rows) load(service uint32, request []byte) {
	code, n := host.Call(service, request)
	r.part, r.stream, r.err = "", 0, codeError(code)
	if r.err != nil {
		return
	}
	part := response(n)
	for s := part; s != ""; {
		f, rest, ok := wire.Next(s)
		if !ok {
			r.fail()
			return
		}
		switch f.Num {
		case 1:
			c, ok := columnOf(f.Text)
			if !ok {
				r.fail()
				return
			}
			r.columns = append(r.columns, c)
		case 3:
			r.stream = f.Bits
		}
		s = rest
	}
	r.part = part
}

func columnOf(s string) (c Column, ok bool) {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return c, false
		}
		switch f.Num {
		case 1:
			c.Name = f.Text
		case 2:
			c.Type = f.Text
		}
		s = rest
	}
	return c, true
}

// read makes s the row.
func (r *Rows) read(s string) bool {
	values, ok := valuesOf(s, len(r.columns))
	if !ok || len(values) != len(r.columns) {
		r.fail()
		return false
	}
	r.row = Row{r.columns, values}
	return true
}
