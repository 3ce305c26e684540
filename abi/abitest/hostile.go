package abitest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

// A play is a read of a template of the kit's provider, with the answers of the host to its service calls.
type play struct {
	template string
	vars     []string
	acts     []act
	want     string // the body of the content
}

// An act is one answer of the host.
type act struct {
	service       abi.Service
	schema        schema
	message, body []byte
}

// with returns the play with another message in one of its acts.
func (p play) with(i int, message []byte) play {
	p.acts = slices.Clone(p.acts)
	p.acts[i].message = message
	return p
}

// services returns services that answer as the acts say, those of each service in order. Further calls are unavailable.
func (p play) services() map[abi.Service]Service {
	services, left := map[abi.Service]Service{}, map[abi.Service][]act{}
	for _, a := range p.acts {
		left[a.service] = append(left[a.service], a)
	}
	for _, service := range append(kitServices, abi.ServiceConfig) {
		services[service] = func([]byte) (message, body []byte, err error) {
			if len(left[service]) == 0 {
				return nil, nil, &abi.Error{Code: abi.CodeUnavailable}
			}
			next := left[service][0]
			left[service] = left[service][1:]
			return next.message, next.body, nil
		}
	}
	return services
}

var (
	httpMessage = abi.HTTPResponse{Status: 200, Header: []abi.HTTPField{{Name: "x-kit", Value: "yes"}}, URL: pageURL}
	aMessage    = abi.KVResponse{Entries: []abi.KVEntry{{Key: "a", Size: 5, ExpiresMillis: 1 << 40, Version: 300}}}
)

func httpAct(r abi.HTTPResponse, stream uint64, body string) act {
	r.Stream = stream
	return act{abi.ServiceHTTP, httpSchema, r.Append(nil), []byte(body)}
}

func streamAct(more bool, body string) act {
	return act{abi.ServiceStream, flat, (&abi.StreamResponse{More: more}).Append(nil), []byte(body)}
}

func sqlAct(service abi.Service, r abi.SQLResponse) act {
	return act{service, sqlSchema, r.Append(nil), nil}
}

func kvAct(service abi.Service, r abi.KVResponse, body string) act {
	return act{service, kvSchema, r.Append(nil), []byte(body)}
}

// plays returns the plays that succeed without a change.
func plays() map[string]play {
	key, both := []string{"key", "a"}, []string{"key", "a", "value", "b"}
	page := abi.KVResponse{Entries: []abi.KVEntry{{Key: "a", Version: 1}, {Key: "b", Size: 3, Version: 2}}, More: true}
	columns := []abi.SQLColumn{{Name: "a", Type: "int4"}, {Name: "b", Type: "text"}}
	return map[string]play{
		"fetch": {fetchTemplate, []string{"url", pageURL}, []act{
			httpAct(httpMessage, 300, "one "), streamAct(true, "two "), streamAct(false, "three"),
		}, "one two three"},
		"post": {postTemplate, []string{"url", pageURL}, []act{
			httpAct(httpMessage, 300, "po"), streamAct(false, "ng"),
		}, "200\n" + pageURL + "\nyes\npong"},
		"rows": {rowsTemplate, []string{"query", query}, []act{
			sqlAct(abi.ServiceSQL, abi.SQLResponse{
				Columns: columns, Stream: 300,
				Rows: []abi.SQLRow{row(number(300), text("x")), row(blob("\xff\x01"), abi.SQLValue{})},
			}),
			sqlAct(abi.ServiceSQLRows, abi.SQLResponse{Rows: []abi.SQLRow{row(float(1.5), text("yz"))}}),
		}, "a|b\n300|x\nff01|null\n1.5|yz"},
		"get":  {getTemplate, key, []act{kvAct(abi.ServiceKVGet, aMessage, "value")}, "value"},
		"keep": {keepTemplate, both, []act{kvAct(abi.ServiceKVPut, aMessage, "")}, "put 300"},
		"drop": {dropTemplate, key, []act{kvAct(abi.ServiceKVDelete, abi.KVResponse{}, "")}, "gone"},
		"keys": {keysTemplate, []string{"prefix", ""}, []act{
			kvAct(abi.ServiceKVList, page, ""),
			kvAct(abi.ServiceKVList, abi.KVResponse{Entries: []abi.KVEntry{{Key: "c", Version: 300}}}, ""),
		}, "a\nb\nc"},
		"file":   playFile(),
		"folder": playFolder(false),
		"write":  playWrite(wrote("a", 300), wrote("a", 301), "301"),
		"remove": {removeTemplate, []string{"name", "a"}, []act{
			{abi.ServiceFileRemove, fileSchema, (&abi.FileResponse{}).Append(nil), nil},
		}, "gone"},
		"env": {envTemplate, []string{"name", "HOME"}, []act{
			{abi.ServiceConfig, flat, (&abi.ConfigResponse{Value: "/home"}).Append(nil), nil},
		}, "/home"},
	}
}

