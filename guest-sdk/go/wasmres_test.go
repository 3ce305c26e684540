package wasmres_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// start registers a provider for one test. Tests that do must not run in parallel.
func start(t *testing.T, register func()) *wasmrestest.Provider {
	t.Helper()
	wasmres.Reset()
	t.Cleanup(wasmres.Reset)
	register()
	return wasmrestest.New(t)
}

func answer[T any](v T) func(*wasmres.Request) (T, error) {
	return func(*wasmres.Request) (T, error) { return v, nil }
}

func fail(err error) func(*wasmres.Request) (string, error) {
	return func(*wasmres.Request) (string, error) { return "", err }
}

func TestURIsAreRoutedAsByTheHost(t *testing.T) {
	p := start(t, func() {
		wasmres.Resource("t://grüße/a", func(r *wasmres.Request) (string, error) { return r.URI, nil })
		wasmres.Template("t://{+path}{?lang,ref}", func(r *wasmres.Request) (string, error) {
			return r.Var("path") + " " + r.Var("lang") + " " + r.Var("ref"), nil
		})
	})
	for uri, want := range map[string]string{
		"t://gr%C3%BC%C3%9Fe/a":         "t://grüße/a",
		"t://gr%C3%BC%C3%9Fe/%61":       "grüße/a  ",
		"t://gr%C3%BC%C3%9Fe/b?lang=de": "grüße/b de ",
		"t://a/b?ref=main&lang=de":      "a/b de main",
		"t://../%2e%2E/b..c":            "../../b..c  ", // which the host refuses
		"t://a%2F..%5C.%5C":             "a/..\\.\\  ",
		"t://a%00b c|\t%7f":             "a\x00b c|\t\x7f  ",
	} {
		if got := p.Text(uri); got != want {
			t.Errorf("%s: got %q, want %q", uri, got, want)
		}
	}
}

func TestReadKinds(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 1<<10)
	p := start(t, func() {
		wasmres.Resource("t://text", answer("text"))
		wasmres.Resource("t://empty", answer(""))
		wasmres.Resource("t://long", answer(long)).MIME("text/x-long")
		wasmres.Resource("t://bytes", answer([]byte{0, 1, 2}))
		wasmres.Resource("t://none", answer([]byte(nil)))
		wasmres.Resource("t://content", answer(wasmres.Text("{}").MIME("application/json").ETag("e").
			LastModified(time.Date(2026, 11, 21, 1, 2, 3, 4, time.FixedZone("", 3600))).Meta(`{"a":1}`)))
		wasmres.Resource("t://reader", func(*wasmres.Request) (wasmres.Content, error) {
			return wasmres.Stream(struct{ io.Reader }{strings.NewReader(long)}, -1).AsText(), nil
		})
		wasmres.Resource("t://writer", func(*wasmres.Request) (wasmres.Content, error) {
			return wasmres.Stream(strings.NewReader(long), int64(len(long))), nil
		})
	})
	for _, c := range []struct {
		uri  string
		want wasmrestest.Content
	}{
		{"t://text", wasmrestest.Content{MIME: "text/plain", Text: true, Data: []byte("text")}},
		{"t://empty", wasmrestest.Content{MIME: "text/plain", Text: true}},
		{"t://long", wasmrestest.Content{MIME: "text/x-long", Text: true, Data: []byte(long)}},
		{"t://bytes", wasmrestest.Content{MIME: "application/octet-stream", Data: []byte{0, 1, 2}}},
		{"t://none", wasmrestest.Content{MIME: "application/octet-stream"}},
		{"t://content", wasmrestest.Content{MIME: "application/json", Text: true, Data: []byte("{}"), ETag: "e",
			LastModified: "2026-11-21T00:02:03Z", Meta: `{"a":1}`}},
		{"t://reader", wasmrestest.Content{MIME: "text/plain", Text: true, Data: []byte(long)}},
		{"t://writer", wasmrestest.Content{MIME: "application/octet-stream", Data: []byte(long)}},
	} {
		contents, err := p.Read(c.uri)
		if err != nil || len(contents) != 1 {
			t.Errorf("%s: got %d contents, %v", c.uri, len(contents), err)
			continue
		}
		c.want.URI = c.uri
		got := contents[0]
		if !bytes.Equal(got.Data, c.want.Data) {
			t.Errorf("%s: got %d bytes, want %d", c.uri, len(got.Data), len(c.want.Data))
		}
		if got, want := fmt.Sprint(got.URI, got.MIME, got.Text, got.ETag, got.LastModified, got.Meta),
			fmt.Sprint(c.want.URI, c.want.MIME, c.want.Text, c.want.ETag, c.want.LastModified, c.want.Meta); got != want {
			t.Errorf("%s: got %s, want %s", c.uri, got, want)
		}
	}
}

