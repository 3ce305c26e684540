package postgres

import (
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// The types whose values are not text.
const (
	oidBool, oidBytes          = 16, 17
	oidInt8, oidInt2, oidInt4  = 20, 21, 23
	oidOID, oidReal, oidDouble = 26, 700, 701
)

// arguments encodes values for the server.
func arguments(args []abi.SQLValue, oids []uint32) (values [][]byte, formats []int16) {
	values, formats = make([][]byte, len(args)), make([]int16, len(args))
	for i := range args {
		values[i] = argument(&args[i])
		if args[i].Kind == abi.SQLBytes && oids[i] == oidBytes {
			formats[i] = 1 // binary
		}
	}
	return values, formats
}

func argument(v *abi.SQLValue) []byte {
	switch v.Kind {
	case abi.SQLBool:
		return strconv.AppendBool(nil, v.Int != 0)
	case abi.SQLInt:
		return strconv.AppendInt(nil, v.Int, 10)
	case abi.SQLFloat:
		return appendFloat(v.Float)
	case abi.SQLText:
		return []byte(v.Text)
	case abi.SQLBytes:
		return append([]byte{}, v.Bytes...) // nil would be NULL
	}
	return nil
}

func appendFloat(f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return []byte("Infinity")
	case math.IsInf(f, -1):
		return []byte("-Infinity")
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 64)
}

// Next implements [database.Session].
func (s *session) Next(row []abi.SQLValue) error {
	if s.rows == nil {
		return io.EOF
	}
	if !s.first && !s.rows.NextRow() {
		if err := s.finish(); err != nil {
			return err
		}
		return io.EOF
	}
	s.first = false
	for i, text := range s.rows.Values() {
		if len(text) > s.driver.cfg.Limits.Cell && (s.oids[i] != oidBytes || len(text)/2-1 > s.driver.cfg.Limits.Cell) {
			return database.TooLarge(s.columns[i].Name, s.driver.cfg.Limits.Cell)
		}
		if err := value(text, s.oids[i], &row[i]); err != nil {
			return abi.Errorf(abi.CodeInternal, "the database returned a value that is not of its type").Because(err)
		}
	}
	return nil
}

// value decodes a value of the server. A text that is not UTF-8 becomes bytes.
func value(text []byte, oid uint32, v *abi.SQLValue) (err error) {
	*v = abi.SQLValue{}
	if text == nil {
		return nil
	}
	switch oid {
	case oidBool:
		v.Kind = abi.SQLBool
		if string(text) == "t" {
			v.Int = 1
		}
	case oidInt2, oidInt4, oidInt8, oidOID:
		v.Kind = abi.SQLInt
		v.Int, err = strconv.ParseInt(string(text), 10, 64)
	case oidReal, oidDouble:
		v.Kind = abi.SQLFloat
		v.Float, err = strconv.ParseFloat(string(text), 64)
	case oidBytes:
		v.Kind = abi.SQLBytes
		if len(text) < 2 || text[0] != '\\' || text[1] != 'x' {
			return strconv.ErrSyntax
		}
		v.Bytes, err = hex.AppendDecode(nil, text[2:])
	default:
		if v.Kind = abi.SQLText; utf8.Valid(text) {
			v.Text = string(text)
		} else {
			v.Kind, v.Bytes = abi.SQLBytes, text
		}
	}
	return err
}
