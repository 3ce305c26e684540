// Sys serves figures of the machine it runs on: sys://load and sys://memory, from a granted /proc.
package main

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"strconv"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// root is where the operator mounts /proc.
const root = "/proc"

// watchEvery is how often figures that a client follows are looked at: the kernel does not tell when they change.
const watchEvery = 2 * time.Second

// fileMax is how many bytes of a file are read.
const fileMax = 64 << 10

func init() {
	wasmres.Provider("sys", "1.0.0").
		Title("System").
		Describe("Load and memory of the machine, as they are when they are read.").
		Prefixes("sys://")
	wasmres.Ask("fs", "reads loadavg and meminfo of the machine's "+root).Params(`{"paths":["` + root + `"],"access":["read"]}`)

	serve("sys://load", "loadavg", parseLoad).
		Title("Load").Describe("Mean number of processes that run or wait to, over 1, 5 and 15 minutes.")
	serve("sys://memory", "meminfo", parseMemory).
		Title("Memory").Describe("Memory and swap in bytes: all of it, what is free, what is available.")
}

// serve registers the figures that parse finds in a file.
func serve[T any](uri, file string, parse func(text string) (T, error)) *wasmres.Route {
	read := func() (string, error) {
		text, err := readFile(file)
		if err != nil {
			return "", err
		}
		figures, err := parse(text)
		if err != nil {
			return "", wasmres.Unavailable(file+" is in a form that is not known", 0).Because(err)
		}
		b, err := json.Marshal(figures)
		return string(b), err
	}
	return wasmres.Resource(uri, func(*wasmres.Request) (wasmres.Content, error) {
		text, err := read()
		return wasmres.Text(text).ETag(etag(text)), err
	}).MIME("application/json").Watch(watchEvery, func(*wasmres.Request) (string, error) {
		text, err := read()
		return etag(text), err
	})
}

// readFile reads a file of /proc. The kernel makes its text while it is read, so that its size is unknown before.
func readFile(name string) (string, error) {
	f, err := wasmres.Dir(root).Open(name)
	if err != nil {
		return "", explain(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, fileMax))
	return string(text), err
}

// explain words for the client why a file cannot be read.
func explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return wasmres.Denied("the figures may not be read: has " + root + " been granted, as with --dir /proc:" + root + ":ro?")
	case errors.Is(err, fs.ErrNotExist):
		return wasmres.NotFound("this machine does not tell")
	}
	return err
}

// etag names figures.
func etag(text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	return strconv.FormatUint(h.Sum64(), 36)
}

func main() {}