func TestReadSeveral(t *testing.T) {
	p := start(t, func() {
		wasmres.Template("t://{+dir}", func(r *wasmres.Request) ([]wasmres.Content, error) {
			if r.Var("dir") == "empty" {
				return nil, nil
			}
			return []wasmres.Content{wasmres.Text("a").URI(r.URI + "/a"), wasmres.Bytes([]byte("b")).URI(r.URI + "/b").MIME("image/png")}, nil
		}).TTL(1500 * time.Millisecond).Public()
	})
	a, err := p.Do(wasmrestest.Request{URI: "t://x/y"})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Contents) != 2 || a.Contents[0].URI != "t://x/y/a" || a.Contents[1].MIME != "image/png" || a.TTL != 1500*time.Millisecond || !a.Public {
		t.Errorf("got %+v", a)
	}
	if _, err := p.Read("t://empty"); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("no contents: got %v, want not found", err)
	}
}

func TestVariables(t *testing.T) {
	p := start(t, func() {
		wasmres.Template("t://{id}{?tag*}", func(r *wasmres.Request) (string, error) {
			n, err := r.Int("id")
			return fmt.Sprint(n, r.Vars("tag"), r.Var("absent") == ""), err
		})
	})
	if got, want := p.Text("t://4%32?tag=a&tag=%C3%BC"), "42 [a ü] true"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err := p.Read("t://x")
	if !errors.Is(err, wasmres.ErrInvalid) || err.Error() != `id is not a whole number: "x"` {
		t.Errorf("got %v", err)
	}
}

func TestRouting(t *testing.T) {
	p := start(t, func() {
		wasmres.Template("t://{a}", answer("template"))
		wasmres.Template("t://x/{a}", answer("longer"))
		wasmres.Resource("t://fixed", answer("fixed"))
		wasmres.ReadAny(func(r *wasmres.Request) (string, error) {
			if r.URI == "u://missing" {
				return "", wasmres.NotFound("no such thing")
			}
			return "any", nil
		})
	})
	for uri, want := range map[string]string{"t://b": "template", "t://x/y": "longer", "t://fixed": "fixed", "u://other/one": "any"} {
		if got := p.Text(uri); got != want {
			t.Errorf("%s: got %q, want %q", uri, got, want)
		}
	}
	if _, err := p.Read("u://missing"); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestErrors(t *testing.T) {
	secret := errors.New("secret path /etc/x")
	p := start(t, func() {
		wasmres.Resource("t://plain", fail(secret))
		wasmres.Resource("t://wrapped", fail(fmt.Errorf("x: %w", wasmres.Denied("not you"))))
		wasmres.Resource("t://caused", fail(wasmres.Unavailable("try later", 1500*time.Microsecond).Because(secret)))
		wasmres.Resource("t://fs", fail(&fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrNotExist}))
		wasmres.Resource("t://permission", fail(fs.ErrPermission))
		wasmres.Resource("t://host", fail(&wasmres.Error{Code: 36, Message: "m", Data: "{}"}))
	})
	for _, c := range []struct {
		uri, text string
		class     error
	}{
		{"t://plain", "internal", wasmres.ErrInternal},
		{"t://wrapped", "not you", wasmres.ErrDenied},
		{"t://caused", "try later", wasmres.ErrUnavailable},
		{"t://fs", "not_found", fs.ErrNotExist},
		{"t://permission", "denied", fs.ErrPermission},
		{"t://host", "m", wasmres.ErrInternal},
		{"t://nobody", "not_found", wasmres.ErrNotFound},
	} {
		_, err := p.Read(c.uri)
		if !errors.Is(err, c.class) || err.Error() != c.text {
			t.Errorf("%s: got %v, want %v with text %q", c.uri, err, c.class, c.text)
		}
	}
	_, err := p.Read("t://caused")
	var e *wasmres.Error
	if !errors.As(err, &e) || e.RetryAfter != 2*time.Millisecond {
		t.Errorf("got %+v, want a retry after 2ms", e)
	}
	logged := wasmrestest.Log{Level: "error", Message: secret.Error()}
	if len(p.Logs) != 3 || p.Logs[0] != logged {
		t.Errorf("got logs %v, want %v and twice the cause", p.Logs, logged)
	}
}

