package tables

import (
	"errors"
	"strconv"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// serveNamed registers URIs whose host is the name of a connection, as in postgres://localhost/mydb/users.
func (d Dialect) serveNamed() {
	root := d.Scheme + "://{connection}/"
	wasmres.Template(root+"{table}/schema", d.namedColumns).
		Name("connection-schema").MIME("application/json").
		Describe("The columns of a table that the connection finds by its name alone.").
		Watch(WatchEvery, Version(d.namedColumns))
	wasmres.Template(root+"{database}/{table}{?limit,offset}", d.namedRows).
		Name("connection-rows").MIME("application/json").
		Describe("Rows of a table in a database that the connection reaches, 100 unless limit says another number up to 1000.").
		Watch(WatchEvery, Version(d.namedRows))
}

// namedColumns answers with the columns of a table.
func (d Dialect) namedColumns(r *wasmres.Request) (string, error) {
	t, err := d.find(r)
	if err != nil {
		return "", err
	}
	return d.columnsOf(t)
}

// namedRows answers with rows of a table.
func (d Dialect) namedRows(r *wasmres.Request) (string, error) {
	t, err := d.find(r)
	if err != nil {
		return "", err
	}
	return d.rowsOf(r, t)
}

// find returns the table that a URI names without its schema.
func (d Dialect) find(r *wasmres.Request) (table, error) {
	t := table{connection: r.Var("connection"), name: r.Var("table")}
	row, err := wasmres.QueryRow(t.connection, d.Find, r.Var("database"), t.name)
	switch {
	case errors.Is(err, wasmres.ErrNotFound):
		return t, wasmres.NotFound("no table " + strconv.Quote(t.name) + " there")
	case errors.Is(err, wasmres.ErrDenied):
		return t, wasmres.Denied("no database may be read as " + strconv.Quote(t.connection) +
			": has it been granted under this name, as with --sql NAME=DSN?").Because(err)
	case err != nil:
		return t, err
	}
	return t, row.Scan(&t.schema)
}
