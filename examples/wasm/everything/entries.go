package main

import (
	"strconv"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// entries is how many resources there are beside the fixed ones.
const entries = 10_000

func registerEntries() {
	wasmres.List(func(_ *wasmres.Request, page *wasmres.Page) error {
		return page.Each(entries, func(i int) wasmres.Entry {
			n := strconv.Itoa(i)
			return wasmres.Entry{URI: "test://entry/" + n, Name: "entry-" + n, MIME: "text/plain", Size: int64(len(body(n)))}
		})
	})
	wasmres.Template("test://entry/{n}", entry).Name("entry").Describe("One of many.").MIME("text/plain")
}

func entry(r *wasmres.Request) (string, error) {
	n, err := r.Int("n")
	if err != nil {
		return "", err
	}
	if n < 0 || n >= entries || strconv.Itoa(n) != r.Var("n") {
		return "", wasmres.NotFound("there is no entry " + r.Var("n"))
	}
	return body(r.Var("n")), nil
}

func body(n string) string { return "This is entry " + n + ".\n" }
