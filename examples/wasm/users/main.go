// Users serves the users of a SQLite database, each as a resource.
package main

import (
	"strconv"

	"github.com/wasmres/wasmres/examples/wasm/tables"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// connection is the name under which the operator grants the database.
const connection = "main"

func init() {
	wasmres.Provider("users", "1.0.0").Title("Users").
		Describe("The users of an application, from its database, read-only.").
		Prefixes("db://", "users://")
	wasmres.Ask("sql", "reads the table users of the database granted as "+connection).Params(`{"connections":["` + connection + `"]}`)

	wasmres.Template("db://users/{user_id}", user).
		Name("user").Describe("A user, by number.").MIME("application/json").
		Complete("user_id", completeID).Watch(tables.WatchEvery, tables.Version(user))
	wasmres.Template("users://{user_id}", user).
		Name("user-by-id").Describe("The same user, by a shorter URI.").MIME("application/json").
		Complete("user_id", completeID).Watch(tables.WatchEvery, tables.Version(user))
	wasmres.List(list)
}

func user(r *wasmres.Request) (string, error) {
	id, err := r.Int("user_id")
	if err != nil {
		return "", err
	}
	row, err := wasmres.QueryRow(connection, "select id, name, email, joined from users where id = ?1", id)
	if err == wasmres.ErrNotFound {
		return "", wasmres.NotFound("no user " + strconv.Itoa(id))
	}
	if err != nil {
		return "", err
	}
	return string(tables.AppendObject(nil, row)), nil
}

// list lists users by number. The cursor is the number of the last one, so that a page does not depend on who came or
// went meanwhile.
func list(_ *wasmres.Request, page *wasmres.Page) error {
	last := 0
	if page.Cursor() != "" {
		var err error
		if last, err = strconv.Atoi(page.Cursor()); err != nil {
			return wasmres.Invalid("unknown cursor")
		}
	}
	rows, err := wasmres.Query(connection, "select id, name from users where id > ?1 order by id limit ?2", last,
		page.Limit()+1)
	if err != nil {
		return err
	}
	for row := range rows.All() {
		var id int
		var name string
		if err := row.Scan(&id, &name); err != nil {
			return err
		}
		entry := wasmres.Entry{URI: "db://users/" + strconv.Itoa(id), Name: name, MIME: "application/json"}
		if !page.Add(entry) {
			page.Next(strconv.Itoa(last))
			return nil
		}
		last = id
	}
	return rows.Err()
}

// completeID suggests numbers that begin with what was typed.
func completeID(_ *wasmres.Request, prefix string) (ids []string, err error) {
	rows, err := wasmres.Query(connection,
		"select id from users where substr(id, 1, length(?1)) = ?1 order by id limit 101", prefix)
	if err != nil {
		return nil, err
	}
	for row := range rows.All() {
		ids = append(ids, row.Values()[0].String())
	}
	return ids, rows.Err()
}

func main() {}
