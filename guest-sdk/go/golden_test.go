package wasmres

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// goldenDir holds the vectors both sides of the ABI are held to; a published SDK does not have it.
const goldenDir = "../../testdata/abi"

// golden reads one vector: hex digits with comments from # on, of which "message:" names the type.
func golden(t *testing.T, name string) (b []byte, message string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(goldenDir, name+".hex"))
	if os.IsNotExist(err) {
		t.Skipf("%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		digits, comment, _ := strings.Cut(line, "#")
		if m, ok := strings.CutPrefix(strings.TrimSpace(comment), "message: "); ok {
			message = m
		}
		part, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b = append(b, part...)
	}
	return b, message
}

// emitted runs an operation and gives what it would emit.
func emitted(t *testing.T, op uint32, r *Request) []byte {
	t.Helper()
	r.out = out{}
	if err := run(op, r); err != nil {
		t.Fatal(err)
	}
	return r.out.buf
}

func TestGoldenReplies(t *testing.T) {
	t.Cleanup(Reset)
	for name, encode := range map[string]func(t *testing.T) []byte{
		"reply-list": func(t *testing.T) []byte {
			List(func(r *Request, page *Page) error {
				page.TTL(time.Minute)
				page.Public()
				page.Next("todo.md")
				page.Add(fullEntry)
				page.Add(Entry{URI: "config://app"})
				return nil
			})
			return emitted(t, opList, &Request{})
		},
		"reply-listdir": func(t *testing.T) []byte {
			ListDirectory(func(r *Request, page *Page) error {
				page.Next("SKILL.md")
				page.Add(Entry{URI: r.URI + "/examples", MIME: DirectoryType})
				page.Add(Entry{URI: r.URI + "/SKILL.md", MIME: "text/markdown", Size: 1234})
				return nil
			})
			return emitted(t, opListDir, &Request{URI: "skill://acme/refunds"})
		},
		"reply-complete": func(t *testing.T) []byte {
			Template("t://{a}", func(*Request) (string, error) { return "", nil }).Complete("a", func(*Request, string) ([]string, error) {
				return append([]string{"users", ""}, make([]string, 118)...), nil
			})
			b := emitted(t, opComplete, &Request{URI: "t://{a}", argument: "a"})
			return append(b[:9:9], b[len(b)-4:]...) // the vector has two of the 100 values
		},
		"reply-error": func(*testing.T) []byte {
			return Unavailable("the database is down", 1500*time.Millisecond).with(`{"retry":true}`)
		},
		"reply-subscribe": func(t *testing.T) []byte { return watched(t, opSubscribe, "") },
		"reply-describe": func(t *testing.T) []byte {
			users()
			return emitted(t, opDescribe, &Request{})
		},
		"reply-ttl": func(t *testing.T) []byte {
			Resource("t://a", func(*Request) (string, error) { return "", nil }).TTL(24 * time.Hour).Public()
			b := emitted(t, opRead, &Request{URI: "t://a"})
			return b[:bytes.IndexByte(b, 3<<3|byte(wire.Bytes))]
		},
		"content-etag":         func(t *testing.T) []byte { return watched(t, opPoll, `"v1"`) },
		"content-not-modified": func(t *testing.T) []byte { return watched(t, opPoll, `"v2"`) },
		"content-text":         func(*testing.T) []byte { return head(Text("Grüße, 世界 🌍\n"), true) },
		"content-text-body": func(*testing.T) []byte {
			return head(Stream(strings.NewReader(""), -1).AsText().MIME("text/csv"), false)
		},
		"content-blob": func(*testing.T) []byte {
			return head(Bytes([]byte("\x89PNG\r\n\x1a\n\x00\xff")).MIME("image/png"), true)
		},
		"spec-blob-head": func(*testing.T) []byte {
			return head(Stream(strings.NewReader(""), 1<<20).URI("blob://1048576"), false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			Reset()
			want, _ := golden(t, name)
			got := minimal(t, encode(t))
			want = minimal(t, want)
			if name == "content-not-modified" {
				want = bytes.ReplaceAll(want, []byte(`"v1"`), []byte(`"v2"`))
			}
			if name == "reply-describe" {
				want = withoutInstances(want)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%swant\n%s", hex.Dump(got), hex.Dump(want))
			}
		})
	}
}

