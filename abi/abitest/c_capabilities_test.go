package abitest_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

// TestCCapabilities holds what the C SDK has for the host's capabilities, and the kit does not ask for, to what the host answers.
func TestCCapabilities(t *testing.T) {
	guest := cNative(t, "capabilities.c")
	t.Run("asked", func(t *testing.T) { testCAsked(t, guest) })
	t.Run("doubles", func(t *testing.T) { testCDoubles(t, guest) })
	for name, c := range map[string]struct {
		uri     string
		answers []cAnswer
		code    abi.Code
		said    string // in the error
		body    string
		called  []abi.Service
	}{
		"an empty body": {
			uri: "http://read", answers: []cAnswer{pageAnswer(0, "")}, body: "|",
			called: []abi.Service{abi.ServiceHTTP, abi.ServiceConfig},
		},
		"a body in parts": {
			uri:     "http://read",
			answers: []cAnswer{pageAnswer(5, "abcd"), moreAnswer(true, "e"), moreAnswer(true, ""), moreAnswer(false, "fghi")},
			body:    "abc|def|ghi||",
			called: []abi.Service{
				abi.ServiceHTTP, abi.ServiceStream, abi.ServiceStream, abi.ServiceStream, abi.ServiceConfig,
			},
		},
		"the rest of a body": {
			uri: "http://rest", answers: []cAnswer{pageAnswer(5, "abcd"), moreAnswer(false, "efgh")}, body: "defgh",
			called: []abi.Service{abi.ServiceHTTP, abi.ServiceStream},
		},
		"a body that is lost": {
			uri: "http://lost", answers: []cAnswer{pageAnswer(0, "abcdef")}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceHTTP, abi.ServiceConfig},
		},
		"a body read before it is lost": {
			uri: "http://lost", answers: []cAnswer{pageAnswer(0, "ab")}, body: "ab||",
			called: []abi.Service{abi.ServiceHTTP, abi.ServiceConfig, abi.ServiceConfig, abi.ServiceConfig},
		},
		"a body that ends in an error": {
			uri: "http://read", answers: []cAnswer{pageAnswer(5, "abcd"), {code: abi.CodeTooLarge}}, code: abi.CodeTooLarge,
			called: []abi.Service{abi.ServiceHTTP, abi.ServiceStream},
		},
		"fields": {
			uri: "http://fields", answers: []cAnswer{pageAnswer(0, "")}, body: "[text/html][1][][]",
			called: []abi.Service{abi.ServiceHTTP},
		},
		"no error of its own": {
			uri: "http://check", answers: []cAnswer{{code: abi.CodeInvalidParams}}, code: abi.CodeInvalidParams,
			called: []abi.Service{abi.ServiceHTTP},
		},
		"a status": {
			uri:     "http://check",
			answers: []cAnswer{{message: (&abi.HTTPResponse{Status: 418}).Append(nil)}},
			code:    abi.CodeInternal, said: "the server answers 418",
			called: []abi.Service{abi.ServiceHTTP},
		},
		"typed values": {
			uri: "sql://typed",
			answers: []cAnswer{
				rowsAnswer(1, cColumns("i", "n", "s", "b", "?"), cRow(1, "Ada", 2.5, true, nil)),
				rowsAnswer(0, nil, cRow("42", []byte("x"), 3, 0, ""), cRow(true, "", 1e300, 7, nil)),
			},
			body:   "1 1 Ada 2.5 1 1;42 42 x 3 0 0;1 1  1e+300 1 1;",
			called: []abi.Service{abi.ServiceSQL, abi.ServiceSQLRows},
		},
		"no text": {
			uri: "sql://text", answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow(1))}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceSQL},
		},
		"no integer": {
			uri: "sql://int", answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow("1x"))}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceSQL},
		},
		"a null for a float": {
			uri: "sql://float", answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow(nil))}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceSQL},
		},
		"a text for a bool": {
			uri: "sql://bool", answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow("true"))}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceSQL},
		},
		"a value after the rows": {
			uri: "sql://after", answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow("x"))}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceSQL},
		},
		"a value beyond the columns": {
			uri: "sql://beyond", answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow("x"))}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceSQL},
		},
		"columns": {
			uri:     "sql://columns",
			answers: []cAnswer{rowsAnswer(0, []abi.SQLColumn{{Name: "a", Type: "int4"}, {Name: "b"}}, cRow("x", "y"))},
			body:    "a int4;b ; ;x;", called: []abi.Service{abi.ServiceSQL},
		},
		"rows beyond the room": {
			uri:     "sql://text",
			answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow(cLong("a", 40)), cRow(cLong("b", 40)), cRow(cLong("c", 45)))},
			body:    cLong("a", 40) + ";" + cLong("b", 40) + ";" + cLong("c", 45) + ";",
			called:  []abi.Service{abi.ServiceSQL},
		},
		"a row larger than the room": {
			uri: "sql://text", answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow("a"), cRow(cLong("b", 64)))},
			code: abi.CodeInternal, called: []abi.Service{abi.ServiceSQL},
		},
		"columns larger than the room": {
			uri: "sql://text", answers: []cAnswer{rowsAnswer(0, cColumns(cLong("a", 40), cLong("b", 40)))},
			code: abi.CodeInternal, called: []abi.Service{abi.ServiceSQL},
		},
		"rows in the room while the host is asked": {
			uri: "sql://lost", answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow("a"), cRow("b"))}, body: "a;b;",
			called: []abi.Service{abi.ServiceSQL, abi.ServiceConfig, abi.ServiceConfig},
		},
		"rows that are lost": {
			uri: "sql://lost", answers: []cAnswer{rowsAnswer(0, cColumns("a"), cRow(cLong("a", 40)), cRow(cLong("b", 40)))},
			code: abi.CodeInternal, called: []abi.Service{abi.ServiceSQL, abi.ServiceConfig},
		},
		"an entry": {
			uri: "kv://get", answers: []cAnswer{entryAnswer(false, "value")}, body: "k 5 18446744073709551615 -9",
			called: []abi.Service{abi.ServiceKVGet},
		},
		"a conditional put": {
			uri: "kv://put", answers: []cAnswer{entryAnswer(false, "value")}, body: "k 5 18446744073709551615 -9",
			called: []abi.Service{abi.ServiceKVPut},
		},
		"a conflict": {
			uri: "kv://put", answers: []cAnswer{entryAnswer(true, "value")}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceKVPut},
		},
		"a conditional delete": {
			uri: "kv://delete", answers: []cAnswer{{}}, body: "deleted", called: []abi.Service{abi.ServiceKVDelete},
		},
		"a conditional delete in conflict": {
			uri: "kv://delete", answers: []cAnswer{entryAnswer(true, "")}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceKVDelete},
		},
		"a delete of version 0": {uri: "kv://delete none", code: abi.CodeInvalidParams},
		"a value beyond memory": {uri: "kv://large", code: abi.CodeInternal},
		"keys beyond the room": {
			uri:     "keys://a/0",
			answers: []cAnswer{keysAnswer(false, cLong("a", 40), cLong("b", 40)), keysAnswer(false, cLong("b", 40), "c")},
			body:    cLong("a", 40) + ";" + cLong("b", 40) + ";c;",
			called:  []abi.Service{abi.ServiceKVList, abi.ServiceKVList},
		},
		"a key larger than the room": {
			uri: "keys://a/0", answers: []cAnswer{keysAnswer(false, cLong("a/", 70))}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceKVList},
		},
		"a file": {
			uri: "file://write", answers: []cAnswer{wroteAnswer(math.MaxUint64)}, body: "[] 18446744073709551615 -9 0",
			called: []abi.Service{abi.ServiceFileWrite},
		},
		"an end of a file": {
			uri: "file://append", answers: []cAnswer{wroteAnswer(9)}, body: "[] 9 -9 0",
			called: []abi.Service{abi.ServiceFileWrite},
		},
		"a file beyond the quota": {
			uri: "file://write", answers: []cAnswer{{code: abi.CodeTooLarge}}, code: abi.CodeTooLarge,
			called: []abi.Service{abi.ServiceFileWrite},
		},
		"a file beyond memory": {uri: "file://large", code: abi.CodeInternal},
		"no entry of a file": {
			uri: "file://append", answers: []cAnswer{{}}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceFileWrite},
		},
		"two entries of a file": {
			uri: "file://write", answers: []cAnswer{folderAnswer(false, "a", "b")}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceFileWrite},
		},
		"a malformed entry of a file": {
			uri: "file://write", answers: []cAnswer{{message: []byte{0x0a, 0x02, 0x10, 0x80}}}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceFileWrite},
		},
		"a removed file": {
			uri: "file://remove", answers: []cAnswer{{}}, body: "removed", called: []abi.Service{abi.ServiceFileRemove},
		},
		"no file to remove": {
			uri: "file://remove", answers: []cAnswer{{code: abi.CodeNotFound}}, code: abi.CodeNotFound,
			called: []abi.Service{abi.ServiceFileRemove},
		},
		"a removal answered malformed": {
			uri: "file://remove", answers: []cAnswer{{message: []byte{0x0a}}}, code: abi.CodeInternal,
			called: []abi.Service{abi.ServiceFileRemove},
		},
		"a malformed entry of a folder": {
			uri: "file://folder", answers: []cAnswer{{message: []byte{0x0a, 3, 0x0a, 1, 'a', 0x0a, 2, 0x0a, 1}}},
			code: abi.CodeInternal,
		},
		"a folder with malformed more": {
			uri: "file://folder", answers: []cAnswer{{message: []byte{0x0a, 3, 0x0a, 1, 'a', 0x12, 1, 1}}},
			code: abi.CodeInternal,
		},
		"a malformed look at a file": {
			uri: "file://stat", answers: []cAnswer{{message: []byte{0x0a, 2, 0x10, 0x80}}}, code: abi.CodeInternal,
		},
		"bytes of a file": {uri: "file://read", answers: []cAnswer{fileAnswer(abi.File{Name: "b", Size: 9}, "text")}, body: "text"},
		"bytes without a file": {
			uri: "file://read", answers: []cAnswer{{body: []byte("text")}}, code: abi.CodeInternal,
		},
		"bytes of a malformed file": {
			uri: "file://read", answers: []cAnswer{{message: []byte{0x0a, 2, 0x10, 0x80}, body: []byte("text")}},
			code: abi.CodeInternal,
		},
		"bytes of two files": {
			uri: "file://read", answers: []cAnswer{folderAnswer(false, "a", "b")}, code: abi.CodeInternal,
		},
		"malformed keys": {
			uri: "keys://a/0", answers: []cAnswer{{message: append(keysAnswer(false, "a/x").message, 0x0a, 9)}},
			code: abi.CodeInternal, called: []abi.Service{abi.ServiceKVList},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := cDo(t, guest, cModeCall(c.uri, c.answers...))[0]
			var got abi.Reply
			var h cHeads
			if err := got.Merge(o.frames, 10, &h); err != nil {
				t.Fatal(err)
			}
			if o.code == abi.CodeOK {
				h.inline = append(h.inline, o.body...)
			} else {
				h.inline = nil
			}
			if o.code != c.code || string(h.inline) != c.body {
				t.Errorf("got code %v and %.99q, want %v and %.99q", o.code, h.inline, c.code, c.body)
			}
			if c.said != "" && (got.Error == nil || got.Error.Message != c.said) {
				t.Errorf("got error %+v, want %q", got.Error, c.said)
			}
			if called := cServices(o); !slices.Equal(called, c.called) {
				t.Errorf("the guest asked services %v, want %v", called, c.called)
			}
		})
	}
}

