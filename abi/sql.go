package abi

const (
	maxArgs    = 1000
	maxColumns = 1000
	maxRows    = 10_000 // of one answer
)

// A SQLRequest is one statement that reads.
type SQLRequest struct {
	Connection string // the granted connection
	Query      string // in the database's dialect, with its placeholders
	Args       []SQLValue
	MaxRows    uint64 // in all; 0 for as many as are granted
}

// A SQLResponse is a part of a statement's result.
type SQLResponse struct {
	Columns []SQLColumn // with the first part only
	Rows    []SQLRow
	Stream  uint64 // for [ServiceSQLRows] to get the rest; 0 when there is none
}

// A SQLColumn describes the values of one column.
type SQLColumn struct {
	Name string
	Type string // as the database calls it, as in "numeric"
}

// A SQLRow has a value for each column.
type SQLRow struct{ Values []SQLValue }

// A SQLKind says which field of a [SQLValue] counts.
type SQLKind uint32

// The kinds of values. A value of another type, as a time or a decimal, is text in the database's own form.
const (
	SQLNull  SQLKind = 0
	SQLBool  SQLKind = 1 // Int, 0 or 1
	SQLInt   SQLKind = 2
	SQLFloat SQLKind = 3
	SQLText  SQLKind = 4
	SQLBytes SQLKind = 5
)

// A SQLValue is one value: a parameter, or a cell of a row.
type SQLValue struct {
	Kind  SQLKind
	Int   int64
	Float float64
	Text  string
	Bytes []byte
}

// Append appends the encoding of r to b.
func (r *SQLRequest) Append(b []byte) []byte {
	b = putString(b, 1, r.Connection)
	b = putString(b, 2, r.Query)
	for i := range r.Args {
		b = putMessage(b, 3, r.Args[i].append)
	}
	return putUint(b, 4, r.MaxRows)
}

// Decode fills r from its encoding. Bytes of arguments are views of b.
func (r *SQLRequest) Decode(b []byte) error {
	*r = SQLRequest{}
	return asProtocol("request", decode(b, r.set))
}

func (r *SQLRequest) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&r.Connection)
	case 2:
		return f.string(&r.Query)
	case 3:
		arg, err := grow(&r.Args, "arguments", maxArgs)
		if err != nil {
			return err
		}
		return f.message(arg.set)
	case 4:
		return f.uint64(&r.MaxRows)
	}
	return nil
}

// Append appends the encoding of r to b.
func (r *SQLResponse) Append(b []byte) []byte {
	for i := range r.Columns {
		b = putMessage(b, 1, r.Columns[i].append)
	}
	for i := range r.Rows {
		b = r.Rows[i].Append(b)
	}
	return putUint(b, 3, r.Stream)
}

// Decode fills r from its encoding. Bytes of values are views of b.
func (r *SQLResponse) Decode(b []byte) error {
	*r = SQLResponse{}
	return asProtocol("response", decode(b, r.set))
}

func (r *SQLResponse) set(f *field) error {
	switch f.num {
	case 1:
		column, err := grow(&r.Columns, "columns", maxColumns)
		if err != nil {
			return err
		}
		return f.message(column.set)
	case 2:
		row, err := grow(&r.Rows, "rows", maxRows)
		if err != nil {
			return err
		}
		return f.message(row.set)
	case 3:
		return f.uint64(&r.Stream)
	}
	return nil
}

func (c *SQLColumn) append(b []byte) []byte { return putString(putString(b, 1, c.Name), 2, c.Type) }

func (c *SQLColumn) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&c.Name)
	case 2:
		return f.string(&c.Type)
	}
	return nil
}

// Append appends r as a row of a [SQLResponse]: responses can be written row by row.
func (r *SQLRow) Append(b []byte) []byte {
	return putMessage(b, 2, func(b []byte) []byte {
		for i := range r.Values {
			b = putMessage(b, 1, r.Values[i].append)
		}
		return b
	})
}

func (r *SQLRow) set(f *field) error {
	if f.num != 1 {
		return nil
	}
	value, err := grow(&r.Values, "values", maxColumns)
	if err != nil {
		return err
	}
	return f.message(value.set)
}

func (v *SQLValue) append(b []byte) []byte {
	b = putUint(b, 1, uint64(v.Kind))
	b = putUint(b, 2, uint64(v.Int))
	b = putFloat(b, 3, v.Float)
	b = putString(b, 4, v.Text)
	if len(v.Bytes) > 0 {
		b = putBytes(b, 5, v.Bytes)
	}
	return b
}

func (v *SQLValue) set(f *field) error {
	switch f.num {
	case 1:
		return f.uint32((*uint32)(&v.Kind))
	case 2:
		return f.int64(&v.Int)
	case 3:
		return f.float64(&v.Float)
	case 4:
		return f.string(&v.Text)
	case 5:
		return f.view(&v.Bytes)
	}
	return nil
}
