// Mysql serves the tables of a MySQL or MariaDB database.
package main

import (
	"github.com/wasmres/wasmres/examples/wasm/tables"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// dialect asks information_schema, which shows what the role may read. Schemas are databases.
var dialect = tables.Dialect{
	Scheme: "mysql", Quote: '`',
	Tables: `select table_schema, table_name, table_type from information_schema.tables
where table_schema not in ('mysql', 'information_schema', 'performance_schema', 'sys') and (table_schema,
	table_name) > (?, ?)
order by table_schema, table_name limit ?`,
	Columns: "select column_name as name, column_type as type, is_nullable = 'YES' as `null`," +
		" column_default as `default`" +
		" from information_schema.columns where table_schema = ? and table_name = ? order by ordinal_position",
	Find: `select table_schema from information_schema.tables
where table_schema = coalesce(nullif(?, ''), database()) and table_name = ? limit 1`,
	Schemas: `select distinct table_schema from information_schema.tables
where table_schema not in ('mysql', 'information_schema', 'performance_schema', 'sys') and locate(?,
	table_schema) = 1 order by 1 limit 101`,
	Matching: `select table_name from information_schema.tables
where table_schema = ? and locate(?, table_name) = 1 order by table_name limit 101`,
}

func init() {
	wasmres.Provider("mysql", "1.0.0").Title("MySQL").
		Describe("The tables of a MySQL or MariaDB database: columns and rows, read-only.").
		Prefixes("mysql://")
	tables.Serve(dialect)
}

func main() {}