// testCAsked looks at what the host is asked.
func testCAsked(t *testing.T, guest string) {
	for uri, want := range map[string]interface{ Append([]byte) []byte }{
		"http://read": &abi.HTTPRequest{URL: "https://example.org/"},
		"sql://text":  &abi.SQLRequest{Connection: "main", Query: "select", MaxRows: 7},
		"kv://get":    &abi.KVRequest{Key: "k"},
		"kv://put":    &abi.KVRequest{Key: "k", Value: []byte("v"), TTLMillis: 5, IfVersion: math.MaxUint64},
		"kv://delete": &abi.KVRequest{Key: "k", IfVersion: 7},
		"keys://a/0":  &abi.KVRequest{Prefix: "a/", After: "a/0", Limit: 3},

		"file://write":  &abi.FileRequest{Path: "/data/a/b", Data: []byte("text")},
		"file://append": &abi.FileRequest{Path: "/data/a/b", Data: []byte("text"), Appends: true},
		"file://empty":  &abi.FileRequest{Path: "/data/a/b"},
		"file://remove": &abi.FileRequest{Path: "/data/a/b"},
	} {
		o := cDo(t, guest, cModeCall(uri))[0]
		if len(o.called) == 0 || string(o.called[0].request) != string(want.Append(nil)) {
			t.Errorf("%s: the guest asked %x, want %x", uri, o.called, want.Append(nil))
		}
	}
}