func TestSentinelsAreNotChanged(t *testing.T) {
	if err := wasmres.ErrNotFound.Because(io.EOF); !errors.Is(err, io.EOF) || wasmres.ErrNotFound.Cause != nil {
		t.Errorf("got %v, sentinel's cause %v", err, wasmres.ErrNotFound.Cause)
	}
}

func TestPanicReachesTheTest(t *testing.T) {
	p := start(t, func() {
		wasmres.Resource("t://panic", func(*wasmres.Request) (string, error) { panic("mine") })
		wasmres.Resource("t://fine", answer("fine"))
	})
	func() {
		defer func() {
			if r := recover(); r != "mine" {
				t.Errorf("recovered %v, want mine", r)
			}
		}()
		_, _ = p.Read("t://panic")
	}()
	if got := p.Text("t://fine"); got != "fine" {
		t.Errorf("after a panic: got %q", got)
	}
}

func TestInvalidText(t *testing.T) {
	p := start(t, func() { wasmres.Resource("t://bad", answer("a\xff")) })
	if _, err := p.Read("t://bad"); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("got %v", err)
	}
}

func TestList(t *testing.T) {
	const n = 2345
	p := start(t, func() {
		wasmres.Resource("t://fixed", answer("")).Name("f").Title("F").Describe("D").Size(7).Priority(0).Audience(wasmres.User)
		wasmres.List(func(r *wasmres.Request, page *wasmres.Page) error {
			page.TTL(time.Second)
			return page.Each(n, func(i int) wasmres.Entry {
				return wasmres.Entry{URI: "t://entry/" + strconv.Itoa(i), Size: int64(i), Priority: 0.5, Description: strings.Repeat("d", i%200),
					Icons: []wasmres.Icon{{Source: "https://x", Sizes: []string{"any"}}}}
			})
		})
	})
	for _, size := range []int{0, 1000, 7, n, n + 1} {
		p.PageSize = size
		got := p.List()
		if len(got) != n+1 {
			t.Fatalf("page size %d: got %d entries, want %d", size, len(got), n+1)
		}
		if e := got[0]; e.Name != "f" || e.Title != "F" || e.Description != "D" || e.Size != 7 || e.Audience != wasmres.User {
			t.Errorf("got %+v", e)
		}
		for i, e := range got[1:] {
			if e.URI != "t://entry/"+strconv.Itoa(i) || e.Name != strconv.Itoa(i) || e.Size != uint64(i) || e.Priority != 0.5 || len(e.Icons) != 1 || len(e.Description) != i%200 {
				t.Fatalf("page size %d: entry %d: got %+v", size, i, e)
			}
		}
	}
	for _, cursor := range []string{"x", "-1", "99999"} {
		if _, _, err := p.Page(cursor); !errors.Is(err, wasmres.ErrInvalid) {
			t.Errorf("cursor %q: got %v, want invalid", cursor, err)
		}
	}
	p.PageSize = n
	if _, next, err := p.Page(""); next != "" || err != nil {
		t.Errorf("a page that holds everything: next %q, %v", next, err)
	}
}

func TestListDirectory(t *testing.T) {
	const n = 1234
	p := start(t, func() {
		wasmres.Template("t://{+path}", answer(""))
		wasmres.ListDirectory(func(r *wasmres.Request, page *wasmres.Page) error {
			if r.Var("path") != "dir" || r.URI != "t://dir" {
				return wasmres.NotFound("no directory")
			}
			return page.Each(n, func(i int) wasmres.Entry {
				return wasmres.Entry{URI: r.URI + "/" + strconv.Itoa(i), MIME: wasmres.DirectoryType}
			})
		})
	})
	for _, size := range []int{0, 7, n} {
		p.PageSize = size
		got := p.Directory("t://dir")
		if len(got) != n || got[n-1].URI != "t://dir/1233" || got[n-1].Name != "1233" || got[n-1].MIME != "inode/directory" {
			t.Fatalf("page size %d: got %d entries, want %d", size, len(got), n)
		}
	}
	if _, _, err := p.DirectoryPage("t://file", ""); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("what is no directory: got %v", err)
	}
	if _, _, err := p.DirectoryPage("t://dir", "x"); !errors.Is(err, wasmres.ErrInvalid) {
		t.Errorf("a made up cursor: got %v", err)
	}
	if got := p.List(); len(got) != 0 {
		t.Errorf("the list has %d entries, want none", len(got))
	}
}

