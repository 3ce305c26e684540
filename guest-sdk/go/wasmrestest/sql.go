package wasmrestest

import (
	"errors"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// partRows is how many rows one answer holds.
const partRows = 100

// A Database answers statements in place of a real one. Arguments are nil, bool, int64, float64, string or []byte. An
// error of package wasmres keeps its code; others are [wasmres.ErrInvalid].
type Database func(statement string, args []any) (Table, error)

// A Table is what a statement gives. Values are nil, bool, int, int64, float64, string or []byte.
type Table struct {
	Columns []string
	Rows    [][]any
}

// sql answers one of the services for databases.
func (c *call) sql(service uint32, request string) (code uint32) {
	if service == serviceSQLRows {
		return c.further(request)
	}
	return c.query(request)
}

// query answers a statement with its first rows.
func (c *call) query(request string) (code uint32) {
	connection, statement, args, most, ok := decodeSQL(request)
	if !ok {
		return codeInvalidParams
	}
	database := c.p.SQL[connection]
	if database == nil {
		return codeDenied
	}
	table, err := database(statement, args)
	if err != nil {
		var e *wasmres.Error
		if errors.As(err, &e) {
			return uint32(e.Code)
		}
		return codeInvalidParams
	}
	if most > 0 && most < uint64(len(table.Rows)) {
		table.Rows = table.Rows[:most]
	}
	for _, name := range table.Columns {
		var at int
		c.response, at = wire.Begin(c.response, 1)
		c.response = wire.End(wire.AppendString(c.response, 1, name), at)
	}
	c.appendRows(table.Rows)
	return codeOK
}

// further answers with the rows after those of an earlier answer.
func (c *call) further(request string) (code uint32) {
	f, _, ok := wire.Next(request)
	if !ok || f.Bits == 0 || f.Bits > uint64(len(c.cursors)) {
		return codeInvalidParams
	}
	c.appendRows(c.cursors[f.Bits-1])
	return codeOK
}

// appendRows appends rows to the response, and keeps what does not fit.
func (c *call) appendRows(rows [][]any) {
	n := min(len(rows), partRows)
	for _, row := range rows[:n] {
		b, at := wire.Begin(c.response, 2)
		for _, value := range row {
			var inner int
			b, inner = wire.Begin(b, 1)
			b = wire.End(c.appendValue(b, value), inner)
		}
		c.response = wire.End(b, at)
	}
	if n == len(rows) {
		return
	}
	c.cursors = append(c.cursors, rows[n:])
	c.response = wire.AppendUint(c.response, 3, uint64(len(c.cursors)))
}

func (c *call) appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
	case bool:
		b = wire.AppendBool(wire.AppendUint(b, 1, sQLBool), 2, v)
	case int:
		b = wire.AppendUint(wire.AppendUint(b, 1, sQLInt), 2, uint64(v))
	case int64:
		b = wire.AppendUint(wire.AppendUint(b, 1, sQLInt), 2, uint64(v))
	case float64:
		b = wire.AppendFloat(wire.AppendUint(b, 1, sQLFloat), 3, v)
	case string:
		b = wire.AppendString(wire.AppendUint(b, 1, sQLText), 4, v)
	case []byte:
		b = wire.AppendBytes(wire.AppendUint(b, 1, sQLBytes), 5, v)
	default:
		c.p.t.Fatalf("wasmrestest: a Table has a value of type %T", value)
	}
	return b
}

func decodeSQL(s string) (connection, statement string, args []any, most uint64, ok bool) {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return "", "", nil, 0, false
		}
		switch f.Num {
		case 1:
			connection = f.Text
		case 2:
			statement = f.Text
		case 3:
			args = append(args, argumentOf(f.Text))
		case 4:
			most = f.Bits
		}
		s = rest
	}
	return connection, statement, args, most, true
}

func argumentOf(s string) any {
	var kind uint64
	var number int64
	var float float64
	var text string
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			break
		}
		switch f.Num {
		case 1:
			kind = f.Bits
		case 2:
			number = int64(f.Bits)
		case 3:
			float = f.Float()
		case 4, 5:
			text = f.Text
		}
		s = rest
	}
	switch kind {
	case sQLBool:
		return number != 0
	case sQLInt:
		return number
	case sQLFloat:
		return float
	case sQLText:
		return text
	case sQLBytes:
		return []byte(text)
	}
	return nil
}