var fullEntry = Entry{
	URI: "file:///notes/todo.md", Name: "todo.md", Title: "To do", Description: "What is left.\nAnd what is not.",
	MIME: "text/markdown", Size: 1234, least: true, LastModified: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
	Audience: User | Assistant, Meta: `{"example.org/stars":5}`, Icons: []Icon{
		{Source: "https://example.org/i.png", MIME: "image/png", Sizes: []string{"48x48", "96x96"}, Theme: "dark"},
		{Source: "data:image/png;base64,AA=="},
	},
}

func (e *Error) with(data string) []byte {
	e.Data = data
	return e.append(nil)
}

func watched(t *testing.T, op uint32, etag string) []byte {
	Resource("kit://x", func(*Request) (string, error) { return "", nil }).
		Watch(5*time.Second, func(*Request) (string, error) { return `"v2"`, nil })
	return emitted(t, op, &Request{URI: "kit://x", IfNoneMatch: etag})
}

func head(c Content, inline bool) []byte {
	return c.append(nil, &Request{URI: "kit://x"}, &Route{}, inline)
}

// users registers what the manifest vector describes, but for its limits on instances, which Go guests do not set.
func users() {
	nothing := func(*Request) (string, error) { return "", nil }
	Provider("users", "1.2.3").Title("Users").Describe("The directory.").Prefixes("users://", "logs://").
		ConfigSchema(`{"type":"object"}`).Memory(256 << 16).Deadline(500 * time.Millisecond).MaxBody(16 << 20).PerSession()
	Ask("fs", "reads the project's files")
	Ask("http", "").Params(`{"hosts":["api.example.org"]}`).Optional()
	Template("users://{user_id}{?fields*}", nothing).Name("user").Title("One user").Describe("By number.").MIME("text/plain").
		Priority(1).Audience(Assistant).Icon(Icon{Source: "https://example.org/u.svg", Theme: "light"}).Meta("{}").
		CompleteFrom("user_id").CompleteFrom("fields").Ranges().TTL(5 * time.Second).Public()
	Template("logs://{day}", nothing).Name("log")
	Resource("config://app", nothing)
	List(func(*Request, *Page) error { return nil })
}

// withoutInstances drops max_instances from the vector of a manifest.
func withoutInstances(frame []byte) []byte {
	f, _, _ := wire.Next(string(frame))
	limits := []byte("\x52\x0f\x08\x80\x02\x10\xf4\x03\x18\x80\x80\x80\x08\x20\x04\x28\x01")
	fewer := []byte("\x52\x0d\x08\x80\x02\x10\xf4\x03\x18\x80\x80\x80\x08\x28\x01")
	return wire.AppendBytes(nil, f.Num, bytes.Replace([]byte(f.Text), limits, fewer, 1))
}

// minimal shortens padded lengths of the outermost fields; the SDK writes none, but the vectors have some.
func minimal(t *testing.T, b []byte) (short []byte) {
	t.Helper()
	for s := string(b); s != ""; {
		f, rest, ok := wire.Next(s)
		if !ok {
			t.Fatalf("malformed: %x", b)
		}
		if f.Type == wire.Bytes {
			short = wire.AppendElement(short, f.Num, f.Text)
		} else {
			short = append(short, s[:len(s)-len(rest)]...)
		}
		s = rest
	}
	return short
}

func TestGoldenRequests(t *testing.T) {
	extreme := ^uint64(0)
	for name, want := range map[string]*Request{
		"request-describe": {},
		"request-read": {
			URI: "file:///notes/a%20b/todo.md?lang=de&lang=fr", route: 2, Range: Range{Offset: 8 << 30, Length: 4096},
			vars:        []variable{{"path", "notes"}, {"path", "a b"}, {"path", "todo.md"}, {"lang", "de"}, {"lang", "fr"}, {"none", ""}},
			IfNoneMatch: `"v1"`, MaxBytes: 64 << 20, Meta: `{"example.org/trace":"00-4bf9"}`,
			Principal: &Principal{Subject: "ada", Tenant: "acme", Scopes: []string{"read", "list"}, Claims: `{"groups":["staff"]}`},
		},
		"request-complete": {URI: "db://{schema}/{table}", vars: []variable{{"schema", "public"}}, argument: "table", prefix: "us"},
		"request-list":     {limit: 50},
		"request-listdir": {
			URI: "skill://acme/refunds", route: 1, vars: []variable{{"path", "acme/refunds"}}, cursor: "SKILL.md", limit: 100,
		},
		"request-poll":           {URI: "users://42", route: 1, vars: []variable{{"user_id", "42"}}, IfNoneMatch: `W/"7"`},
		"request-extremes":       {route: 1<<32 - 1, Range: Range{extreme, extreme}},
		"request-padded":         {route: 1, limit: 10, vars: []variable{{"id", ""}}},
		"request-repeated":       {URI: "b", limit: 2, Principal: &Principal{Tenant: "acme"}},
		"request-unknown-fields": {URI: "a://", vars: []variable{{"n", "val"}}},
		"request-configure":      {},
		"spec-read-request":      {URI: "users://42", route: 1, vars: []variable{{"user_id", "42"}}},
		"spec-list-request":      {cursor: "41", limit: 2},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := golden(t, name)
			var got Request
			if !got.decode(string(b)) {
				t.Fatal("malformed")
			}
			want.room = got.room // where vars are kept
			if !reflect.DeepEqual(&got, want) {
				t.Errorf("got  %+v\nwant %+v", got, *want)
			}
		})
	}
}