// see runs the read of a play, and returns the code and the body of the content.
func (k *kit) see(t testing.TB, p play, boast int) (code abi.Code, body string, err error) {
	t.Helper()
	x := &Exchange{Request: k.powered(t, p.template, p.vars...).Append(nil), Services: p.services(), boast: boast}
	o, err := x.Outcome(k.guest(t, abi.OpRead, x))
	if o.Code == abi.CodeOK && len(o.Contents) == 1 {
		body = string(o.Contents[0].Body)
	}
	return o.Code, body, err
}

// isRight reports whether body is the right answer of a play.
func (p play) isRight(body string) bool { return body == p.want || body == p.want+"\n" }

// safe checks that a play ends with an error or the right answer. It does nothing once the test has failed.
func (k *kit) safe(t *testing.T, p play, boast int, format string, args ...any) {
	t.Helper()
	if t.Failed() {
		return
	}
	if code, body, err := k.see(t, p, boast); err != nil || code == abi.CodeOK && !p.isRight(body) {
		t.Errorf("%s: got %v, %.200q, %v, want an error or %q", fmt.Sprintf(format, args...), code, body, err, p.want)
	}
}

// testHostile runs the plays with invalid answers of the host. A guest may fail then, or give the right answer.
func (k *kit) testHostile(t *testing.T) {
	for name, p := range plays() {
		t.Run(name, func(t *testing.T) {
			if code, body, err := k.see(t, p, 0); err != nil || code != abi.CodeOK || !p.isRight(body) {
				t.Fatalf("got %v, %q, %v, want %q", code, body, err, p.want)
			}
			for i, a := range p.acts {
				if code, body, err := k.see(t, p.with(i, a.schema.extended(a.message)), 0); err != nil || !p.isRight(body) {
					t.Errorf("answer %d with unknown fields: got %v, %q, %v, want %q", i, code, body, err, p.want)
				}
				for _, message := range a.schema.broken(a.message) {
					k.safe(t, p.with(i, message), 0, "answer %d is %x", i, message)
				}
				k.flip(t, p, i)
			}
			for _, more := range []int{1, 7, 1000} {
				k.safe(t, p, more, "%d bytes are told that are not there", more)
			}
		})
	}
	t.Run("sizes", k.testSizes)
	t.Run("tables", k.testTables)
	t.Run("files", k.testFileSizes)
}

// flip changes each byte of an answer in turn. The result may be another valid answer: then the guest only must not
// trap.
func (k *kit) flip(t *testing.T, p play, i int) {
	a := p.acts[i]
	for at := range a.message {
		message := slices.Clone(a.message)
		if message[at] ^= 0xff; a.schema.wellFormed(message) {
			_, _, _ = k.see(t, p.with(i, message), 0) // it does not trap
			continue
		}
		k.safe(t, p.with(i, message), 0, "answer %d is %x", i, message)
	}
}

// testSizes answers with wrong sizes of a value: the guest must neither cut nor pad the value.
func (k *kit) testSizes(t *testing.T) {
	for _, size := range []uint64{
		0, 1, 4, 6, 100, 4096, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 + 5, 1<<32 - 1, 1 << 53, 1<<63 - 1, 1 << 63, math.MaxUint64,
	} {
		entry := abi.KVResponse{Entries: []abi.KVEntry{{Key: "a", Size: size, Version: 1}}}
		p := play{getTemplate, []string{"key", "a"}, []act{kvAct(abi.ServiceKVGet, entry, "value")}, "value"}
		k.safe(t, p, 0, "size %d", size)
	}
	for name, r := range map[string]abi.KVResponse{
		"no entry":      {},
		"two entries":   {Entries: []abi.KVEntry{{Key: "a", Size: 1, Version: 1}, {Key: "a", Size: 2, Version: 2}}},
		"only conflict": {Conflict: true},
	} {
		p := play{getTemplate, []string{"key", "a"}, []act{kvAct(abi.ServiceKVGet, r, "value")}, "value"}
		k.safe(t, p, 0, "%s", name)
	}
}

