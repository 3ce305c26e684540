package session_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/session"
	runtime "github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A message is one of the ABI.
type message interface{ Append(b []byte) []byte }

// An inquiry is a question of a guest to a service and, for a recording, what the service answers.
type inquiry struct {
	service abi.Service
	ask     message
	answer  message // nil for code
	body    string
	code    abi.Code
}

// A heard answer is what a guest gets.
type heard struct {
	Code    abi.Code
	Message string
	Body    string
}

// An inquirer asks in place of a guest.
type inquirer struct {
	source
	services  capability.Services
	inquiries []inquiry
	heard     []heard
}

func (q *inquirer) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	for _, i := range q.inquiries {
		resp, err := q.services[i.service].Call(ctx, i.ask.Append(nil))
		q.heard = append(q.heard, heard{abi.CodeOf(err), string(resp.Message), string(resp.Body)})
	}
	return textSource("done").Read(ctx, req, sink)
}

// script is a real service that answers one inquiry after the other, as they were asked.
type script struct {
	todo []inquiry
}

func (s *script) Call(context.Context, []byte) (capability.Response, error) {
	i := s.todo[0]
	s.todo = s.todo[1:]
	if i.answer == nil {
		return capability.Response{}, abi.Errorf(i.code, "no")
	}
	return capability.Response{Message: i.answer.Append(nil), Body: []byte(i.body)}, nil
}

// granted returns real services for all that is asked.
func granted(inquiries []inquiry) capability.Services {
	services, real := capability.Services{}, &script{inquiries}
	for _, i := range inquiries {
		services[i.service] = real
	}
	return services
}

// inquire has the services of a host asked in one step, and gives the session's text and what was heard.
func inquire(t *testing.T, s *session.Session, host *session.Host, real capability.Services, inquiries []inquiry) (string, []heard) {
	t.Helper()
	services, err := host.Services(real)
	if err != nil {
		t.Fatal(err)
	}
	q := &inquirer{services: services, inquiries: inquiries}
	report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: q, Update: real != nil})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Failures {
		t.Errorf("%s: %s\n%s", f.Step, f.Problem, f.Diff)
	}
	return string(s.Format()), q.heard
}

const doneStep = "-- read x:y --\n{\"contents\": [{\"uri\": \"x:y\", \"text\": \"done\"}]}\n"

// TestServicesAreRecordedAndReplayed records what services answer, and has a replay give just that.
func TestServicesAreRecordedAndReplayed(t *testing.T) {
	for name, tt := range map[string]struct {
		capability string
		inquiries  []inquiry
		want       string
	}{
		"kv":            {"kv", kvInquiries, kvWant},
		"http":          {"http", httpInquiries, httpWant},
		"http streams":  {"http", streamInquiries, streamWant},
		"sql":           {"sql", sqlInquiries, sqlWant},
		"file":          {"fs", fileInquiries, fileWant},
		"one at a time": {"kv", changingInquiries, changingWant},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, "-- read x:y --\n")
			text, live := inquire(t, s, session.Record(s), granted(tt.inquiries), tt.inquiries)
			want := "-- grants --\n{\"capabilities\": [\"" + tt.capability + "\"]}\n" + doneStep + tt.want
			if diff := cmp.Diff(want, text); diff != "" {
				t.Errorf("the file: want -, got +:\n%s", diff)
			}
			s = parse(t, text)
			if again := string(s.Format()); again != text {
				t.Errorf("what was recorded is read in another way:\n%s", cmp.Diff(text, again))
			}
			_, replayed := inquire(t, s, session.Replay(s), nil, tt.inquiries)
			if diff := cmp.Diff(live, replayed); diff != "" {
				t.Errorf("the guest: recording -, replay +:\n%s", diff)
			}
			for i, h := range replayed {
				if h.Body != tt.inquiries[i].body || h.Code != tt.inquiries[i].code {
					t.Errorf("answer %d: got code %v, body %q", i, h.Code, h.Body)
				}
			}
		})
	}
}

