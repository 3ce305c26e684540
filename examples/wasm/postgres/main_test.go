package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// start runs the provider on a database with two tables.
func start(t *testing.T) *wasmrestest.Provider {
	p := wasmrestest.New(t)
	p.SQL = map[string]wasmrestest.Database{"main": func(statement string, args []any) (wasmrestest.Table, error) {
		known := len(args) > 1 && args[0] == "shop" && (args[1] == "users" || args[1] == "odd \" name")
		switch statement {
		case dialect.Tables:
			table := wasmrestest.Table{Columns: []string{"s", "t", "k"}}
			for _, name := range []string{"odd \" name", "users"} {
				if "shop/"+name > args[0].(string)+"/"+args[1].(string) && int64(len(table.Rows)) < args[2].(int64) {
					table.Rows = append(table.Rows, []any{"shop", name, "BASE TABLE"})
				}
			}
			return table, nil
		case dialect.Columns:
			table := wasmrestest.Table{Columns: []string{"name", "type", "null", "default"}}
			if known {
				table.Rows = [][]any{{"id", "bigint", false, nil}}
			}
			return table, nil
		case dialect.Schemas:
			return wasmrestest.Table{Columns: []string{"s"}, Rows: [][]any{{"shop"}}}, nil
		case dialect.Matching:
			return wasmrestest.Table{Columns: []string{"t"}, Rows: [][]any{{args[0].(string) + args[1].(string)}}}, nil
		}
		if !strings.HasPrefix(statement, "select * from \"shop\".\"users\" limit ") && !strings.HasPrefix(statement,
			"select * from \"shop\".\"odd \"\" name\" ") {
			t.Errorf("got the statement %s", statement)
		}
		return wasmrestest.Table{Columns: []string{"id", "name"}, Rows: [][]any{{1, "Ada"}, {2, []byte{255}}, {3, 0.5}}},
			nil
	}}
	return p
}

func TestRead(t *testing.T) {
	p := start(t)
	for uri, want := range map[string]string{
		"postgres://tables/shop/users/schema":                  `{"columns":[{"name":"id","type":"bigint","null":false,"default":null}]}`,
		"postgres://tables/shop/users/rows":                    `{"columns":["id","name"],"rows":[[1,"Ada"],[2,"/w=="],[3,0.5]],"more":false}`,
		"postgres://tables/shop/users/rows?limit=2&offset=7":   `{"columns":["id","name"],"rows":[[1,"Ada"],[2,"/w=="]],"more":true}`,
		"postgres://tables/shop/odd%20%22%20name/rows?limit=1": `{"columns":["id","name"],"rows":[[1,"Ada"]],"more":true}`,
	} {
		if got := p.Text(uri); got != want {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
	for uri, want := range map[string]error{
		"postgres://tables/shop/absent/schema":                wasmres.ErrNotFound,
		"postgres://tables/shop/absent/rows":                  wasmres.ErrNotFound,
		"postgres://tables/shop/users/rows?limit=x":           wasmres.ErrInvalid,
		"postgres://tables/shop/users/rows?limit=1001":        wasmres.ErrInvalid,
		"postgres://tables/shop/users/rows?limit=1&offset=-1": wasmres.ErrInvalid,
	} {
		if _, err := p.Read(uri); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", uri, err, want)
		}
	}
}

func TestList(t *testing.T) {
	for _, size := range []int{1, 2, 3} {
		p := start(t)
		p.PageSize = size
		all := p.List()
		if len(all) != 2 || all[0].URI != "postgres://tables/shop/odd%20%22%20name/schema" || all[1].Name != "shop.users" {
			t.Errorf("pages of %d: got %+v", size, all)
		}
	}
}

func TestComplete(t *testing.T) {
	for variable, want := range map[string]string{"schema": "shop", "table": "shopus"} {
		got, err := start(t).Complete("postgres://tables/{schema}/{table}/schema", variable, "us",
			map[string]string{"schema": "shop"})
		if !slices.Equal(got, []string{want}) || err != nil {
			t.Errorf("%s: got %v, %v", variable, got, err)
		}
	}
}
