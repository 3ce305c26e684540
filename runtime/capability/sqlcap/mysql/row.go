package mysql

import (
	sql "database/sql/driver"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

func arguments(args []abi.SQLValue) []sql.NamedValue {
	values := make([]sql.NamedValue, len(args))
	for i := range args {
		values[i].Ordinal = i + 1
		switch v := &args[i]; v.Kind {
		case abi.SQLBool, abi.SQLInt:
			values[i].Value = v.Int
		case abi.SQLFloat:
			values[i].Value = v.Float
		case abi.SQLText:
			values[i].Value = v.Text
		case abi.SQLBytes:
			values[i].Value = append([]byte{}, v.Bytes...) // nil would be NULL
		}
	}
	return values
}

// describe fills columns and kinds.
func (s *session) describe() {
	types := s.rows.(sql.RowsColumnTypeDatabaseTypeName)
	names := s.rows.Columns()
	s.columns, s.kinds, s.row = nil, nil, make([]sql.Value, len(names))
	for i, name := range names {
		typ := types.ColumnTypeDatabaseTypeName(i)
		kind := abi.SQLText
		if isBytes(typ) {
			kind = abi.SQLBytes
		}
		s.columns = append(s.columns, abi.SQLColumn{Name: name, Type: strings.ToLower(typ)})
		s.kinds = append(s.kinds, kind)
	}
}

// isBytes reports whether values of a type are bytes, not text.
func isBytes(typ string) bool {
	switch typ {
	case "BIT", "GEOMETRY", "VECTOR":
		return true
	}
	return strings.Contains(typ, "BLOB") || strings.Contains(typ, "BINARY")
}

// Next implements [database.Session].
func (s *session) Next(row []abi.SQLValue) error {
	if s.ended {
		return io.EOF
	}
	if err := s.rows.Next(s.row); err != nil {
		if s.ended = err == io.EOF; s.ended {
			return io.EOF
		}
		return failed(err)
	}
	for i := range s.row {
		if err := s.value(i, &row[i]); err != nil {
			return err
		}
	}
	return nil
}

// value returns a value of the row. A text that is not UTF-8 becomes bytes; an integer beyond int64 is a text.
func (s *session) value(at int, v *abi.SQLValue) error {
	*v = abi.SQLValue{}
	switch x := s.row[at].(type) {
	case nil:
	case int64:
		v.Kind, v.Int = abi.SQLInt, x
	case float32:
		v.Kind, v.Float = abi.SQLFloat, float64(x)
	case float64:
		v.Kind, v.Float = abi.SQLFloat, x
	case string:
		v.Kind, v.Text = abi.SQLText, x
	case []byte:
		return s.bytes(at, x, v)
	default:
		return abi.Errorf(abi.CodeInternal, "the database gave a value of no known type").Because(fmt.Errorf("%T", x))
	}
	return nil
}

func (s *session) bytes(at int, b []byte, v *abi.SQLValue) error {
	if len(b) > s.server.cfg.Limits.Cell {
		return database.TooLarge(s.columns[at].Name, s.server.cfg.Limits.Cell)
	}
	if s.kinds[at] == abi.SQLText && utf8.Valid(b) {
		v.Kind, v.Text = abi.SQLText, string(b)
	} else {
		v.Kind, v.Bytes = abi.SQLBytes, b
	}
	return nil
}