// testCDoubles compares doubles with what encoding/json makes of them, which follows JavaScript.
func testCDoubles(t *testing.T, guest string) {
	numbers := []float64{
		0, math.Copysign(0, -1), 1, -1, 1.5, 0.1, 0.3, 1. / 3, 5e-324, math.MaxFloat64, 9007199254740993,
		1e20, 123456789012345680000, 1e21, 1e22, 1e23, 1e-6, 1e-7, 1.234e-6, 2.2250738585072014e-308, 2.225073858507201e-308,
		4.35, math.Pi, 299792458, 8.41e21, 9.5e-3, 4503599627370496, 4503599627370496.5, -0.001, 34933024960684.938,
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		power, decimal := math.Ldexp(1, random.IntN(2098)-1074), float64(random.Int64N(1e12))/1000
		numbers = append(numbers, random.NormFloat64(), power, decimal)
		if x := math.Float64frombits(random.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
			numbers = append(numbers, x)
		}
	}
	var calls []cCall
	for _, x := range numbers {
		calls = append(calls, cDoubleCall(x))
	}
	calls = append(calls, cDoubleCall(math.NaN()), cDoubleCall(math.Inf(1)), cDoubleCall(math.Inf(-1)))
	outcomes := cDo(t, guest, calls...)
	for i, o := range outcomes {
		var h cHeads
		if err := new(abi.Reply).Merge(o.frames, 10, &h); err != nil {
			t.Fatal(err)
		}
		if i >= len(numbers) {
			if want := []string{"NaN", "Infinity", "-Infinity"}[i-len(numbers)]; string(h.inline) != want {
				t.Errorf("got %q, want %q", h.inline, want)
			}
			continue
		}
		if want, _ := json.Marshal(numbers[i]); string(h.inline) != string(want) {
			t.Errorf("%v: got %q, want %q", numbers[i], h.inline, want)
		}
	}
}