// testTables answers with rows that do not fit their columns.
func (k *kit) testTables(t *testing.T) {
	columns := []abi.SQLColumn{{Name: "a"}, {Name: "b"}}
	good, short, long := row(text("x"), text("y")), row(text("x")), row(text("x"), text("y"), text("z"))
	for name, parts := range map[string][]abi.SQLResponse{
		"short row":        {{Columns: columns, Rows: []abi.SQLRow{good, short}}},
		"long row":         {{Columns: columns, Rows: []abi.SQLRow{long, good}}},
		"empty row":        {{Columns: columns, Rows: []abi.SQLRow{good, {}}}},
		"no columns":       {{Rows: []abi.SQLRow{good}}},
		"short row, later": {{Columns: columns, Rows: []abi.SQLRow{good}, Stream: 1}, {Rows: []abi.SQLRow{short}}},
		"long row, later":  {{Columns: columns, Rows: []abi.SQLRow{good}, Stream: 1}, {Rows: []abi.SQLRow{long}}},
		"columns that change": {
			{Columns: columns, Rows: []abi.SQLRow{good}, Stream: 1}, {Columns: columns[1:], Rows: []abi.SQLRow{short}},
		},
	} {
		p := play{template: rowsTemplate, vars: []string{"query", query}}
		for i, part := range parts {
			p.acts = append(p.acts, sqlAct([]abi.Service{abi.ServiceSQL, abi.ServiceSQLRows}[i], part))
		}
		if code, body, err := k.see(t, p, 0); err != nil || code == abi.CodeOK {
			t.Errorf("%s: got %v, %q, %v, want an error", name, code, body, err)
		}
	}
}

// testEndless answers without an end: the guest must fail, or the host stops after enough answers.
func (k *kit) testEndless(t *testing.T) {
	const enough = 300
	kilobytes := pattern(0, 64<<10)
	columns := []abi.SQLColumn{{Name: "a"}}
	first := sqlAct(abi.ServiceSQL, abi.SQLResponse{Columns: columns, Stream: 1})
	for name, p := range map[string]play{
		"fetch": {fetchTemplate, []string{"url", pageURL}, []act{
			httpAct(httpMessage, 1, kilobytes), streamAct(true, kilobytes),
		}, ""},
		"fetch of nothing": {fetchTemplate, []string{"url", pageURL}, []act{
			httpAct(httpMessage, 1, ""), streamAct(true, ""),
		}, ""},
		"post of nothing": {postTemplate, []string{"url", pageURL}, []act{
			httpAct(httpMessage, 1, ""), streamAct(true, ""),
		}, ""},
		"rows": {rowsTemplate, []string{"query", query}, []act{
			first, sqlAct(abi.ServiceSQLRows, abi.SQLResponse{Rows: []abi.SQLRow{row(text("x"))}, Stream: 1}),
		}, ""},
		"rows of nothing": {rowsTemplate, []string{"query", query}, []act{
			first, sqlAct(abi.ServiceSQLRows, abi.SQLResponse{Stream: 1}),
		}, ""},
		"keys": {keysTemplate, []string{"prefix", ""}, []act{
			kvAct(abi.ServiceKVList, abi.KVResponse{Entries: aMessage.Entries, More: true}, ""),
		}, ""},
		"keys of nothing": {keysTemplate, []string{"prefix", ""}, []act{
			kvAct(abi.ServiceKVList, abi.KVResponse{More: true}, ""),
		}, ""},
		"folder":            playFolder(true),
		"folder of nothing": {folderTemplate, []string{"name", "dir"}, []act{folderAct(true)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			last := p.acts[len(p.acts)-1]
			for range enough {
				p.acts = append(p.acts, last)
			}
			x := &Exchange{Request: k.powered(t, p.template, p.vars...).Append(nil), Services: p.services(), MaxBody: 1 << 20}
			o, err := x.Outcome(k.guest(t, abi.OpRead, x))
			if err != nil || o.Code == abi.CodeOK {
				t.Errorf("got %v, %v, want an error", o.Code, err)
			}
		})
	}
}
