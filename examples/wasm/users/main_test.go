package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/examples/wasm/tables"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// start runs the provider on 250 users, of whom each tenth has left.
func start(t *testing.T) *wasmrestest.Provider {
	p := wasmrestest.New(t)
	p.SQL = map[string]wasmrestest.Database{connection: func(statement string, args []any) (table wasmrestest.Table,
		err error) {
		for id := int64(1); id <= 250; id++ {
			switch {
			case id%10 == 0:
			case strings.HasPrefix(statement, "select id, name, email") && id == args[0]:
				table = wasmrestest.Table{Columns: []string{"id", "name", "email", "joined"}, Rows: [][]any{{id, "Ada \"L\"\n",
					nil, "2026-11-22"}}}
			case strings.HasPrefix(statement, "select id, name from") && id > args[0].(int64) &&
				int64(len(table.Rows)) < args[1].(int64):
				table.Columns, table.Rows = []string{"id", "name"}, append(table.Rows, []any{id, fmt.Sprint("user ", id)})
			case strings.HasPrefix(statement, "select id from") && strings.HasPrefix(fmt.Sprint(id), args[0].(string)):
				table.Columns, table.Rows = []string{"id"}, append(table.Rows, []any{id})
			}
		}
		return table, nil
	}}
	return p
}

func TestUser(t *testing.T) {
	p := start(t)
	for _, uri := range []string{"db://users/42", "users://42"} {
		if got, want := p.Text(uri), `{"id":42,"name":"Ada \"L\"\u000a","email":null,"joined":"2026-11-22"}`; got != want {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
	for uri, want := range map[string]error{"db://users/20": wasmres.ErrNotFound, "db://users/0": wasmres.ErrNotFound,
		"db://users/x": wasmres.ErrInvalid, "users://20": wasmres.ErrNotFound, "users://x": wasmres.ErrInvalid} {
		if _, err := p.Read(uri); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", uri, err, want)
		}
	}
}

func TestWatch(t *testing.T) {
	p := start(t)
	name := "Ada"
	p.SQL[connection] = func(_ string, args []any) (wasmrestest.Table, error) {
		return wasmrestest.Table{Columns: []string{"id", "name"}, Rows: [][]any{{args[0], name}}}, nil
	}
	for _, uri := range []string{"db://users/42", "users://42"} {
		if every, err := p.Subscribe(uri); every != tables.WatchEvery || err != nil {
			t.Errorf("%s: subscribed: got %v, %v", uri, every, err)
		}
		version, _, _ := p.Poll(uri, "")
		if _, changed, err := p.Poll(uri, version); changed || err != nil {
			t.Errorf("%s: without a change: got %t, %v", uri, changed, err)
		}
		name += "!"
		if _, changed, err := p.Poll(uri, version); !changed || err != nil {
			t.Errorf("%s: after a change: got %t, %v", uri, changed, err)
		}
	}
}

func TestList(t *testing.T) {
	for _, size := range []int{1, 7, 225, 500} {
		p := start(t)
		p.PageSize = size
		all := p.List()
		if len(all) != 225 || all[9].URI != "db://users/11" || all[9].Name != "user 11" {
			t.Errorf("pages of %d: got %d entries", size, len(all))
		}
	}
	if _, _, err := start(t).Page("x"); !errors.Is(err, wasmres.ErrInvalid) {
		t.Errorf("got %v, want invalid", err)
	}
}

func TestComplete(t *testing.T) {
	got, err := start(t).Complete("db://users/{user_id}", "user_id", "24", nil)
	if want := []string{"24", "241", "242", "243", "244", "245", "246", "247", "248", "249"}; !slices.Equal(got,
		want) || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestNothingGranted(t *testing.T) {
	if _, err := wasmrestest.New(t).Read("db://users/1"); !errors.Is(err, wasmres.ErrDenied) {
		t.Errorf("got %v, want denied", err)
	}
}