// recorder is a host that keeps what it was asked and answers what it was given.
type recorder struct {
	asked, answer []byte
}

func (h *recorder) Take(_ uint32, dst []byte, _ uint32) uint32 { return uint32(copy(dst, h.answer)) }
func (h *recorder) Emit([]byte) int32                          { return signalMore }
func (h *recorder) Body([]byte) int32                          { return signalMore }
func (h *recorder) Log(uint32, string)                         {}
func (h *recorder) Info(uint32) int64                          { return 0 }
func (h *recorder) Call(_ uint32, request []byte) (code, size uint32) {
	h.asked = bytes.Clone(request)
	return codeOK, uint32(len(h.answer))
}

func TestGoldenServices(t *testing.T) {
	for _, c := range []struct {
		name, request, response string
		call                    func() any
		want                    any
	}{
		{"config", "config-request", "config-response",
			func() any { v, _ := (&Request{}).Config("api_url"); return v }, "https://example.org/"},
		{"empty config", "config-request", "config-response-empty",
			func() any { v, ok := (&Request{}).Config("api_url"); return []any{v, ok} }, []any{"", true}},
		{"notify", "notify-request", "config-response-empty", func() any { return NotifyUpdated("users://42") }, nil},
		{"list", "file-request-list", "file-response-list",
			func() any {
				page, more, _ := Dir("/notes").list(".", "m.txt", 100)
				return []any{page[0].Name(), page[0].IsDir(), page[0].(*fileEntry).modified, page[1].Name(), more}
			}, []any{"archive", true, int64(-1), "empty", true}},
		{"read", "file-request-read", "config-response-empty",
			func() any {
				_, err := Dir("/notes").readAt("todo.md", make([]byte, 1<<20), 1<<20)
				return err.Error()
			}, "EOF"},
		{"append", "file-request-write", "file-response-stat",
			func() any {
				info, err := Dir("/notes").AppendFile("todo.md", []byte("- tea\n"))
				return []any{info.Name(), info.Size(), err}
			}, []any{"todo.md", int64(1234), nil}},
		{"stat", "", "file-response-stat",
			func() any {
				e, _ := Dir("/notes").stat("stat", "todo.md")
				return []any{e.Name(), e.Size(), e.ModTime().UnixMilli(), e.IsDir()}
			}, []any{"todo.md", int64(1234), int64(1795082400000), false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &recorder{}
			h.answer, _ = golden(t, c.response)
			defer use(h)()
			if got := c.call(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if c.request == "" {
				return
			}
			if want, _ := golden(t, c.request); !bytes.Equal(h.asked, want) {
				t.Errorf("asked\n%swant\n%s", hex.Dump(h.asked), hex.Dump(want))
			}
		})
	}
}

// TestGoldenDecodersSurvive decodes every vector as every message: none may panic.
func TestGoldenDecodersSurvive(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(goldenDir, "*.hex"))
	if err != nil || len(files) == 0 {
		t.Skipf("no vectors: %v", err)
	}
	for _, file := range files {
		b, _ := golden(t, strings.TrimSuffix(filepath.Base(file), ".hex"))
		(&Request{}).decode(string(b))
		entryOf(string(b))
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte("\x0a\x04a://\x1a\x08\x0a\x01n\x12\x03val"))
	f.Fuzz(func(t *testing.T, b []byte) {
		(&Request{}).decode(string(b))
		entryOf(string(b))
	})
}
