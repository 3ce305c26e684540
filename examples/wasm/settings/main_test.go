package main

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

func start(t *testing.T, folder fs.FS) *wasmrestest.Provider {
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{root: folder}
	return p
}

func TestFiles(t *testing.T) {
	p := start(t, os.DirFS("sample"))
	for uri, want := range map[string]string{
		"config://app/production/database.yml": `production:
  adapter: postgresql
  host: db.example.org
  port: 5432
  pool: 8
  username: shop
  password: "[redacted]"
  replicas:
  - postgres://shop:[redacted]@replica1.example.org/shop
  - host=replica2.example.org user=shop password=[redacted]
`,
		"config://app/production/app.toml": `title = "Shop"

[server]
  port = 8080
  session_key = "[redacted]"
  tls = true
`,
		"config://app/staging/app.json": `{
  "ratio": 0.50,
  "secrets": "[redacted]",
  "title": "Shop (staging)",
  "workers": 2
}
`,
		"config://app/staging/mail.ini": `[smtp]
host = mail.example.org
port = 25
passwd = [redacted]
[auth]
user = shop
`,
	} {
		if got := p.Text(uri); got != want {
			t.Errorf("%s: got\n%s", uri, got)
		}
	}
}

func TestList(t *testing.T) {
	folder := fstest.MapFS{"a/x.yml": {}, "a/.y.yml": {}, "a/z.txt": {}, "b/x.ini": {}, "b/y z.toml": {}, ".git/x.ini": {},
		"top.yml": {}, "c/d.json/x.yml": {}}
	for _, size := range []int{1, 2, 3, 100} {
		p := start(t, folder)
		p.PageSize = size
		var got []string
		for _, e := range p.List() {
			got = append(got, e.URI)
		}
		want := []string{"config://app/a/x.yml", "config://app/b/x.ini", "config://app/b/y%20z.toml"}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %q", size, got)
		}
	}
	p := start(t, folder)
	for _, cursor := range []string{"x", "a/", "../a", "a/b/c"} {
		if _, _, err := p.Page(cursor); !errors.Is(err, wasmres.ErrInvalid) {
			t.Errorf("the cursor %q: got %v", cursor, err)
		}
	}
	for _, c := range []struct {
		variable, prefix string
		known            map[string]string
		want             []string
	}{
		{"environment", "", nil, []string{"a", "b", "c"}},
		{"file", "x", nil, []string{"x.yml", "x.ini"}},
		{"file", "", map[string]string{"environment": "b"}, []string{"x.ini", "y z.toml"}},
	} {
		got, err := p.Complete(template, c.variable, c.prefix, c.known)
		if !slices.Equal(got, c.want) || err != nil {
			t.Errorf("%s %q: got %q, %v", c.variable, c.prefix, got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	const secret = "hunter2hunter2"
	p := start(t, fstest.MapFS{
		"a/x.yml": {Data: []byte("a: [" + secret)}, "a/x.json": {Data: []byte(`{"a": 1} ` + secret)}, "a/x.toml": {Data: []byte(secret)},
		"a/x.ini": {Data: []byte(secret)}, "a/large.ini": {Data: []byte(strings.Repeat(";", fileMax+1))}, "a/.x.ini": {}, "a/b.ini/c": {},
	})
	for uri, want := range map[string]error{
		"config://app/a/x.yml": wasmres.ErrUnavailable, "config://app/a/x.json": wasmres.ErrUnavailable,
		"config://app/a/x.toml": wasmres.ErrUnavailable, "config://app/a/x.ini": wasmres.ErrUnavailable,
		"config://app/a/large.ini": wasmres.ErrTooLarge, "config://app/a/.x.ini": wasmres.ErrNotFound,
		"config://app/a/b.ini": wasmres.ErrNotFound, "config://app/a/gone.ini": wasmres.ErrNotFound,
		"config://app/../x.yml": wasmres.ErrNotFound, "config://app/a/x.txt": wasmres.ErrNotFound,
	} {
		if _, err := p.Read(uri); !errors.Is(err, want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want %v", uri, err, want)
		}
	}
	for _, line := range p.Logs {
		if strings.Contains(line.Message, secret) {
			t.Errorf("the log has a secret: %s", line.Message)
		}
	}
	p.Mounts = nil
	if _, err := p.Read("config://app/a/x.yml"); !errors.Is(err, wasmres.ErrDenied) || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("got %v", err)
	}
}

func TestFilesCanBeFollowed(t *testing.T) {
	const uri = "config://app/a/x.ini"
	p := start(t, fstest.MapFS{})
	none, _, err := p.Poll(uri, "")
	if none != "" || err != nil {
		t.Errorf("got %q, %v", none, err)
	}
	p.Mounts[root] = fstest.MapFS{"a/x.ini": {Data: []byte("a = 1\n")}}
	if _, changed, err := p.Poll(uri, none); !changed || err != nil {
		t.Errorf("got changed %t, %v", changed, err)
	}
}