var noted = abi.KVEntry{Key: "notes/1", Size: 5, ExpiresMillis: 1_795_000_000_123, Version: 7}

var kvInquiries = []inquiry{
	{service: abi.ServiceKVGet, ask: &abi.KVRequest{Key: "notes/1"}, answer: &abi.KVResponse{Entries: []abi.KVEntry{noted}}, body: "a\nb\nc"},
	{service: abi.ServiceKVGet, ask: &abi.KVRequest{Key: "a \"b\""}, answer: &abi.KVResponse{Entries: []abi.KVEntry{{Key: "a \"b\"", Size: 2, Version: 1}}}, body: "\x00\xff"},
	{service: abi.ServiceKVGet, ask: &abi.KVRequest{Key: "none"}, code: abi.CodeNotFound},
	{service: abi.ServiceKVPut, ask: &abi.KVRequest{Key: "notes/1", Value: []byte("a \"b\"\n"), TTLMillis: 60_000, IfVersion: 7},
		answer: &abi.KVResponse{Entries: []abi.KVEntry{{Key: "notes/1", Version: 9}}, Conflict: true}},
	{service: abi.ServiceKVPut, ask: &abi.KVRequest{Key: "b", Value: []byte{0xff}, IfAbsent: true}, answer: &abi.KVResponse{Entries: []abi.KVEntry{{Key: "b", Size: 1, Version: math.MaxUint64}}}},
	{service: abi.ServiceKVPut, ask: &abi.KVRequest{Key: "long", Value: bytes.Repeat([]byte("long "), 1000)}, code: abi.CodeTooLarge},
	{service: abi.ServiceKVDelete, ask: &abi.KVRequest{Key: "b"}, answer: &abi.KVResponse{}},
	{service: abi.ServiceKVList, ask: &abi.KVRequest{}, answer: &abi.KVResponse{}},
	{service: abi.ServiceKVList, ask: &abi.KVRequest{Prefix: "notes/", After: "notes/0", Limit: 1}, answer: &abi.KVResponse{Entries: []abi.KVEntry{noted}, More: true}},
}

const kvWant = `-- host kv.get notes/1 --
{"entries": [{"key": "notes/1", "size": 5, "expires": "2026-11-18T11:06:40.123Z", "version": 7}]}
-- text --
a
b
c
\ No newline at end of file
-- host kv.get "a \"b\"" --
{
  "entries": [{"key": "a \"b\"", "size": 2, "version": 1}],
  "blob": "AP8="
}
-- host kv.get none --
{"error": "not_found"}
-- host kv.put notes/1 text="a \"b\"\n" ttl=60000 ifVersion=7 --
{
  "conflict": true,
  "entries": [{"key": "notes/1", "version": 9}]
}
-- host kv.put b blob=/w== ifAbsent --
{"entries": [{"key": "b", "size": 1, "version": 18446744073709551615}]}
-- host kv.put long sha256=862db3902b7bb8e26203f53f72d459adc51a680634c2b164622575bb4bd5ebce --
{"error": "too_large"}
-- host kv.delete b --
{"entries": []}
-- host kv.list --
{"entries": []}
-- host kv.list prefix=notes/ after=notes/0 limit=1 --
{
  "entries": [{"key": "notes/1", "size": 5, "expires": "2026-11-18T11:06:40.123Z", "version": 7}],
  "more": true
}
`

// changingInquiries get a value that is there twice before it is another one.
var changingInquiries = []inquiry{
	{service: abi.ServiceKVGet, ask: &abi.KVRequest{Key: "n"}, answer: &abi.KVResponse{}, body: "1"},
	{service: abi.ServiceKVGet, ask: &abi.KVRequest{Key: "n"}, answer: &abi.KVResponse{}, body: "1"},
	{service: abi.ServiceKVPut, ask: &abi.KVRequest{Key: "n", Value: []byte("2")}, answer: &abi.KVResponse{}},
	{service: abi.ServiceKVGet, ask: &abi.KVRequest{Key: "n"}, answer: &abi.KVResponse{}, body: "2"},
	{service: abi.ServiceKVGet, ask: &abi.KVRequest{Key: "n"}, answer: &abi.KVResponse{}, body: "2"},
}

