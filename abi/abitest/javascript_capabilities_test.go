package abitest_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
)

// TestJavaScriptCapabilities asks for what the SDK does with capabilities beyond the kit.
func TestJavaScriptCapabilities(t *testing.T) {
	guest := javaScript(t, filepath.Join(javaScriptKit, "rest"))
	read := func(t *testing.T, path string, answers ...answer) abitest.Outcome {
		t.Helper()
		return askWith(t, guest, abi.Request{URI: "rest://" + path}, answers)
	}
	t.Run("fetch", func(t *testing.T) {
		o := read(t, "fetch", answer{
			service: abi.ServiceHTTP,
			want: (&abi.HTTPRequest{
				Method: "PUT", URL: "http://a/ü", Header: []abi.HTTPField{{Name: "A", Value: "1"}, {Name: "a", Value: "2"}},
				Body: []byte{1, 255}, MaxBytes: 11, TimeoutMillis: math.MaxUint32,
			}).Append(nil),
			message: (&abi.HTTPResponse{
				Status: 299, URL: "http://b/", Stream: math.MaxUint64,
				Header: []abi.HTTPField{{Name: "ETag", Value: "1"}, {Name: "eTag", Value: "2"}},
			}).Append(nil),
			body: `{"a":`,
		}, answer{
			service: abi.ServiceStream, want: (&abi.StreamRequest{Stream: math.MaxUint64}).Append(nil),
			message: (&abi.StreamResponse{More: true}).Append(nil),
		}, answer{
			service: abi.ServiceStream, want: (&abi.StreamRequest{Stream: math.MaxUint64}).Append(nil), body: `["ü"]}`,
		})
		wantBody(t, o, `[299,true,"http://b/",[["ETag","1"],["eTag","2"]],"1",null,{"a":["ü"]}]`)
	})
	t.Run("body", func(t *testing.T) {
		parts := []answer{{service: abi.ServiceHTTP, message: (&abi.HTTPResponse{Status: 200}).Append(nil), body: "once"}}
		wantFailure(t, read(t, "twice", parts...), abi.CodeInternal, "")
	})
	t.Run("status", func(t *testing.T) {
		for status, want := range map[uint32]struct {
			code    abi.Code
			message string
		}{
			301: {abi.CodeInternal, "the server answers 301"}, 404: {abi.CodeNotFound, "the server answers 404"},
			401: {abi.CodeDenied, "the server answers 401"}, 429: {abi.CodeUnavailable, "the server answers 429"},
			0: {abi.CodeInternal, "fetch: the host failed"}, 1000: {abi.CodeInternal, "fetch: the host failed"},
		} {
			o := read(t, "missing", answer{service: abi.ServiceHTTP, message: (&abi.HTTPResponse{Status: status}).Append(nil)})
			wantFailure(t, o, want.code, want.message)
		}
		wantFailure(t, read(t, "missing"), abi.CodeDenied, "fetch: it is not granted")
	})
	t.Run("sql", func(t *testing.T) { testJavaScriptRows(t, read) })
	t.Run("kv", func(t *testing.T) { testJavaScriptKV(t, read) })
	t.Run("mistakes", func(t *testing.T) {
		none := answer{service: abi.ServiceKVGet, code: abi.CodeNotFound} // for update
		wantBody(t, read(t, "mistakes", none), strings.Join([]string{
			"TypeError: fetch: timeout is 0, not above zero",
			"TypeError: fetch: maxBytes is a string, not above zero",
			"TypeError: fetch: the body is a number, not a string or a Uint8Array",
			"TypeError: fetch: there is no option verb, but method, headers, body, maxBytes, timeout",
			"TypeError: argument 2 of the statement is undefined, which no database takes",
			"TypeError: argument 1 of the statement is an object (Date), which no database takes",
			"TypeError: argument 1 of the statement is an integer of more than 64 bits, which no database takes",
			"TypeError: put: the value is undefined, not a string or a Uint8Array",
			"TypeError: put: ttl is NaN, not above zero",
			"TypeError: put: 1 is no version of an entry",
			"TypeError: put: 0 is no version of an entry",
			"TypeError: put: the value is an object (Promise), not a string or a Uint8Array",
			"TypeError: update: there is no option ifAbsent, but ttl",
			"TypeError: deleteVersion: the version is missing",
		}, "\n"))
	})
}

