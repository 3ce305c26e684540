package wasmres_test

import (
	"fmt"
	"io/fs"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// tester stands for the *testing.T of a test.
var tester testing.TB = &testing.T{}

func ExampleTemplate() {
	wasmres.Reset()
	wasmres.Template("greeting://{name}", func(r *wasmres.Request) (string, error) {
		return "Hello, " + r.Var("name") + "!", nil
	}).Name("greeting").MIME("text/plain")

	p := wasmrestest.New(tester)
	fmt.Println(p.Text("greeting://Ada%20L."))
	// Output: Hello, Ada L.!
}

func ExampleResource() {
	wasmres.Reset()
	started := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	wasmres.Resource("config://app", func(*wasmres.Request) (wasmres.Content, error) {
		return wasmres.Text(`{"debug":false}`).MIME("application/json").LastModified(started), nil
	}).TTL(time.Minute).Public()

	p := wasmrestest.New(tester)
	contents, err := p.Read("config://app")
	fmt.Println(contents[0].MIME, contents[0].LastModified, string(contents[0].Data), err)
	// Output: application/json 2026-11-21T00:00:00Z {"debug":false} <nil>
}

func ExampleList() {
	wasmres.Reset()
	users := []string{"ada", "alan", "grace"}
	wasmres.List(func(_ *wasmres.Request, page *wasmres.Page) error {
		return page.Each(len(users), func(i int) wasmres.Entry {
			return wasmres.Entry{URI: "users://" + users[i], Title: "User " + strconv.Itoa(i)}
		})
	})

	p := wasmrestest.New(tester)
	p.PageSize = 2
	for _, e := range p.List() {
		fmt.Println(e.URI, e.Name, e.Title)
	}
	// Output:
	// users://ada ada User 0
	// users://alan alan User 1
	// users://grace grace User 2
}

func ExampleRoute_Watch() {
	wasmres.Reset()
	version := func(r *wasmres.Request) (string, error) { return strconv.FormatInt(r.Now().Unix(), 10), nil }
	wasmres.Resource("clock://now", version).Watch(time.Second, version)

	p := wasmrestest.New(tester)
	p.Now = func() time.Time { return time.Unix(42, 0) }
	fmt.Println(p.Subscribe("clock://now"))
	fmt.Println(p.Poll("clock://now", "41"))
	fmt.Println(p.Poll("clock://now", "42"))
	// Output:
	// 1s <nil>
	// 42 true <nil>
	// 42 false <nil>
}

func ExampleDir() {
	wasmres.Reset()
	wasmres.Ask("fs", "reads the notes")
	wasmres.Template("notes://{name}", func(r *wasmres.Request) (wasmres.Content, error) {
		f, err := wasmres.Dir("/notes").Open(r.Var("name"))
		if err != nil {
			return wasmres.Content{}, err // a missing file is "not found"
		}
		return wasmres.Stream(f, -1).AsText(), nil
	})

	p := wasmrestest.New(tester)
	p.Mounts = map[string]fs.FS{"/notes": fstest.MapFS{"todo": {Data: []byte("rest")}}}
	fmt.Println(p.Text("notes://todo"))
	_, err := p.Read("notes://missing")
	fmt.Println(err)
	// Output:
	// rest
	// not_found
}