const changingWant = `-- host kv.get n --
{"entries": [], "text": "1"}
-- host kv.get n --
{"entries": [], "text": "1"}
-- host kv.put n text=2 --
{"entries": []}
-- host kv.get n --
{"entries": [], "text": "2"}
`

var fileInquiries = []inquiry{
	{
		service: abi.ServiceFileList, ask: &abi.FileRequest{Path: "/a b", Length: 2, After: "c"},
		answer: &abi.FileResponse{Files: []abi.File{{Name: "d", Dir: true, ModifiedMillis: 1}}, More: true},
	},
	{
		service: abi.ServiceFileWrite, ask: &abi.FileRequest{Path: "/log", Data: []byte("a\n"), Appends: true},
		answer: &abi.FileResponse{Files: []abi.File{{Name: "log", Size: 2, ModifiedMillis: 1}}},
	},
	{
		service: abi.ServiceFileWrite, ask: &abi.FileRequest{Path: "/b", Data: []byte{0xff}}, code: abi.CodeDenied,
	},
	{service: abi.ServiceFileRemove, ask: &abi.FileRequest{Path: "/log"}, answer: &abi.FileResponse{}},
}

const fileWant = `-- host fs.list "/a b" length=2 after=c --
{
  "files": [{"name": "d", "dir": true, "modified": "1970-01-01T00:00:00.001Z"}],
  "more": true
}
-- host fs.write /log text="a\n" append --
{"files": [{"name": "log", "size": 2, "modified": "1970-01-01T00:00:00.001Z"}]}
-- host fs.write /b blob=/w== --
{"error": "denied"}
-- host fs.remove /log --
{"files": []}
`

var httpInquiries = []inquiry{
	{
		service: abi.ServiceHTTP, ask: &abi.HTTPRequest{URL: "https://example.org/x?a=b&c"},
		answer: &abi.HTTPResponse{Status: 200, URL: "https://example.org/y", Header: []abi.HTTPField{
			{Name: "Content-Type", Value: "text/plain"}, {Name: "Date", Value: "Sun, 22 Nov 2026 07:00:00 GMT"},
			{Name: "Set-Cookie", Value: "a=b; Path=/"}, {Name: "Set-Cookie", Value: "c=d"}, {Name: "X-Odd", Value: " a: b"}, {Name: "X-Empty"},
		}},
		body: "<p>\n",
	},
	{
		service: abi.ServiceHTTP, ask: &abi.HTTPRequest{Method: "POST", URL: "https://example.org/", Header: []abi.HTTPField{
			{Name: "accept", Value: "text/plain"}, {Name: "authorization", Value: "Bearer {{secret:token}}"},
		}, Body: []byte(`{"a": 1}`), MaxBytes: 100, TimeoutMillis: 2000},
		answer: &abi.HTTPResponse{Status: 404}, body: "\xff",
	},
	{service: abi.ServiceHTTP, ask: &abi.HTTPRequest{Method: "PUT", URL: "https://evil.example/", Body: []byte{0xff}}, code: abi.CodeDenied},
}

const httpWant = `-- host http.fetch GET https://example.org/x?a=b&c --
{
  "status": 200,
  "header": [
    "Content-Type: text/plain",
    "Date: Sun, 22 Nov 2026 07:00:00 GMT",
    "Set-Cookie: a=b; Path=/",
    "Set-Cookie: c=d",
    "X-Odd:  a: b",
    "X-Empty: "
  ],
  "url": "https://example.org/y"
}
-- text --
<p>
-- host http.fetch POST https://example.org/ header="accept: text/plain" header="authorization: Bearer {{secret:token}}" text="{\"a\": 1}" maxBytes=100 timeout=2000 --
{"status": 404, "blob": "/w=="}
-- host http.fetch PUT https://evil.example/ blob=/w== --
{"error": "denied"}
`

