package wasmres

import (
	"strconv"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// A Row is one row of what a statement gives. It stays what it is when the next one is read.
type Row struct {
	columns []Column
	values  []Value
}

// Columns describes the values.
func (r Row) Columns() []Column { return r.columns }

// Values gives the values, in the order of the columns.
func (r Row) Values() []Value { return r.values }

// Scan copies the values, in the order of the columns, to pointers: to a string, []byte, bool, int, int64, float64 or
// [Value], which takes everything. The error says which column does not fit.
func (r Row) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return scanError(strconv.Itoa(len(r.values)) + " columns are scanned to " + strconv.Itoa(len(dest)) + " variables")
	}
	for i, d := range dest {
		if why := r.values[i].store(d); why != "" {
			return scanError("column " + r.columns[i].Name + ": " + why)
		}
	}
	return nil
}

// scanError is for the log: what a database holds is none of the client's business.
func scanError(why string) error { return ErrInternal.Because(failure(why)) }

type failure string

func (f failure) Error() string { return string(f) }

// A Value is one value of a row.
type Value struct {
	kind   uint32
	number int64
	float  float64
	text   string // of a text, or bytes
}

// valuesOf gives the values of a row, which likely are n.
func valuesOf(s string, n int) (values []Value, ok bool) {
	values = make([]Value, 0, n)
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return nil, false
		}
		if f.Num == 1 {
			v, ok := valueOf(f.Text)
			if !ok {
				return nil, false
			}
			values = append(values, v)
		}
		s = rest
	}
	return values, true
}

func valueOf(s string) (v Value, ok bool) {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return v, false
		}
		switch f.Num {
		case 1:
			v.kind = uint32(f.Bits)
		case 2:
			v.number = int64(f.Bits)
		case 3:
			v.float = f.Float()
		case 4, 5:
			v.text = f.Text
		}
		s = rest
	}
	return v, true
}

// IsNull reports whether there is no value.
func (v Value) IsNull() bool { return v.kind == sQLNull }

// Any gives nil, a bool, int64, float64, string or []byte. A time, a decimal and other types are strings, in the
// database's own form.
func (v Value) Any() any {
	switch v.kind {
	case sQLBool:
		return v.number != 0
	case sQLInt:
		return v.number
	case sQLFloat:
		return v.float
	case sQLText:
		return v.text
	case sQLBytes:
		return []byte(v.text)
	}
	return nil
}

// String gives a text as it is, bytes as they are, numbers in decimal, true or false, and nothing for no value.
func (v Value) String() string {
	switch v.kind {
	case sQLBool:
		return strconv.FormatBool(v.number != 0)
	case sQLInt:
		return strconv.FormatInt(v.number, 10)
	case sQLFloat:
		return strconv.FormatFloat(v.float, 'g', -1, 64)
	}
	return v.text
}

// store copies the value to a variable, or says why not.
func (v Value) store(dest any) (why string) {
	if d, ok := dest.(*Value); ok {
		*d = v
		return ""
	}
	if v.IsNull() {
		return "it is null: scan it to a Value"
	}
	switch d := dest.(type) {
	case *string:
		*d = v.String()
	case *[]byte:
		*d = []byte(v.String())
	case *bool:
		*d = v.number != 0
		return v.mustBe(v.kind == sQLBool || v.kind == sQLInt, "a bool")
	case *int64:
		return v.integer(d)
	case *int:
		var n int64
		if why := v.integer(&n); why != "" {
			return why
		}
		if *d = int(n); int64(*d) != n {
			return "it does not fit an int"
		}
	case *float64:
		return v.decimal(d)
	default:
		return "the variable is of a type no value has"
	}
	return ""
}

func (v Value) mustBe(is bool, what string) string {
	if is {
		return ""
	}
	return "it is not " + what
}

// integer stores a whole number, which may be written as a text.
func (v Value) integer(d *int64) (why string) {
	if v.kind == sQLText {
		n, err := strconv.ParseInt(v.text, 10, 64)
		*d = n
		return v.mustBe(err == nil, "an integer")
	}
	*d = v.number
	return v.mustBe(v.kind == sQLInt || v.kind == sQLBool, "an integer")
}

// decimal stores a number, which may be written as a text.
func (v Value) decimal(d *float64) (why string) {
	switch v.kind {
	case sQLInt:
		*d = float64(v.number)
		return ""
	case sQLText:
		x, err := strconv.ParseFloat(v.text, 64)
		*d = x
		return v.mustBe(err == nil, "a number")
	}
	*d = v.float
	return v.mustBe(v.kind == sQLFloat, "a number")
}
