// Package tables serves the tables of a database: which there are, what columns they have, and their rows. The examples
// postgres and mysql are made of it.
package tables

import (
	"errors"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/examples/wasm/uripath"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// connection is the name under which the operator grants the database.
const connection = "main"

const (
	usualRows = 100
	mostRows  = 1000
)

// A Dialect is how a kind of database is asked. Statements have the parameters that are named with them, in that order.
type Dialect struct {
	Scheme string // of the URIs
	Quote  byte   // around names
	Tables string // schema, name and type of the tables after one (schema, name), sorted, so many (limit)
	// Columns are those of one table (schema, name): name, type, whether it may be null, and default.
	Columns string
	// Find gives the schema in which a table is found by its name alone, in a database (database, table). An empty name
	// stands for the connection's own database.
	Find     string
	Schemas  string // that begin with a prefix (prefix)
	Matching string // tables of a schema that begin with a prefix (schema, prefix)
}

// Serve registers the resources of a database.
func Serve(d Dialect) {
	wasmres.Ask("sql", "reads the tables of the databases that are granted, of which "+connection+" is listed")
	root := d.Scheme + "://tables/{schema}/{table}"
	wasmres.Template(root+"/schema", d.columns).
		Name("schema").Describe("The columns of a table: name, type, whether they may be null, default.").
		MIME("application/json").
		Complete("schema", d.completeSchema).Complete("table", d.completeTable).
		Watch(WatchEvery, Version(d.columns))
	wasmres.Template(root+"/rows{?limit,offset}", d.rows).
		Name("rows").Describe("Rows of a table, 100 unless limit says another number up to 1000.").
		MIME("application/json").
		Complete("schema", d.completeSchema).Complete("table", d.completeTable).
		Watch(WatchEvery, Version(d.rows))
	d.serveNamed()
	wasmres.List(d.list)
}

// A table is where one is: by which connection, in which schema.
type table struct{ connection, schema, name string }

// tableOf gives the table of a URI that names its schema.
func tableOf(r *wasmres.Request) table { return table{connection, r.Var("schema"), r.Var("table")} }

func (t table) missing() error {
	return wasmres.NotFound("no table " + strconv.Quote(t.name) + " in " + strconv.Quote(t.schema))
}

// list lists the schema of each table. The cursor is the table listed last.
func (d Dialect) list(_ *wasmres.Request, page *wasmres.Page) error {
	schema, table, _ := strings.Cut(page.Cursor(), "/")
	rows, err := wasmres.Query(connection, d.Tables, schema, table, page.Limit()+1)
	if errors.Is(err, wasmres.ErrDenied) {
		return nil // connections of other names are granted
	}
	if err != nil {
		return err
	}
	last := page.Cursor()
	for row := range rows.All() {
		var kind string
		if err := row.Scan(&schema, &table, &kind); err != nil {
			return err
		}
		added := page.Add(wasmres.Entry{
			URI:  d.Scheme + "://tables/" + uripath.EscapeSegment(schema) + "/" + uripath.EscapeSegment(table) + "/schema",
			Name: schema + "." + table, Description: strings.ToLower(kind), MIME: "application/json",
		})
		if !added {
			page.Next(last)
			return nil
		}
		last = schema + "/" + table
	}
	return rows.Err()
}

// columns answers with the columns of a table.
func (d Dialect) columns(r *wasmres.Request) (string, error) { return d.columnsOf(tableOf(r)) }

func (d Dialect) columnsOf(t table) (string, error) {
	rows, err := wasmres.Query(t.connection, d.Columns, t.schema, t.name)
	if err != nil {
		return "", err
	}
	b := []byte(`{"columns":[`)
	n := 0
	for row := range rows.All() {
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = appendColumn(b, row)
	}
	if n == 0 && rows.Err() == nil {
		return "", t.missing()
	}
	return string(b) + "]}", rows.Err()
}

// rows answers with rows of a table.
func (d Dialect) rows(r *wasmres.Request) (string, error) { return d.rowsOf(r, tableOf(r)) }

// rowsOf answers with the rows that a request asks for. Names cannot be parameters of a statement: the table is looked up
// first, and its name quoted.
func (d Dialect) rowsOf(r *wasmres.Request, t table) (string, error) {
	limit, err := number(r, "limit", usualRows, mostRows)
	if err != nil {
		return "", err
	}
	offset, err := number(r, "offset", 0, 1<<30)
	if err != nil {
		return "", err
	}
	if _, err := wasmres.QueryRow(t.connection, d.Columns, t.schema, t.name); err != nil {
		if err == wasmres.ErrNotFound {
			return "", t.missing()
		}
		return "", err
	}
	statement := "select * from " + d.quoted(t.schema) + "." + d.quoted(t.name) +
		" limit " + strconv.Itoa(limit+1) + " offset " + strconv.Itoa(offset)
	rows, err := wasmres.Query(t.connection, statement)
	if err != nil {
		return "", err
	}
	return page(rows, limit)
}

// page writes rows, at most limit, and whether there are more.
func page(rows *wasmres.Rows, limit int) (string, error) {
	b := []byte(`{"columns":[`)
	for i, c := range rows.Columns() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, c.Name)
	}
	b = append(b, `],"rows":[`...)
	n := 0
	for n <= limit && rows.Next() {
		if n++; n > limit {
			break
		}
		if n > 1 {
			b = append(b, ',')
		}
		b = appendArray(b, rows.Row())
	}
	b = append(b, `],"more":`...)
	return string(strconv.AppendBool(b, n > limit)) + "}", rows.Err()
}

// number reads a variable that may be absent.
func number(r *wasmres.Request, name string, usual, most int) (int, error) {
	if r.Var(name) == "" {
		return usual, nil
	}
	n, err := r.Int(name)
	if err == nil && (n < 0 || n > most) {
		err = wasmres.Invalid(name + " is not between 0 and " + strconv.Itoa(most))
	}
	return n, err
}

// quoted writes a name as the dialect wants it.
func (d Dialect) quoted(name string) string {
	q := string(d.Quote)
	return q + strings.ReplaceAll(name, q, q+q) + q
}

func (d Dialect) completeSchema(_ *wasmres.Request, prefix string) ([]string, error) {
	return texts(d.Schemas, prefix)
}

func (d Dialect) completeTable(r *wasmres.Request, prefix string) ([]string, error) {
	return texts(d.Matching, r.Var("schema"), prefix)
}

// texts gives the first column of what a statement gives.
func texts(statement string, args ...any) (all []string, err error) {
	rows, err := wasmres.Query(connection, statement, args...)
	if err != nil {
		return nil, err
	}
	for row := range rows.All() {
		all = append(all, row.Values()[0].String())
	}
	return all, rows.Err()
}