// streamInquiries read two streams, each part of which but the last is the same, and one that has ended.
var streamInquiries = []inquiry{
	{service: abi.ServiceHTTP, ask: &abi.HTTPRequest{URL: "a:"}, answer: &abi.HTTPResponse{Status: 200, Stream: 0xfeed}, body: "0"},
	{service: abi.ServiceHTTP, ask: &abi.HTTPRequest{URL: "a:"}, answer: &abi.HTTPResponse{Status: 200, Stream: 0xbeef}, body: "0"},
	{service: abi.ServiceStream, ask: &abi.StreamRequest{Stream: 2}, answer: &abi.StreamResponse{More: true}, body: "2"},
	{service: abi.ServiceStream, ask: &abi.StreamRequest{Stream: 1}, answer: &abi.StreamResponse{More: true}, body: "1"},
	{service: abi.ServiceStream, ask: &abi.StreamRequest{Stream: 1}, answer: &abi.StreamResponse{More: true}, body: "1"},
	{service: abi.ServiceStream, ask: &abi.StreamRequest{Stream: 1}, answer: &abi.StreamResponse{}, body: ""},
	{service: abi.ServiceStream, ask: &abi.StreamRequest{Stream: 1}, code: abi.CodeNotFound},
}

const streamWant = `-- host http.fetch GET a: --
{"status": 200, "stream": 1, "text": "0"}
-- host http.fetch GET a: --
{"status": 200, "stream": 2, "text": "0"}
-- host http.stream 2 --
{"more": true, "text": "2"}
-- host http.stream 1 --
{"more": true, "text": "1"}
-- host http.stream 1 --
{"more": true, "text": "1"}
-- host http.stream 1 --
{}
-- host http.stream 1 --
{"error": "not_found"}
`

func row(values ...abi.SQLValue) abi.SQLRow { return abi.SQLRow{Values: values} }

var everyKind = []abi.SQLValue{
	{}, {Kind: abi.SQLBool, Int: 1}, {Kind: abi.SQLBool}, {Kind: abi.SQLInt, Int: math.MinInt64}, {Kind: abi.SQLInt},
	{Kind: abi.SQLFloat, Float: 2}, {Kind: abi.SQLFloat, Float: math.SmallestNonzeroFloat64}, {Kind: abi.SQLFloat, Float: 1e300},
	{Kind: abi.SQLFloat, Float: math.Copysign(0, -1)}, {Kind: abi.SQLFloat, Float: math.NaN()}, {Kind: abi.SQLFloat, Float: math.Inf(-1)},
	{Kind: abi.SQLText}, {Kind: abi.SQLText, Text: "2"}, {Kind: abi.SQLText, Text: "null\x00\n"}, {Kind: abi.SQLBytes}, {Kind: abi.SQLBytes, Bytes: []byte("Mg")},
}

var sqlInquiries = []inquiry{
	{
		service: abi.ServiceSQL, ask: &abi.SQLRequest{Connection: "main", Query: "select \"id\"\nfrom t where x = $1", MaxRows: 9, Args: append(everyKind,
			abi.SQLValue{Kind: abi.SQLText, Text: strings.Repeat("long", 1000)}, abi.SQLValue{Kind: 9})},
		answer: &abi.SQLResponse{Columns: []abi.SQLColumn{{Name: "id", Type: "int8"}, {Name: "name"}}, Stream: 0xfeed, Rows: []abi.SQLRow{
			row(abi.SQLValue{Kind: abi.SQLInt, Int: 1}, abi.SQLValue{Kind: abi.SQLText, Text: "Ada"}), row(abi.SQLValue{Kind: abi.SQLInt, Int: 2}, abi.SQLValue{}),
		}},
	},
	{service: abi.ServiceSQLRows, ask: &abi.StreamRequest{Stream: 1}, answer: &abi.SQLResponse{Rows: []abi.SQLRow{row(everyKind...)}, Stream: 0xfeed}},
	{service: abi.ServiceSQLRows, ask: &abi.StreamRequest{Stream: 1}, answer: &abi.SQLResponse{}},
	{service: abi.ServiceSQL, ask: &abi.SQLRequest{Query: "delete"}, code: abi.CodeDenied},
}