func TestComplete(t *testing.T) {
	many := make([]string, 150)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	p := start(t, func() {
		wasmres.Template("t://{a}/{b}", answer("")).
			CompleteFrom("a", "Ada", "alan", "Grace").
			Complete("b", func(r *wasmres.Request, prefix string) ([]string, error) {
				if r.Var("a") == "many" {
					return many, nil
				}
				return []string{r.Var("a") + prefix}, nil
			})
		wasmres.Template("t://{c}", answer(""))
	})
	for _, c := range []struct {
		template, variable, prefix string
		known                      map[string]string
		want                       []string
	}{
		{"t://{a}/{b}", "a", "a", nil, []string{"Ada", "alan"}},
		{"t://{a}/{b}", "a", "", nil, []string{"Ada", "alan", "Grace"}},
		{"t://{a}/{b}", "b", "p", map[string]string{"a": "x"}, []string{"xp"}},
		{"t://{a}/{b}", "b", "", map[string]string{"a": "many"}, many[:100]},
		{"t://{c}", "c", "", nil, nil},
	} {
		got, err := p.Complete(c.template, c.variable, c.prefix, c.known)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: got %v, %v", c, got, err)
		}
	}
	if _, err := p.Complete("t://{nobody}", "a", "", nil); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestWatch(t *testing.T) {
	version := "1"
	p := start(t, func() {
		wasmres.Resource("t://watched", func(*wasmres.Request) (wasmres.Content, error) {
			return wasmres.Text("v" + version).ETag(version), nil
		}).Watch(1500*time.Millisecond, func(*wasmres.Request) (string, error) { return version, nil })
		wasmres.Resource("t://still", answer("still"))
	})
	if every, err := p.Subscribe("t://watched"); every != 1500*time.Millisecond || err != nil {
		t.Errorf("subscribe: got %v, %v", every, err)
	}
	if every, err := p.Subscribe("t://still"); every != 0 || err != nil {
		t.Errorf("subscribe without watch: got %v, %v", every, err)
	}
	if now, changed, err := p.Poll("t://watched", "1"); now != "1" || changed || err != nil {
		t.Errorf("poll: got %q %v %v", now, changed, err)
	}
	a, err := p.Do(wasmrestest.Request{URI: "t://watched", IfNoneMatch: "1"})
	if err != nil || !a.Contents[0].NotModified || a.Contents[0].ETag != "1" || len(a.Contents[0].Data) > 0 {
		t.Errorf("read of a known version: got %+v, %v", a, err)
	}
	version = "2"
	if now, changed, err := p.Poll("t://watched", "1"); now != "2" || !changed || err != nil {
		t.Errorf("poll after a change: got %q %v %v", now, changed, err)
	}
	if _, _, err := p.Poll("t://still", ""); !errors.Is(err, wasmres.ErrUnsupported) {
		t.Errorf("poll without watch: got %v", err)
	}
}

func TestRange(t *testing.T) {
	data := []byte("0123456789")
	p := start(t, func() {
		wasmres.Template("t://{how}", func(r *wasmres.Request) (wasmres.Content, error) {
			switch r.Var("how") {
			case "bytes":
				return wasmres.Bytes(data), nil
			case "seek":
				return wasmres.Stream(bytes.NewReader(data), int64(len(data))), nil
			case "own":
				end := min(r.Range.Offset+r.Range.Length, uint64(len(data)))
				return wasmres.Bytes(data[r.Range.Offset:end]).RangeOf(10), nil
			}
			return wasmres.Text(string(data)), nil
		}).Ranges()
	})
	for _, c := range []struct {
		how            string
		offset, length uint64
		want           string
		of             uint64
	}{
		{"bytes", 3, 4, "3456", 10}, {"bytes", 8, 0, "89", 10}, {"bytes", 20, 5, "", 10}, {"bytes", 0, 0, "0123456789", 0},
		{"seek", 3, 4, "3456", 10}, {"seek", 8, 9, "89", 10}, {"own", 1, 2, "12", 10}, {"text", 1, 2, "0123456789", 0},
	} {
		a, err := p.Do(wasmrestest.Request{URI: "t://" + c.how, Range: wasmres.Range{Offset: c.offset, Length: c.length}})
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if got := a.Contents[0]; string(got.Data) != c.want || got.RangeOf != c.of {
			t.Errorf("%v: got %q of %d", c, got.Data, got.RangeOf)
		}
	}
}