// TestCAnswers has the kit's provider, built natively with sanitizers, meet thousands of damaged answers: it fails when
// package abi refuses one, and never reads a byte too many.
func TestCAnswers(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var seeds [][]byte
	for _, p := range cPlays {
		for _, a := range p.answers {
			seeds = append(seeds, a.message)
		}
	}
	var calls []cCall
	var malformed []bool
	for i := range 6000 {
		p := cPlays[i%len(cPlays)]
		answers := slices.Clone(p.answers)
		at := random.IntN(len(answers))
		for range 1 + random.IntN(3) {
			answers[at].message = cDamage(random, slices.Clone(answers[at].message), seeds)
		}
		err := p.decoders[at].Decode(answers[at].message)
		malformed = append(malformed, err != nil && !strings.Contains(err.Error(), "UTF-8"))
		calls = append(calls, cCall{op: abi.OpRead, request: p.request.Append(nil), answers: answers})
	}
	refused, taken := 0, 0
	for i, o := range cDo(t, cNative(t, "kit.c"), calls...) {
		if o.code == abi.CodeOK {
			taken++
			if malformed[i] {
				t.Errorf("%+v was taken, which package abi refuses: got %q%q", calls[i].answers, o.frames, o.body)
			}
			continue
		}
		refused++
	}
	if refused < 500 || taken < 500 {
		t.Errorf("%d answers were refused and %d taken: the mixture tests little", refused, taken)
	}
}

type cDecoder interface{ Decode([]byte) error }

// cPlays are reads of the kit's provider and good answers to what it asks, with who decodes them.
var cPlays = []struct {
	request  abi.Request
	answers  []cAnswer
	decoders []cDecoder
}{
	{
		cKitRequest(7, "url", "https://example.org/"),
		[]cAnswer{pageAnswer(5, "abc"), moreAnswer(true, "def"), moreAnswer(false, "g")},
		[]cDecoder{&abi.HTTPResponse{}, &abi.StreamResponse{}, &abi.StreamResponse{}},
	},
	{
		cKitRequest(9, "query", "select"),
		[]cAnswer{
			rowsAnswer(5, cColumns("a", "b"), cRow(1, "text"), cRow([]byte{1, 2}, 2.5)), rowsAnswer(0, nil, cRow(nil, true)),
		},
		[]cDecoder{&abi.SQLResponse{}, &abi.SQLResponse{}},
	},
	{cKitRequest(10, "key", "k"), []cAnswer{entryAnswer(false, "value")}, []cDecoder{&abi.KVResponse{}}},
	{cKitRequest(11, "key", "k", "value", "v"), []cAnswer{entryAnswer(true, "value")}, []cDecoder{&abi.KVResponse{}}},
	{cKitRequest(13, "key", "k"), []cAnswer{{}}, []cDecoder{&abi.KVResponse{}}},
	{
		cKitRequest(14, "prefix", "a"), []cAnswer{keysAnswer(true, "a", "ab"), keysAnswer(false, "abc")},
		[]cDecoder{&abi.KVResponse{}, &abi.KVResponse{}},
	},
	{
		cKitRequest(15, "name", "a", "text", "b"), []cAnswer{wroteAnswer(1), wroteAnswer(2)},
		[]cDecoder{&abi.FileResponse{}, &abi.FileResponse{}},
	},
	{cKitRequest(16, "name", "a"), []cAnswer{{}}, []cDecoder{&abi.FileResponse{}}},
	{
		cKitRequest(17, "name", "HOME"), []cAnswer{{message: (&abi.ConfigResponse{Value: "/home"}).Append(nil)}},
		[]cDecoder{&abi.ConfigResponse{}},
	},
}