const sqlWant = `-- host sql.query main "select \"id\"\nfrom t where x = $1" null bool=true bool=false ` +
	`int=-9223372036854775808 int=0 float=2 float=5e-324 float=1e+300 float=-0 float=NaN float=-Inf text= text=2 ` +
	`text="null\u0000\n" blob= blob=TWc= sha256=59f1d666fce5d94e6a3225cb92ad724a95e43d13b9621de98f443e730a346105 ` +
	`kind=9 maxRows=9 --
{
  "columns": [
    {"name": "id", "type": "int8"},
    {"name": "name"}
  ],
  "rows": [
    [1, "Ada"],
    [2, null]
  ],
  "stream": 1
}
-- host sql.rows 1 --
{
  "rows": [
    [
      null,
      true,
      false,
      -9223372036854775808,
      0,
      2.0,
      5e-324,
      1e+300,
      -0.0,
      {"float": "NaN"},
      {"float": "-Inf"},
      "",
      "2",
      "null\u0000\n",
      {"blob": ""},
      {"blob": "TWc="}
    ]
  ],
  "stream": 1
}
-- host sql.rows 1 --
{"rows": []}
-- host sql.query "" delete --
{"error": "denied"}
`

// TestAStreamOfAServiceHasAnotherNumber has a service that knows only the number it gave.
func TestAStreamOfAServiceHasAnotherNumber(t *testing.T) {
	const id = 0x9e3779b97f4a7c15
	fetch := function(func([]byte) (capability.Response, error) {
		return capability.Response{Message: (&abi.HTTPResponse{Stream: id}).Append(nil)}, nil
	})
	more := function(func(request []byte) (capability.Response, error) {
		var req abi.StreamRequest
		if err := req.Decode(request); err != nil {
			return capability.Response{}, err
		}
		if req.Stream != id {
			return capability.Response{}, abi.Errorf(abi.CodeNotFound, "stream %d", req.Stream)
		}
		return capability.Response{Body: []byte("more")}, nil
	})
	inquiries := []inquiry{
		{service: abi.ServiceHTTP, ask: &abi.HTTPRequest{URL: "a:"}},
		{service: abi.ServiceStream, ask: &abi.StreamRequest{Stream: 1}},
		{service: abi.ServiceStream, ask: &abi.StreamRequest{Stream: 2}},
		{service: abi.ServiceStream, ask: &abi.StreamRequest{Stream: id}},
		{service: abi.ServiceStream, ask: &abi.StreamRequest{}},
	}
	s := parse(t, "-- read x:y --\n-- read x:y --\n")
	_, got := inquire(t, s, session.Record(s), capability.Services{abi.ServiceHTTP: fetch, abi.ServiceStream: more}, inquiries)
	one := []heard{
		{Message: string((&abi.HTTPResponse{Stream: 1}).Append(nil))}, {Body: "more"},
		{Code: abi.CodeNotFound}, {Code: abi.CodeNotFound}, {Code: abi.CodeNotFound},
	}
	if diff := cmp.Diff(slices.Concat(one, one), got); diff != "" { // each step begins with 1
		t.Errorf("want -, got +:\n%s", diff)
	}
}

type function func(request []byte) (capability.Response, error)

func (f function) Call(_ context.Context, request []byte) (capability.Response, error) {
	return f(request)
}

