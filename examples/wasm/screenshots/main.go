// Screenshots serves the newest picture of each display: screen://localhost/display1 is that of display1 in a granted
// folder, into which a program of the operator writes.
package main

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// root is where the operator mounts the folder.
const root = "/screens"

// watchEvery is how often a display that a client follows is looked at, where the folder cannot be watched.
const watchEvery = 2 * time.Second

const display = "screen://localhost/{display}"

func init() {
	wasmres.Provider("screenshots", "1.0.0").
		Title("Screenshots").
		Describe("What displays showed when the newest picture of each was taken.").
		Prefixes("screen://localhost/")
	wasmres.Ask("fs", "reads the pictures in the folder mounted at "+root).Params(`{"paths":["` + root + `"],"access":["read"]}`)

	wasmres.Template(display, read).
		Name("display").Title("Display").Describe("The newest picture of a display, as in screen://localhost/display1.").
		MIME("image/png").Complete("display", completeDisplay).Watch(watchEvery, version)
	wasmres.List(list)
}

// read answers with the newest picture of a display.
func read(r *wasmres.Request) (wasmres.Content, error) {
	s, err := newest(r.Var("display"))
	if err != nil {
		return wasmres.Content{}, err
	}
	f, err := wasmres.Dir(root).Open(s.name)
	if err != nil {
		return wasmres.Content{}, explain(err)
	}
	return wasmres.Stream(f, s.size).MIME(s.mime()).ETag(s.etag()).LastModified(s.taken), nil
}

// version names the newest picture of a display; empty if there is none yet.
func version(r *wasmres.Request) (string, error) {
	s, err := newest(r.Var("display"))
	if errors.Is(err, wasmres.ErrNotFound) {
		return "", nil
	}
	return s.etag(), err
}

// newest returns the newest picture of a display.
func newest(display string) (screenshot, error) {
	all, err := screenshots()
	if err != nil {
		return screenshot{}, err
	}
	for _, s := range all {
		if s.display() == display {
			return s, nil
		}
	}
	return screenshot{}, wasmres.NotFound("there is no picture of " + strconv.Quote(display))
}

// list lists displays, each with its newest picture.
func list(_ *wasmres.Request, page *wasmres.Page) error {
	all, err := screenshots()
	if err != nil {
		return err
	}
	return page.Each(len(all), func(i int) wasmres.Entry {
		return wasmres.Entry{URI: "screen://localhost/" + all[i].display(), Name: all[i].display(), MIME: all[i].mime(),
			Size: all[i].size, LastModified: all[i].taken}
	})
}

func completeDisplay(_ *wasmres.Request, prefix string) (names []string, err error) {
	all, err := screenshots()
	for _, s := range all {
		if strings.HasPrefix(s.display(), prefix) {
			names = append(names, s.display())
		}
	}
	return names, err
}

// explain words for the client why the folder cannot be read.
func explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return wasmres.Denied("pictures may not be read: has their folder been granted, as with --dir FOLDER:" + root + "?")
	case errors.Is(err, fs.ErrNotExist):
		return wasmres.NotFound("the picture is gone")
	}
	return err
}

func main() {}
