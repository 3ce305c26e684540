package sqlite

import (
	"io"
	"strings"
	"unicode/utf8"
	"unsafe"

	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// appendRow appends the next row to b. The end is [io.EOF].
func (s *session) appendRow(b []byte) ([]byte, error) {
	if !s.first && !s.ended {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	s.first = false
	if s.ended {
		return nil, io.EOF
	}
	at := len(b)
	for i := range s.columns {
		var v abi.SQLValue
		if err := s.value(int32(i), &v); err != nil {
			return nil, err
		}
		if b = appendValue(b, &v); len(b)-at > maxRow {
			return nil, abi.Errorf(abi.CodeTooLarge, "a row of more than %d bytes", maxRow)
		}
	}
	return b, nil
}

// value returns a value of the row. A text that is not UTF-8 becomes bytes.
func (s *session) value(at int32, v *abi.SQLValue) error {
	*v = abi.SQLValue{}
	switch engine.Xsqlite3_column_type(s.tls, s.stmt, at) {
	case engine.SQLITE_INTEGER:
		v.Kind, v.Int = abi.SQLInt, engine.Xsqlite3_column_int64(s.tls, s.stmt, at)
	case engine.SQLITE_FLOAT:
		v.Kind, v.Float = abi.SQLFloat, engine.Xsqlite3_column_double(s.tls, s.stmt, at)
	case engine.SQLITE_TEXT:
		p := engine.Xsqlite3_column_text(s.tls, s.stmt, at)
		b, err := s.bytes(p, at)
		if v.Kind = abi.SQLText; utf8.Valid(b) {
			v.Text = string(b)
		} else {
			v.Kind, v.Bytes = abi.SQLBytes, b
		}
		return err
	case engine.SQLITE_BLOB:
		var err error
		v.Kind = abi.SQLBytes
		v.Bytes, err = s.bytes(engine.Xsqlite3_column_blob(s.tls, s.stmt, at), at)
		return err
	}
	return nil
}

// bytes returns the bytes at p, a value of the row. They are valid until the next step.
func (s *session) bytes(p uintptr, at int32) ([]byte, error) {
	n := int(engine.Xsqlite3_column_bytes(s.tls, s.stmt, at))
	if n > s.limits.Cell {
		return nil, database.TooLarge(s.columns[at].Name, s.limits.Cell)
	}
	if n == 0 || p == 0 {
		return nil, nil
	}
	return libc.GoBytes(p, n), nil
}

// text reads a string of the engine.
func text(p uintptr) string { return strings.ToValidUTF8(libc.GoString(p), "\uFFFD") }

// pointer reads a pointer of the engine.
func pointer(place uintptr) uintptr {
	return *(*uintptr)(unsafe.Pointer(unsafe.SliceData(libc.GoBytes(place, 8))))
}