func TestAnswersThatJSONCannotSay(t *testing.T) {
	for name, tt := range map[string]struct {
		inquiry inquiry
		want    string
	}{
		"no message":  {inquiry{service: abi.ServiceHTTP, ask: &abi.HTTPRequest{URL: "a:"}, answer: broken{}}, "http.fetch GET a:: "},
		"header name": {inquiry{service: abi.ServiceHTTP, ask: &abi.HTTPRequest{URL: "a:"}, answer: &abi.HTTPResponse{Header: []abi.HTTPField{{Name: "a:"}}}}, `"a:" is not the name of a header field`},
		"kind":        {inquiry{service: abi.ServiceSQL, ask: &abi.SQLRequest{}, answer: &abi.SQLResponse{Rows: []abi.SQLRow{row(abi.SQLValue{Kind: 6})}}}, "unknown kind 6"},
		"expiry":      {inquiry{service: abi.ServiceKVGet, ask: &abi.KVRequest{Key: "a"}, answer: &abi.KVResponse{Entries: []abi.KVEntry{{ExpiresMillis: math.MaxInt64}}}}, "out of range"},
		"body":        {inquiry{service: abi.ServiceSQL, ask: &abi.SQLRequest{}, answer: &abi.SQLResponse{}, body: "a"}, "has a body"},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, "-- read x:y --\n")
			host := session.Record(s)
			services, err := host.Services(granted([]inquiry{tt.inquiry}))
			if err != nil {
				t.Fatal(err)
			}
			q := &inquirer{services: services, inquiries: []inquiry{tt.inquiry}}
			report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: q, Update: true})
			if err != nil || len(report.Failures) != 1 || !strings.Contains(report.Failures[0].Problem, tt.want) {
				t.Errorf("got %+v, %v, want %s", report, err, tt.want)
			}
		})
	}
}

// broken is no message.
type broken struct{}

func (broken) Append(b []byte) []byte { return append(b, 0xff) }

func TestGrantsAreThoseThatWereThere(t *testing.T) {
	real := capability.Services{}
	for _, id := range []abi.Service{abi.ServiceSQLRows, abi.ServiceSQL, abi.ServiceKVGet, abi.ServiceStream} {
		real[id] = function(nil)
	}
	s := parse(t, "-- read x:y --\n")
	text, _ := inquire(t, s, session.Record(s), real, nil)
	if want := "-- grants --\n{\"capabilities\": [\"kv\", \"http\", \"sql\"]}\n"; !strings.HasPrefix(text, want) {
		t.Errorf("got %s, want %s", text, want)
	}
	for grants, want := range map[string][]abi.Service{
		`{}`:                           nil,
		`{"capabilities":["kv"]}`:      {3, 4, 5, 6},
		`{"capabilities":["http"]}`:    {7, 15},
		`{"capabilities":["sql"]}`:     {8, 16},
		`{"capabilities":["env"]}`:     {1},
		`{"capabilities":["fs","kv"]}`: {3, 4, 5, 6, 12, 13, 14, 17, 18},
	} {
		services, err := session.Replay(parse(t, "-- grants --\n"+grants+"\n")).Services(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []abi.Service
		for id := range services {
			got = append(got, id)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", grants, got, want)
		}
	}
}

var envInquiries = []inquiry{
	{service: abi.ServiceConfig, ask: &abi.ConfigRequest{Key: "env:LANG"}, answer: &abi.ConfigResponse{Value: "de_AT"}},
	{service: abi.ServiceConfig, ask: &abi.ConfigRequest{Key: "env:NONE"}, code: abi.CodeNotFound},
	{service: abi.ServiceConfig, ask: &abi.ConfigRequest{Key: "env:EMPTY"}, answer: &abi.ConfigResponse{}},
	{service: abi.ServiceConfig, ask: &abi.ConfigRequest{Key: "owner"}, answer: &abi.ConfigResponse{Value: "ada"}},
}

const envWant = `-- host env.get LANG --
{"value": "de_AT"}
-- host env.get NONE --
{"error": "not_found"}
-- host env.get EMPTY --
{"value": ""}
`

// TestTheEnvironmentIsRecorded also has configuration values asked for by the same service, which are none of it.
func TestTheEnvironmentIsRecorded(t *testing.T) {
	s := parse(t, "-- read x:y --\n")
	host := session.Record(s)
	host.RecordEnvironment()
	text, live := inquire(t, s, host, granted(envInquiries), envInquiries)
	if diff := cmp.Diff("-- grants --\n{\"capabilities\": [\"env\"]}\n"+doneStep+envWant, text); diff != "" {
		t.Errorf("the file: want -, got +:\n%s", diff)
	}
	s = parse(t, text)
	host = session.Replay(s)
	host.RecordEnvironment() // which a replay does not
	services, err := host.Services(capability.Services{abi.ServiceConfig: capability.Config{"owner": "ada", "env:LANG": "fr"}})
	if err != nil {
		t.Fatal(err)
	}
	q := &inquirer{services: services, inquiries: envInquiries}
	report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: q})
	if err != nil || len(report.Failures) > 0 {
		t.Fatalf("got %+v, %v", report, err)
	}
	if diff := cmp.Diff(live, q.heard); diff != "" {
		t.Errorf("the guest: recording -, replay +:\n%s", diff)
	}
}

