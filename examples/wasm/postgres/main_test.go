package main

import (
	"testing"

	"github.com/wasmres/wasmres/examples/wasm/tables/tablestest"
)

func TestProvider(t *testing.T) {
	tablestest.Run(t, tablestest.Config{
		Dialect: dialect, Users: "select * from \"shop\".\"users\"",
		Odd: "odd \" name", OddURI: "odd%20%22%20name", OddTable: "select * from \"shop\".\"odd \"\" name\"",
	})
}
