package wasmres_test

import (
	"errors"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// The examples are what stands in a provider's init. The tests below them run each, and see that it does what it says.

func ExampleTemplate() {
	wasmres.Template("greeting://{name}", func(r *wasmres.Request) (string, error) {
		return "Hello, " + r.Var("name") + "!", nil
	}).Name("greeting").MIME("text/plain")

	// greeting://Ada%20L. reads as: Hello, Ada L.!
}

func TestExampleTemplate(t *testing.T) {
	p := start(t, ExampleTemplate)
	if got, want := p.Text("greeting://Ada%20L."), "Hello, Ada L.!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func ExampleResource() {
	started := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	wasmres.Resource("config://app", func(*wasmres.Request) (wasmres.Content, error) {
		return wasmres.Text(`{"debug":false}`).MIME("application/json").LastModified(started), nil
	}).TTL(time.Minute).Public()
}

func TestExampleResource(t *testing.T) {
	p := start(t, ExampleResource)
	got, err := p.Read("config://app")
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v, want one content", got, err)
	}
	if c := got[0]; c.MIME != "application/json" || c.LastModified != "2026-11-21T00:00:00Z" || string(c.Data) != `{"debug":false}` {
		t.Errorf("got %+v", c)
	}
}

func ExampleList() {
	users := []string{"ada", "alan", "grace"}
	wasmres.List(func(_ *wasmres.Request, page *wasmres.Page) error {
		return page.Each(len(users), func(i int) wasmres.Entry {
			return wasmres.Entry{URI: "users://" + users[i], Title: "User " + strconv.Itoa(i)}
		})
	})
}

func TestExampleList(t *testing.T) {
	p := start(t, ExampleList)
	p.PageSize = 2
	var got []string
	for _, e := range p.List() {
		got = append(got, e.URI+" "+e.Name+" "+e.Title)
	}
	want := []string{"users://ada ada User 0", "users://alan alan User 1", "users://grace grace User 2"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func ExampleRoute_Complete() {
	users := []string{"ada", "alan", "grace"}
	wasmres.Template("users://{name}", func(r *wasmres.Request) (string, error) {
		return "This is " + r.Var("name") + ".", nil
	}).Complete("name", func(_ *wasmres.Request, prefix string) ([]string, error) {
		var found []string
		for _, name := range users {
			if strings.HasPrefix(name, prefix) {
				found = append(found, name)
			}
		}
		return found, nil
	})
}

func TestExampleRoute_Complete(t *testing.T) {
	p := start(t, ExampleRoute_Complete)
	got, err := p.Complete("users://{name}", "name", "a", nil)
	if want := []string{"ada", "alan"}; !reflect.DeepEqual(got, want) || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func ExampleRoute_Watch() {
	version := func(r *wasmres.Request) (string, error) { return strconv.FormatInt(r.Now().Unix(), 10), nil }
	wasmres.Resource("clock://now", version).Watch(time.Second, version)
}

func TestExampleRoute_Watch(t *testing.T) {
	p := start(t, ExampleRoute_Watch)
	p.Now = func() time.Time { return time.Unix(42, 0) }
	if every, err := p.Subscribe("clock://now"); every != time.Second || err != nil {
		t.Errorf("subscribe: got %v, %v, want 1s", every, err)
	}
	for etag, want := range map[string]bool{"41": true, "42": false} {
		if got, changed, err := p.Poll("clock://now", etag); got != "42" || changed != want || err != nil {
			t.Errorf("poll with %s: got %s, %v, %v, want 42, %v", etag, got, changed, err, want)
		}
	}
}

func ExampleDir() {
	wasmres.Ask("fs", "reads the notes")
	wasmres.Template("notes://{name}", func(r *wasmres.Request) (wasmres.Content, error) {
		f, err := wasmres.Dir("/notes").Open(r.Var("name"))
		if err != nil {
			return wasmres.Content{}, err // a missing file is "not found"
		}
		return wasmres.Stream(f, -1).AsText(), nil
	})
}

func TestExampleDir(t *testing.T) {
	p := start(t, ExampleDir)
	p.Mounts = map[string]fs.FS{"/notes": fstest.MapFS{"todo": {Data: []byte("rest")}}}
	if got, want := p.Text("notes://todo"), "rest"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := p.Read("notes://missing"); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

func ExampleDirectory_WriteFile() {
	wasmres.Ask("fs", "keeps reports").Params(`{"paths":["/reports"],"access":["read","write"]}`)
	reports := wasmres.Dir("/reports")
	wasmres.Template("reports://{day}", func(r *wasmres.Request) ([]byte, error) {
		name := r.Var("day") + ".txt"
		report, err := fs.ReadFile(reports, name)
		if errors.Is(err, fs.ErrNotExist) {
			report = []byte("made at " + r.Now().Format(time.TimeOnly))
			_, err = reports.WriteFile(name, report)
		}
		return report, err
	})
}

func TestExampleDirectory_WriteFile(t *testing.T) {
	p := start(t, ExampleDirectory_WriteFile)
	p.Mounts = map[string]fs.FS{"/reports": wasmrestest.Writable(t.TempDir())}
	for _, now := range []int64{42, 43} {
		p.Now = func() time.Time { return time.Unix(now, 0).UTC() }
		if got, want := string(p.Bytes("reports://monday")), "made at 00:00:42"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