type reader func(t *testing.T, path string, answers ...answer) abitest.Outcome

func testJavaScriptRows(t *testing.T, read reader) {
	nan := math.Float64frombits(0x7ff8 << 48) // as JavaScript writes it
	args := []abi.SQLValue{
		{Kind: abi.SQLBool}, {Kind: abi.SQLInt, Int: math.MaxInt64}, {Kind: abi.SQLInt, Int: -(1<<53 - 1)},
		{Kind: abi.SQLFloat, Float: 1 << 53}, {Kind: abi.SQLFloat, Float: nan}, {Kind: abi.SQLBytes, Bytes: []byte{0}},
	}
	row := func(values ...abi.SQLValue) abi.SQLRow { return abi.SQLRow{Values: values} }
	integer := func(n int64) abi.SQLValue { return abi.SQLValue{Kind: abi.SQLInt, Int: n} }
	first := answer{
		service: abi.ServiceSQL,
		want:    (&abi.SQLRequest{Connection: "main", Query: "s", Args: args}).Append(nil),
		message: (&abi.SQLResponse{
			Columns: []abi.SQLColumn{{Name: "a", Type: "int8"}, {Name: "b"}},
			Rows: []abi.SQLRow{
				row(integer(1<<53-1), integer(1<<53)), row(integer(math.MinInt64), abi.SQLValue{Kind: abi.SQLBool, Int: 1}),
				row(abi.SQLValue{Kind: abi.SQLFloat, Float: math.Inf(-1)}, abi.SQLValue{}),
			},
			Stream: 1,
		}).Append(nil),
	}
	rest := answer{
		service: abi.ServiceSQLRows, want: (&abi.StreamRequest{Stream: 1}).Append(nil),
		message: (&abi.SQLResponse{
			Rows: []abi.SQLRow{row(abi.SQLValue{Kind: abi.SQLText}, abi.SQLValue{Kind: abi.SQLBytes})},
		}).Append(nil),
	}
	wantBody(t, read(t, "sql", first, rest), "a:int8,b:\nnumber 9007199254740991, bigint 9007199254740992\n"+
		"bigint -9223372036854775808, boolean true\n-Infinity, null\n, ")

	one := answer{
		service: abi.ServiceSQL, want: (&abi.SQLRequest{Connection: "main", Query: "select 1", MaxRows: 1}).Append(nil),
		message: (&abi.SQLResponse{Columns: []abi.SQLColumn{{Name: "n"}}, Rows: []abi.SQLRow{row(integer(1))}}).Append(nil),
	}
	wantBody(t, read(t, "row", one), `{"n":1}`)
	one.message = (&abi.SQLResponse{Columns: []abi.SQLColumn{{Name: "n"}}}).Append(nil)
	wantBody(t, read(t, "row", one), `"none"`)
	one.message = (&abi.SQLResponse{
		Columns: []abi.SQLColumn{{Name: "n"}}, Rows: []abi.SQLRow{row(abi.SQLValue{Kind: 77})},
	}).Append(nil)
	wantFailure(t, read(t, "row", one), abi.CodeInternal, "the database main: the host failed")
}

