// Postgres serves the tables of a PostgreSQL database.
package main

import (
	"github.com/wasmres/wasmres/examples/wasm/tables"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// dialect asks information_schema, which shows what the role may read.
var dialect = tables.Dialect{
	Scheme: "postgres", Quote: '"',
	Tables: `select table_schema, table_name, table_type from information_schema.tables
where table_schema not in ('pg_catalog', 'information_schema') and (table_schema::text, table_name::text) > ($1, $2)
order by table_schema::text, table_name::text limit $3`,
	Columns: `select column_name as name, data_type as type, is_nullable = 'YES' as "null", column_default as "default"
from information_schema.columns where table_schema = $1 and table_name = $2 order by ordinal_position`,
	Find: `select table_schema::text from information_schema.tables
where table_catalog = coalesce(nullif($1, ''), current_database()) and table_name = $2
and table_schema = any(current_schemas(false)) order by array_position(current_schemas(false), table_schema::name) limit 1`,
	Schemas: `select distinct table_schema::text from information_schema.tables
where table_schema not in ('pg_catalog', 'information_schema') and starts_with(table_schema,
	$1) order by 1 limit 101`,
	Matching: `select table_name from information_schema.tables
where table_schema = $1 and starts_with(table_name, $2) order by table_name::text limit 101`,
}

func init() {
	wasmres.Provider("postgres", "1.0.0").Title("PostgreSQL").
		Describe("The tables of a PostgreSQL database: columns and rows, read-only.").
		Prefixes("postgres://")
	tables.Serve(dialect)
}

func main() {}
