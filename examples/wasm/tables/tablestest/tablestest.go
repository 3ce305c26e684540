// Package tablestest holds providers of the tables of a database to what they promise.
package tablestest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/examples/wasm/tables"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// A Config says how a provider's database writes what the tests ask for, of the tables users and Odd of the schema shop.
type Config struct {
	Dialect  tables.Dialect
	Users    string // the statement that reads users, up to its limit
	Odd      string // a name with a quotation mark in it
	OddURI   string // as it stands in a URI
	OddTable string // the statement that reads it, up to its limit
}

// Run tests the provider that the test belongs to.
func Run(t *testing.T, c Config) {
	t.Run("read", c.testRead)
	t.Run("list", c.testList)
	t.Run("complete", c.testComplete)
	t.Run("watch", c.testWatch)
}

// start runs the provider on a database with two tables.
func (c Config) start(t *testing.T) *wasmrestest.Provider {
	p := wasmrestest.New(t)
	p.SQL = map[string]wasmrestest.Database{"main": func(statement string, args []any) (wasmrestest.Table, error) {
		known := len(args) > 1 && args[0] == "shop" && (args[1] == "users" || args[1] == c.Odd)
		switch statement {
		case c.Dialect.Tables:
			table := wasmrestest.Table{Columns: []string{"s", "t", "k"}}
			for _, name := range []string{c.Odd, "users"} {
				if "shop/"+name > args[0].(string)+"/"+args[1].(string) && int64(len(table.Rows)) < args[2].(int64) {
					table.Rows = append(table.Rows, []any{"shop", name, "BASE TABLE"})
				}
			}
			return table, nil
		case c.Dialect.Columns:
			table := wasmrestest.Table{Columns: []string{"name", "type", "null", "default"}}
			if known {
				table.Rows = [][]any{{"id", "bigint", false, nil}}
				if c.Dialect.Scheme == "mysql" { // which has no truth values
					table.Rows[0][2] = 0
				}
			}
			return table, nil
		case c.Dialect.Find:
			table := wasmrestest.Table{Columns: []string{"s"}}
			if (args[0] == "" || args[0] == "sales") && args[1] == "users" {
				table.Rows = [][]any{{"shop"}}
			}
			return table, nil
		case c.Dialect.Schemas:
			return wasmrestest.Table{Columns: []string{"s"}, Rows: [][]any{{"shop"}}}, nil
		case c.Dialect.Matching:
			return wasmrestest.Table{Columns: []string{"t"}, Rows: [][]any{{args[0].(string) + args[1].(string)}}}, nil
		}
		if !strings.HasPrefix(statement, c.Users+" limit ") && !strings.HasPrefix(statement, c.OddTable+" limit ") {
			t.Errorf("got the statement %s", statement)
		}
		return wasmrestest.Table{Columns: []string{"id", "name"}, Rows: [][]any{{1, "Ada"}, {2, []byte{255}}, {3, 0.5}}},
			nil
	}}
	return p
}

func (c Config) testRead(t *testing.T) {
	base, named := c.Dialect.Scheme+"://tables/shop/", c.Dialect.Scheme+"://main/"
	p := c.start(t)
	for uri, want := range map[string]string{
		named + "users/schema":               `{"columns":[{"name":"id","type":"bigint","null":false,"default":null}]}`,
		named + "sales/users":                `{"columns":["id","name"],"rows":[[1,"Ada"],[2,"/w=="],[3,0.5]],"more":false}`,
		named + "sales/users?limit=1":        `{"columns":["id","name"],"rows":[[1,"Ada"]],"more":true}`,
		base + "users/schema":                `{"columns":[{"name":"id","type":"bigint","null":false,"default":null}]}`,
		base + "users/rows":                  `{"columns":["id","name"],"rows":[[1,"Ada"],[2,"/w=="],[3,0.5]],"more":false}`,
		base + "users/rows?limit=2&offset=7": `{"columns":["id","name"],"rows":[[1,"Ada"],[2,"/w=="]],"more":true}`,
		base + c.OddURI + "/rows?limit=1":    `{"columns":["id","name"],"rows":[[1,"Ada"]],"more":true}`,
	} {
		if got := p.Text(uri); got != want {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
	for uri, want := range map[string]error{
		named + "absent/schema":               wasmres.ErrNotFound,
		named + "other/users":                 wasmres.ErrNotFound,
		named + "sales/users?limit=1001":      wasmres.ErrInvalid,
		c.Dialect.Scheme + "://other/a/users": wasmres.ErrDenied,
		base + "absent/schema":                wasmres.ErrNotFound,
		base + "absent/rows":                  wasmres.ErrNotFound,
		base + "users/rows?limit=x":           wasmres.ErrInvalid,
		base + "users/rows?limit=1001":        wasmres.ErrInvalid,
		base + "users/rows?limit=1&offset=-1": wasmres.ErrInvalid,
	} {
		if _, err := p.Read(uri); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", uri, err, want)
		}
	}
}

func (c Config) testList(t *testing.T) {
	base := c.Dialect.Scheme + "://tables/shop/"
	for _, size := range []int{1, 2, 3} {
		p := c.start(t)
		p.PageSize = size
		all := p.List()
		if len(all) != 2 || all[0].URI != base+c.OddURI+"/schema" || all[1].Name != "shop.users" {
			t.Errorf("pages of %d: got %+v", size, all)
		}
	}
}

func (c Config) testComplete(t *testing.T) {
	for variable, want := range map[string]string{"schema": "shop", "table": "shopus"} {
		got, err := c.start(t).Complete(c.Dialect.Scheme+"://tables/{schema}/{table}/schema", variable, "us",
			map[string]string{"schema": "shop"})
		if !slices.Equal(got, []string{want}) || err != nil {
			t.Errorf("%s: got %v, %v", variable, got, err)
		}
	}
}

// testWatch changes what the database answers, and asks for the version before and after that.
func (c Config) testWatch(t *testing.T) {
	p := c.start(t)
	before, changes := p.SQL["main"], false
	p.SQL["main"] = func(statement string, args []any) (wasmrestest.Table, error) {
		table, err := before(statement, args)
		if changes && len(table.Columns) != 1 { // not of where a table is found
			table.Rows = append(table.Rows, table.Rows[0])
		}
		return table, err
	}
	root := c.Dialect.Scheme + "://"
	for _, path := range []string{"tables/shop/users/schema", "tables/shop/users/rows", "main/users/schema", "main/sales/users"} {
		uri := root + path
		changes = false
		if every, err := p.Subscribe(uri); every != tables.WatchEvery || err != nil {
			t.Errorf("%s: subscribed: got %v, %v", uri, every, err)
		}
		version, _, err := p.Poll(uri, "")
		if version == "" || err != nil {
			t.Errorf("%s: got version %q, %v", uri, version, err)
		}
		if _, changed, err := p.Poll(uri, version); changed || err != nil {
			t.Errorf("%s: without a change: got %t, %v", uri, changed, err)
		}
		changes = true
		if _, changed, err := p.Poll(uri, version); !changed || err != nil {
			t.Errorf("%s: after a change: got %t, %v", uri, changed, err)
		}
	}
	changes = false
	if version, _, err := p.Poll(root+"tables/shop/absent/rows", ""); version != "" || err != nil {
		t.Errorf("a table that is not there: got version %q, %v", version, err)
	}
}