// asker is a guest that asks for a value, a page with a further part, and rows in two parts.
func asker() *guesttest.Puppet {
	steps := []guesttest.Step{
		guesttest.Ask(abi.ServiceKVPut, (&abi.KVRequest{Key: "notes/1", Value: []byte("a")}).Append(nil)),
		guesttest.Ask(abi.ServiceHTTP, (&abi.HTTPRequest{URL: "https://example.org/"}).Append(nil)),
		guesttest.Ask(abi.ServiceStream, (&abi.StreamRequest{Stream: 1}).Append(nil)),
		guesttest.Ask(abi.ServiceSQL, (&abi.SQLRequest{Connection: "main", Query: "select 1"}).Append(nil)),
		guesttest.Ask(abi.ServiceSQLRows, (&abi.StreamRequest{Stream: 1}).Append(nil)),
		guesttest.Emit((&abi.Content{URI: "x:y", Kind: abi.KindText, Inline: []byte("done")}).Append(nil)),
		guesttest.Return(abi.CodeOK),
	}
	return &guesttest.Puppet{
		Manifest: abi.Manifest{Name: "asker", Ops: 1<<abi.OpRead | 1<<abi.OpDescribe, Resources: []abi.Resource{{URI: "x:y", Name: "y"}}},
		Next:     func(_ context.Context, _ abi.Op, n int, _ *abi.Request) guesttest.Step { return steps[n] },
	}
}

// TestAGuestIsAnsweredFromTheSession records and replays a guest, wherever it runs.
func TestAGuestIsAnsweredFromTheSession(t *testing.T) {
	both(t, func(t *testing.T, h *runtime.Host) {
		guest := asker()
		ask := func(s *session.Session, host *session.Host, real capability.Services, update bool) *session.Report {
			if real == nil {
				real = capability.Services{}
			}
			real[abi.ServiceConfig] = guest // its strings
			services, err := host.Services(real)
			if err != nil {
				t.Fatal(err)
			}
			p := openWith(t, h, guest.Binary(t), runtime.Options{Capabilities: []capability.Capability{services}, Clock: s.Clock()})
			report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: p, Update: update})
			if err != nil {
				t.Fatal(err)
			}
			return report
		}
		s := parse(t, "-- read x:y --\n")
		if report := ask(s, session.Record(s), answering(), true); len(report.Failures) > 0 {
			t.Fatalf("recording: got %+v", report)
		}
		want := "-- grants --\n{\"capabilities\": [\"kv\", \"http\", \"sql\"]}\n" + doneStep + askerWant
		text := string(s.Format())
		if diff := cmp.Diff(want, text); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
		s = parse(t, text)
		if report := ask(s, session.Replay(s), nil, false); len(report.Failures) > 0 || report.Steps != 1 {
			t.Errorf("replay: got %+v", report)
		}
		s = parse(t, strings.Replace(text, "select 1", "select 2", 1))
		report := ask(s, session.Replay(s), nil, false)
		if len(report.Failures) != 1 || !strings.HasSuffix(report.Failures[0].Problem, `record it again: sql.query main "select 1"`) {
			t.Errorf("another question: got %+v", report)
		}
	})
}

