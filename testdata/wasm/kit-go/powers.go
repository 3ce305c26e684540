package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

var files = wasmres.Dir("/kit")

// usePowers registers what uses what the host grants.
func usePowers() {
	wasmres.Ask("http", "fetches pages").Optional()
	wasmres.Ask("sql", "queries the database main").Optional()
	wasmres.Ask("kv", "keeps values").Optional()
	wasmres.Ask("fs", "reads and writes files").Params(`{"paths":["/kit"],"access":["read","write"]}`).Optional()

	wasmres.Template("kit://fetch/{+url}", fetch)
	wasmres.Template("kit://post/{+url}", post)
	wasmres.Template("kit://rows/{query}", rows)
	wasmres.Template("kit://kv/{key}", func(r *wasmres.Request) ([]byte, error) { return wasmres.KV().Get(r.Var("key")) })
	wasmres.Template("kit://keep/{key}/{value}", func(r *wasmres.Request) (string, error) {
		return put(r, wasmres.IfAbsent(), wasmres.TTL(1500*time.Millisecond))
	})
	wasmres.Template("kit://swap/{key}/{value}", func(r *wasmres.Request) (string, error) {
		_, entry, err := wasmres.KV().GetEntry(r.Var("key"))
		if err != nil {
			return "", err
		}
		return put(r, wasmres.IfVersion(entry.Version))
	})
	wasmres.Template("kit://drop/{key}", func(r *wasmres.Request) (string, error) {
		return "gone", wasmres.KV().Delete(r.Var("key"))
	})
	wasmres.Template("kit://keys/{prefix}", keys)
	wasmres.Template("kit://file/{name}", read)
	wasmres.Template("kit://write/{name}/{text}", write)
	wasmres.Template("kit://remove/{name}", func(r *wasmres.Request) (string, error) {
		return "gone", files.Remove(r.Var("name"))
	})
	serveFolders()
	wasmres.Template("kit://env/{name}", func(r *wasmres.Request) (string, error) {
		value, ok := r.Env(r.Var("name"))
		if !ok {
			return "", wasmres.NotFound("nothing here")
		}
		return value, nil
	})
}

func fetch(r *wasmres.Request) (wasmres.Content, error) {
	answer, err := wasmres.Get(r.Var("url"))
	if err != nil {
		return wasmres.Content{}, err
	}
	return wasmres.Stream(answer.Body, -1), answer.Err()
}

func post(r *wasmres.Request) (string, error) {
	answer, err := wasmres.HTTP(wasmres.HTTPRequest{
		Method: "POST", URL: r.Var("url"), Header: wasmres.HTTPHeader{{Name: "X-Kit", Value: "sent"}},
		Body: []byte("from the kit"), MaxBytes: 1000, Timeout: 1500 * time.Millisecond,
	})
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(answer.Body)
	return fmt.Sprintf("%d\n%s\n%s\n%s\n", answer.Status, answer.URL, answer.Header.Get("x-kit"), body), err
}

func rows(r *wasmres.Request) (string, error) {
	rows, err := wasmres.Query("main", r.Var("query"), nil, true, -7, 1.5, "té", []byte{0, 255})
	if err != nil {
		return "", err
	}
	var names []string
	for _, c := range rows.Columns() {
		names = append(names, c.Name)
	}
	var b strings.Builder
	b.WriteString(strings.Join(names, "|") + "\n")
	for row := range rows.All() {
		var cells []string
		for _, v := range row.Values() {
			cells = append(cells, cell(v))
		}
		b.WriteString(strings.Join(cells, "|") + "\n")
	}
	return b.String(), rows.Err()
}

func cell(v wasmres.Value) string {
	if v.IsNull() {
		return "null"
	}
	if b, ok := v.Any().([]byte); ok {
		return hex.EncodeToString(b)
	}
	return v.String()
}

func put(r *wasmres.Request, options ...wasmres.PutOption) (string, error) {
	entry, err := wasmres.KV().Put(r.Var("key"), []byte(r.Var("value")), options...)
	switch {
	case errors.Is(err, wasmres.ErrConflict):
		return fmt.Sprint("is ", entry.Version), nil
	case err != nil:
		return "", err
	}
	return fmt.Sprint("put ", entry.Version), nil
}

func keys(r *wasmres.Request) (string, error) {
	var b strings.Builder
	for entry, err := range wasmres.KV().Keys(r.Var("prefix")) {
		if err != nil {
			return "", err
		}
		b.WriteString(entry.Key + "\n")
	}
	return b.String(), nil
}

func read(r *wasmres.Request) (wasmres.Content, error) {
	file, err := files.Open(r.Var("name"))
	if err != nil {
		return wasmres.Content{}, err
	}
	return wasmres.Stream(file, -1), nil
}

func write(r *wasmres.Request) (string, error) {
	name := r.Var("name")
	if _, err := files.WriteFile(name, []byte(r.Var("text"))); err != nil {
		return "", err
	}
	info, err := files.AppendFile(name, []byte("\n"))
	if err != nil {
		return "", err
	}
	return fmt.Sprint(info.Size()), nil
}