// endless is a stream that counts what was read of it.
type endless struct {
	read   int
	closed bool
}

func (e *endless) Read(p []byte) (int, error) { e.read += len(p); return len(p), nil }
func (e *endless) Close() error               { e.closed = true; return nil }

func TestStreamStopsWhenTooLarge(t *testing.T) {
	var e endless
	p := start(t, func() {
		wasmres.Resource("t://endless", func(*wasmres.Request) (wasmres.Content, error) { return wasmres.Stream(&e, -1), nil })
		wasmres.Resource("t://known", answer(make([]byte, 2<<20)))
	})
	p.MaxBody = 1 << 20
	if _, err := p.Read("t://endless"); !errors.Is(err, wasmres.ErrTooLarge) {
		t.Errorf("got %v, want too large", err)
	}
	if e.read > 1<<20+96<<10 || !e.closed {
		t.Errorf("read %d bytes, closed %v", e.read, e.closed)
	}
	if _, err := p.Read("t://known"); !errors.Is(err, wasmres.ErrTooLarge) {
		t.Errorf("got %v, want too large", err)
	}
}

func TestStreamErrors(t *testing.T) {
	p := start(t, func() {
		wasmres.Resource("t://cut", func(*wasmres.Request) (wasmres.Content, error) {
			return wasmres.Stream(io.MultiReader(strings.NewReader("abc"), brokenReader{}), -1), nil
		})
		wasmres.Resource("t://zero", answer(wasmres.Content{}))
	})
	for _, uri := range []string{"t://cut", "t://zero"} {
		if _, err := p.Read(uri); !errors.Is(err, wasmres.ErrInternal) {
			t.Errorf("%s: got %v, want internal", uri, err)
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestEnv(t *testing.T) {
	p := start(t, func() {
		wasmres.Template("t://env/{name}", func(r *wasmres.Request) (string, error) {
			value, ok := r.Env(r.Var("name"))
			return fmt.Sprintf("%q, %t", value, ok), nil
		})
	})
	p.Config = map[string]string{"HOME": "no", "env:NO": "no"}
	p.Env = map[string]string{"HOME": "/größe", "EMPTY": ""}
	for name, want := range map[string]string{"HOME": `"/größe", true`, "EMPTY": `"", true`, "NO": `"", false`, "home": `"", false`} {
		if got := p.Text("t://env/" + name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestRequestHelpers(t *testing.T) {
	p := start(t, func() {
		wasmres.Resource("t://all", func(r *wasmres.Request) (string, error) {
			r.Debug("d")
			r.Info("i")
			r.Warn("w")
			r.Error("e")
			r.Progress(1, 2, "half")
			r.Progress(2, 2, "")
			key, ok := r.Config("key")
			_, missing := r.Config("missing")
			if err := wasmres.NotifyUpdated("t://other"); err != nil {
				return "", err
			}
			if err := wasmres.NotifyListChanged(); err != nil {
				return "", err
			}
			return fmt.Sprintf("%s %v %v %s %s %v %d %v %v", key, ok, missing, r.Meta, r.Principal.Subject, r.Principal.Scopes, r.Now().Unix(), r.TimeLeft() > 0, r.Err()), nil
		})
	})
	p.Config = map[string]string{"key": "value"}
	p.Now = func() time.Time { return time.Unix(42, 0) }
	a, err := p.Do(wasmrestest.Request{URI: "t://all", Meta: `{"a":1}`, Principal: &wasmres.Principal{Subject: "ada", Scopes: []string{"s", "t"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(a.Contents[0].Data), `value true false {"a":1} ada [s t] 42 true <nil>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := []wasmrestest.Progress{{Done: 1, Total: 2, Message: "half"}, {Done: 2, Total: 2}}; !reflect.DeepEqual(a.Progress, want) {
		t.Errorf("got progress %v, want %v", a.Progress, want)
	}
	if want := []wasmrestest.Log{{Level: "debug", Message: "d"}, {Level: "info", Message: "i"}, {Level: "warn", Message: "w"}, {Level: "error", Message: "e"}}; !reflect.DeepEqual(p.Logs, want) {
		t.Errorf("got logs %v", p.Logs)
	}
	if want := []string{"t://other", ""}; !reflect.DeepEqual(p.Notices, want) {
		t.Errorf("got notices %q, want %q", p.Notices, want)
	}
}

func TestManifest(t *testing.T) {
	p := start(t, func() {
		wasmres.Provider("name", "1.2.3").Title("T").Describe("D").Prefixes("t://").ConfigSchema(`{"type":"object"}`).
			Deadline(time.Second).Memory(1 << 20).MaxBody(5)
		wasmres.Ask("fs", "reads files").Optional().Params(`{"paths":["/x"]}`)
		wasmres.Template("t://{a}", answer("")).Ranges().TTL(time.Second).Public().Icon(wasmres.Icon{Source: "https://i", Theme: "dark"}).
			Audience(wasmres.User | wasmres.Assistant).Priority(1).Meta(`{}`)
	})
	m := p.Manifest()
	if m.Name != "name" || m.Version != "1.2.3" || m.Title != "T" || m.Description != "D" || m.SDK != "go/1.0.0" || m.Ops != 1<<0|1<<2 {
		t.Errorf("got %+v", m)
	}
	if want := []wasmrestest.Capability{{Name: "fs", Params: `{"paths":["/x"]}`, Reason: "reads files", Optional: true}}; !reflect.DeepEqual(m.Capabilities, want) {
		t.Errorf("got %+v, want %+v", m.Capabilities, want)
	}
	want := wasmrestest.Entry{URI: "t://{a}", Name: "t://{a}", Ranges: true, TTL: time.Second, Public: true, Audience: 3, Priority: 1, Meta: "{}",
		Icons: []wasmres.Icon{{Source: "https://i", Theme: "dark"}}}
	if len(m.Templates) != 1 || !reflect.DeepEqual(m.Templates[0], want) {
		t.Errorf("got %+v, want %+v", m.Templates, want)
	}
}

func TestOps(t *testing.T) {
	list := func(*wasmres.Request, *wasmres.Page) error { return nil }
	version := func(*wasmres.Request) (string, error) { return "", nil }
	for _, c := range []struct {
		name     string
		register func()
		want     uint32
	}{
		{"nothing", func() {}, 1 << 0},
		{"read", func() { wasmres.ReadAny(answer("")) }, 1<<0 | 1<<2},
		{"list", func() { wasmres.List(list) }, 1<<0 | 1<<1},
		{"complete", func() { wasmres.Template("t://{a}", answer("")).CompleteFrom("a") }, 1<<0 | 1<<2 | 1<<3},
		{"watch", func() { wasmres.Resource("t://a", answer("")).Watch(1, version) }, 1<<0 | 1<<2 | 1<<4 | 1<<7},
	} {
		if got := start(t, c.register).Manifest().Ops; got != c.want {
			t.Errorf("%s: got %b, want %b", c.name, got, c.want)
		}
	}
	p := start(t, func() { wasmres.Resource("t://a", answer("")) })
	if _, _, err := p.Page(""); !errors.Is(err, wasmres.ErrUnsupported) {
		t.Errorf("list without lister: got %v, want unsupported", err)
	}
}

func TestMistakesPanic(t *testing.T) {
	for name, register := range map[string]func(){
		"template as resource": func() { wasmres.Resource("t://{a}", answer("")) },
		"resource twice":       func() { wasmres.Resource("t://a", answer("")); wasmres.Resource("t://a", answer("")) },
		"template twice":       func() { wasmres.Template("t://{a}", answer("")); wasmres.Template("t://{a}", answer("")) },
		"any twice":            func() { wasmres.ReadAny(answer("")); wasmres.ReadAny(answer("")) },
		"unknown variable":     func() { wasmres.Template("t://{a}{?b,c*}", answer("")).CompleteFrom("c").CompleteFrom("d") },
		"complete a resource":  func() { wasmres.Resource("t://a", answer("")).CompleteFrom("a") },
		"watch every never":    func() { wasmres.Resource("t://a", answer("")).Watch(0, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "wasmres: ") {
					t.Errorf("recovered %v", s)
				}
			}()
			start(t, register)
		})
	}
}
