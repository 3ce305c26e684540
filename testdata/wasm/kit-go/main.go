// Kit-go is the provider of package abitest, made with the Go SDK.
package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const text = "The quick brown fox.\nZwölf Boxkämpfer. 狐 🦊\n"

func main() {}

func init() {
	wasmres.Provider("kit", "1.0.0")
	wasmres.Resource("kit://text", readText).Watch(time.Second, func(*wasmres.Request) (string, error) { return `"v1"`, nil })
	wasmres.Resource("kit://blob", func(*wasmres.Request) ([]byte, error) {
		b := make([]byte, 256)
		for i := range b {
			b[i] = byte(i)
		}
		return b, nil
	})
	wasmres.Resource("kit://empty", func(*wasmres.Request) (string, error) { return "", nil })
	wasmres.Resource("kit://several", func(*wasmres.Request) ([]wasmres.Content, error) {
		return []wasmres.Content{
			wasmres.Text("one").URI("kit://several/1"), wasmres.Bytes([]byte{2}).URI("kit://several/2"),
		}, nil
	})
	wasmres.Resource("kit://principal", func(r *wasmres.Request) (string, error) {
		if r.Principal == nil {
			return "nobody", nil
		}
		return r.Principal.Subject + "/" + r.Principal.Tenant, nil
	})
	wasmres.ReadAny(func(*wasmres.Request) (string, error) { return "", wasmres.NotFound("nothing here") })

	wasmres.Template("kit://echo/{value}", func(r *wasmres.Request) (string, error) { return r.Var("value"), nil }).
		CompleteFrom("value", "alpha", "beta", "bravo")
	wasmres.Template("kit://join{/part*}", func(r *wasmres.Request) (string, error) {
		return strings.Join(r.Vars("part"), "|"), nil
	})
	wasmres.Template("kit://fail/{code}", fail)
	wasmres.Template("kit://stream/{n}", stream).Ranges()
	wasmres.Template("kit://many/{i}", func(r *wasmres.Request) (string, error) {
		i, err := r.Int("i")
		if err != nil || i < 1 || i > 25 {
			return "", wasmres.NotFound("nothing here")
		}
		return fmt.Sprint(i), nil
	})
	wasmres.Template("kit://config/{key}", func(r *wasmres.Request) (string, error) {
		value, ok := r.Config(r.Var("key"))
		if !ok {
			return "", wasmres.NotFound("nothing here")
		}
		return value, nil
	})
	usePowers()
	wasmres.List(func(_ *wasmres.Request, page *wasmres.Page) error { return page.Each(25, many) })
	wasmres.ListDirectory(listDirectory)
}

func many(i int) wasmres.Entry { return wasmres.Entry{URI: fmt.Sprintf("kit://many/%d", i+1)} }

func listDirectory(r *wasmres.Request, page *wasmres.Page) error {
	switch {
	case r.Var("name") != "":
		return listFolder(r, page)
	case r.URI == "kit://many":
		return page.Each(26, func(i int) wasmres.Entry {
			if i < 25 {
				return many(i)
			}
			return wasmres.Entry{URI: "kit://many/none", MIME: wasmres.DirectoryType}
		})
	case r.URI == "kit://many/none":
		return nil
	}
	return wasmres.NotFound("nothing here")
}

func readText(*wasmres.Request) (wasmres.Content, error) {
	return wasmres.Text(text).ETag(`"v1"`), nil
}

func fail(r *wasmres.Request) (string, error) {
	code, err := r.Int("code")
	if err != nil {
		return "", err
	}
	e := &wasmres.Error{Code: wasmres.Code(code), Message: "failed as asked"}
	if e.Is(wasmres.ErrUnavailable) {
		e.RetryAfter = 1500 * time.Millisecond
	}
	return "", e
}

func stream(r *wasmres.Request) (wasmres.Content, error) {
	n, err := r.Int("n")
	if err != nil {
		return wasmres.Content{}, err
	}
	return wasmres.Stream(io.NewSectionReader(counting{}, 0, int64(n)), int64(n)), nil
}

// counting is endless: byte i is i&0xff.
type counting struct{}

func (counting) ReadAt(p []byte, off int64) (int, error) {
	for i := range p {
		p[i] = byte(off + int64(i))
	}
	return len(p), nil
}