// answering returns services that give and know their own numbers of streams alone.
func answering() capability.Services {
	always := func(m message, body string) function {
		return func([]byte) (capability.Response, error) {
			return capability.Response{Message: m.Append(nil), Body: []byte(body)}, nil
		}
	}
	only := func(id uint64, then function) function {
		return func(request []byte) (capability.Response, error) {
			if !bytes.Equal(request, (&abi.StreamRequest{Stream: id}).Append(nil)) {
				return capability.Response{}, abi.Errorf(abi.CodeNotFound, "another stream")
			}
			return then(request)
		}
	}
	return capability.Services{
		abi.ServiceKVPut:   always(&abi.KVResponse{Entries: []abi.KVEntry{{Key: "notes/1", Size: 1, Version: 3}}}, ""),
		abi.ServiceHTTP:    always(&abi.HTTPResponse{Status: 200, URL: "https://example.org/", Stream: 77}, "be"),
		abi.ServiceStream:  only(77, always(&abi.StreamResponse{}, "gin")),
		abi.ServiceSQL:     always(&abi.SQLResponse{Columns: []abi.SQLColumn{{Name: "n"}}, Stream: 88}, ""),
		abi.ServiceSQLRows: only(88, always(&abi.SQLResponse{Rows: []abi.SQLRow{row(abi.SQLValue{Kind: abi.SQLInt, Int: 1})}}, "")),
	}
}

const askerWant = `-- host kv.put notes/1 text=a --
{"entries": [{"key": "notes/1", "size": 1, "version": 3}]}
-- host http.fetch GET https://example.org/ --
{"status": 200, "stream": 1, "url": "https://example.org/", "text": "be"}
-- host http.stream 1 --
{"text": "gin"}
-- host sql.query main "select 1" --
{
  "columns": [{"name": "n"}],
  "rows": [],
  "stream": 1
}
-- host sql.rows 1 --
{"rows": [[1]]}
`

// FuzzExchanges records an exchange of any bytes. What is recorded can be read, has one form, and is answered in a replay
// as it was in the recording.
func FuzzExchanges(f *testing.F) {
	for _, inquiries := range [][]inquiry{kvInquiries, fileInquiries, httpInquiries, streamInquiries, sqlInquiries, envInquiries} {
		for _, i := range inquiries {
			if i.answer != nil {
				f.Add(uint32(i.service), i.ask.Append(nil), i.answer.Append(nil), []byte(i.body))
			}
		}
	}
	f.Add(uint32(abi.ServiceConfig), (&abi.ConfigRequest{Key: "env:"}).Append(nil), []byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, id uint32, request, response, body []byte) {
		s := parse(t, "-- read x:y --\n")
		host := session.Record(s)
		host.RecordEnvironment()
		real := function(func([]byte) (capability.Response, error) {
			return capability.Response{Message: response, Body: body}, nil
		})
		services, err := host.Services(capability.Services{abi.Service(id): real})
		if err != nil {
			return // not a service that can be recorded
		}
		q := &inquirer{services: services, inquiries: []inquiry{{service: abi.Service(id), ask: encoded(request)}}}
		report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: q, Update: true})
		if err != nil || len(report.Failures) > 0 || len(s.Steps[0].Host) == 0 {
			return // nothing was recorded
		}
		text := string(s.Format())
		s = parse(t, text)
		if diff := cmp.Diff(text, string(s.Format())); diff != "" {
			t.Errorf("recorded -, read and written again +:\n%s", diff)
		}
		_, replayed := inquire(t, s, session.Replay(s), nil, q.inquiries)
		if diff := cmp.Diff(q.heard, replayed); diff != "" {
			t.Errorf("the guest: recording -, replay +:\n%s", diff)
		}
	})
}

// encoded is the encoding of a message, or not.
type encoded []byte

func (e encoded) Append(b []byte) []byte { return append(b, e...) }