func testJavaScriptKV(t *testing.T, read reader) {
	response := func(conflict bool, entries ...abi.KVEntry) []byte {
		return (&abi.KVResponse{Entries: entries, Conflict: conflict}).Append(nil)
	}
	get := answer{
		service: abi.ServiceKVGet, want: (&abi.KVRequest{Key: "k"}).Append(nil), body: "\x00\xff",
		message: response(false, abi.KVEntry{Key: "k", Size: 2, ExpiresMillis: 1, Version: math.MaxUint64}),
	}
	wantBody(t, read(t, "entry", get), "k 2 18446744073709551615 1970-01-01T00:00:00.001Z 0,255")

	wantBody(t, read(t, "update",
		answer{service: abi.ServiceKVGet, message: response(false, abi.KVEntry{Key: "n", Size: 2, Version: 5}), body: "41"},
		answer{
			service: abi.ServiceKVPut, message: response(true),
			want: (&abi.KVRequest{Key: "n", Value: []byte("42"), TTLMillis: 1, IfVersion: 5}).Append(nil),
		},
		answer{service: abi.ServiceKVGet, code: abi.CodeNotFound},
		answer{
			service: abi.ServiceKVPut, message: response(false, abi.KVEntry{Key: "n", Size: 1, Version: 7}),
			want: (&abi.KVRequest{Key: "n", Value: []byte("1"), TTLMillis: 1, IfAbsent: true}).Append(nil),
		},
	), "7")
	conflicts := []answer{}
	for range 16 {
		conflicts = append(conflicts, answer{service: abi.ServiceKVGet, code: abi.CodeNotFound},
			answer{service: abi.ServiceKVPut, message: response(true)})
	}
	wantFailure(t, read(t, "update", conflicts...), abi.CodeUnavailable,
		"the key-value store: others change the value all the time")

	wantBody(t, read(t, "delete", answer{
		service: abi.ServiceKVDelete, message: response(true, abi.KVEntry{Key: "k", Version: 4}),
		want: (&abi.KVRequest{Key: "k", IfVersion: 3}).Append(nil),
	}), "Conflict: the value is not the expected one: 4")

	wantBody(t, read(t, "keys", answer{
		service: abi.ServiceKVList, want: (&abi.KVRequest{Prefix: "a", After: "ab", Limit: 256}).Append(nil),
		message: (&abi.KVResponse{
			Entries: []abi.KVEntry{{Key: "ac", Version: 1}, {Key: "aü", Version: 2}}, More: true,
		}).Append(nil),
	}, answer{
		service: abi.ServiceKVList, want: (&abi.KVRequest{Prefix: "a", After: "aü", Limit: 256}).Append(nil),
	}), "ac,aü")

	wantFailure(t, read(t, "large"), abi.CodeTooLarge,
		"the key-value store: the value, or all of them, would be more than granted")
	wantFailure(t, read(t, "entry", answer{service: abi.ServiceKVGet, code: abi.CodeUnavailable}), abi.CodeUnavailable,
		"the key-value store: it may work later")
}

// An answer is what a service says to a request.
type answer struct {
	service abi.Service
	want    []byte // the request; nil for any
	code    abi.Code
	message []byte
	body    string
}

// askWith has a guest read, with services that give answers in their order, and no others.
func askWith(t *testing.T, guest abitest.Guest, req abi.Request, answers []answer) abitest.Outcome {
	t.Helper()
	x := &abitest.Exchange{Request: req.Append(nil), Services: map[abi.Service]abitest.Service{}}
	for _, a := range answers {
		x.Services[a.service] = func(request []byte) (message, body []byte, err error) {
			if len(answers) == 0 || answers[0].service != a.service {
				t.Errorf("service %v is asked out of turn: %x", a.service, request)
				return nil, nil, &abi.Error{Code: abi.CodeInternal}
			}
			now := answers[0]
			answers = answers[1:]
			if now.want != nil && !bytes.Equal(plain(t, a.service, request), now.want) {
				t.Errorf("service %v is asked %x, want %x", a.service, request, now.want)
			}
			if now.code != abi.CodeOK {
				return nil, nil, &abi.Error{Code: now.code}
			}
			return now.message, []byte(now.body), nil
		}
	}
	o, err := x.Outcome(guest(t, abi.OpRead, x))
	if err != nil {
		t.Fatal(err)
	}
	if len(answers) > 0 {
		t.Errorf("%d services are not asked, first %v", len(answers), answers[0].service)
	}
	return o
}