// cKitRequest reads what a template of kit.c describes. vars are names and values by turns.
func cKitRequest(route uint32, vars ...string) abi.Request {
	r := abi.Request{URI: "kit://x", Route: route}
	for pair := range slices.Chunk(vars, 2) {
		r.Vars = append(r.Vars, abi.Var{Name: pair[0], Value: pair[1]})
	}
	return r
}

// cModeCall reads a URI of capabilities.c.
func cModeCall(uri string, answers ...cAnswer) cCall {
	scheme, mode, _ := strings.Cut(uri, "://")
	route := 1 + slices.Index([]string{"double", "http", "sql", "kv", "keys", "file"}, scheme)
	r := abi.Request{URI: "x://x", Route: uint32(route), Vars: []abi.Var{{Name: "mode", Value: mode}}}
	return cCall{op: abi.OpRead, request: r.Append(nil), answers: answers}
}

func cDoubleCall(x float64) cCall {
	return cModeCall("double://" + strconv.FormatInt(int64(math.Float64bits(x)), 10))
}

func cServices(o cOutcome) (called []abi.Service) {
	for _, c := range o.called {
		called = append(called, c.service)
	}
	return called
}

func cLong(s string, n int) string { return strings.Repeat(s, n)[:n] }

func pageAnswer(stream uint64, body string) cAnswer {
	header := []abi.HTTPField{{Name: "Content-Type", Value: "text/html"}, {Name: "X", Value: "1"}, {Name: "x", Value: "2"}}
	r := abi.HTTPResponse{Status: 200, Header: header, URL: "https://example.org/", Stream: stream}
	return cAnswer{message: r.Append(nil), body: []byte(body)}
}

func moreAnswer(more bool, body string) cAnswer {
	return cAnswer{message: (&abi.StreamResponse{More: more}).Append(nil), body: []byte(body)}
}

func rowsAnswer(stream uint64, columns []abi.SQLColumn, rows ...abi.SQLRow) cAnswer {
	return cAnswer{message: (&abi.SQLResponse{Columns: columns, Rows: rows, Stream: stream}).Append(nil)}
}

func cColumns(names ...string) (columns []abi.SQLColumn) {
	for _, name := range names {
		columns = append(columns, abi.SQLColumn{Name: name})
	}
	return columns
}

func cRow(values ...any) (row abi.SQLRow) {
	for _, v := range values {
		row.Values = append(row.Values, cCell(v))
	}
	return row
}

func cCell(v any) abi.SQLValue {
	switch v := v.(type) {
	case bool:
		if !v {
			return abi.SQLValue{Kind: abi.SQLBool}
		}
		return abi.SQLValue{Kind: abi.SQLBool, Int: 1}
	case int:
		return abi.SQLValue{Kind: abi.SQLInt, Int: int64(v)}
	case float64:
		return abi.SQLValue{Kind: abi.SQLFloat, Float: v}
	case string:
		return abi.SQLValue{Kind: abi.SQLText, Text: v}
	case []byte:
		return abi.SQLValue{Kind: abi.SQLBytes, Bytes: v}
	case nil:
		return abi.SQLValue{}
	}
	panic(fmt.Sprintf("no value of a database: %T", v))
}

func entryAnswer(conflict bool, value string) cAnswer {
	entry := abi.KVEntry{Key: "k", Size: uint64(len(value)), Version: math.MaxUint64, ExpiresMillis: -9}
	r := abi.KVResponse{Entries: []abi.KVEntry{entry}, Conflict: conflict}
	return cAnswer{message: r.Append(nil), body: []byte(value)}
}

// wroteAnswer is what service 17 answers when a file has so many bytes.
func wroteAnswer(size uint64) cAnswer {
	return fileAnswer(abi.File{Name: "b", Size: size, ModifiedMillis: -9}, "")
}

func keysAnswer(more bool, keys ...string) cAnswer {
	r := abi.KVResponse{More: more}
	for _, key := range keys {
		r.Entries = append(r.Entries, abi.KVEntry{Key: key})
	}
	return cAnswer{message: r.Append(nil)}
}