// plain returns a request to a service as the host itself would write it.
func plain(t *testing.T, service abi.Service, request []byte) []byte {
	t.Helper()
	var message interface {
		Decode([]byte) error
		Append([]byte) []byte
	}
	switch service {
	case abi.ServiceHTTP:
		message = &abi.HTTPRequest{}
	case abi.ServiceSQL:
		message = &abi.SQLRequest{}
	case abi.ServiceStream, abi.ServiceSQLRows:
		message = &abi.StreamRequest{}
	default:
		message = &abi.KVRequest{}
	}
	if err := message.Decode(request); err != nil {
		t.Errorf("service %v: %v", service, err)
	}
	return message.Append(nil)
}

// TestJavaScriptCapabilitiesREADME asks the second provider of the SDK's README.
func TestJavaScriptCapabilitiesREADME(t *testing.T) {
	text, err := os.ReadFile(javaScriptSDK + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```js\n")
	if len(blocks) != 3 {
		t.Fatalf("the README has %d providers, want 2", len(blocks)-1)
	}
	source, _, _ := strings.Cut(blocks[2], "```")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "provider.js"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	guest := javaScript(t, dir)
	id := []abi.Var{{Name: "id", Value: "7"}}
	key := (&abi.KVRequest{Key: "greeting/7"}).Append(nil)

	o := askWith(t, guest, abi.Request{URI: "users://7/portrait", Route: 1, Vars: id}, []answer{{
		service: abi.ServiceHTTP,
		want: (&abi.HTTPRequest{
			URL:    "https://api.example.org/v1/users/7/portrait",
			Header: []abi.HTTPField{{Name: "Authorization", Value: "Bearer {{secret:token}}"}}, TimeoutMillis: 1500,
		}).Append(nil),
		message: (&abi.HTTPResponse{
			Status: 200, Header: []abi.HTTPField{{Name: "Content-Type", Value: "image/png"}},
		}).Append(nil),
		body: "\x89PNG",
	}})
	wantBody(t, o, "\x89PNG")
	if o.Contents[0].MIMEType != "image/png" || o.Contents[0].ETag != "" {
		t.Errorf("got %+v", o.Contents[0].Content)
	}
	o = askWith(t, guest, abi.Request{URI: "users://7/greeting", Route: 2, Vars: id}, []answer{
		{service: abi.ServiceKVGet, want: key, code: abi.CodeNotFound},
		{
			service: abi.ServiceHTTP, want: (&abi.HTTPRequest{URL: "https://api.example.org/v1/users/7"}).Append(nil),
			message: (&abi.HTTPResponse{Status: 200}).Append(nil), body: `{"greeting": "Grüße"}`,
		},
		{
			service: abi.ServiceKVPut,
			want:    (&abi.KVRequest{Key: "greeting/7", Value: []byte("Grüße"), TTLMillis: 3_600_000}).Append(nil),
			message: (&abi.KVResponse{Entries: []abi.KVEntry{{Key: "greeting/7", Size: 7, Version: 1}}}).Append(nil),
		},
	})
	wantBody(t, o, "Grüße")
	o = askWith(t, guest, abi.Request{URI: "users://all"}, []answer{{
		service: abi.ServiceSQL,
		message: (&abi.SQLResponse{
			Columns: []abi.SQLColumn{{Name: "id"}, {Name: "name"}},
			Rows:    []abi.SQLRow{{Values: []abi.SQLValue{{Kind: abi.SQLInt, Int: 7}, {Kind: abi.SQLText, Text: "Ada"}}}},
		}).Append(nil),
	}})
	wantBody(t, o, "7,Ada\n")
}
