package abitest_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
)

// asMore is the provider of what the AssemblyScript SDK does with capabilities beyond the kit.
type asMore struct {
	guest abitest.Guest
	m     abi.Manifest
}

// read reads a URI of a resource, or of a template with its variables, of a host with these services.
func (p asMore) read(t *testing.T, services map[abi.Service]abitest.Service, uri string, vars ...string) abitest.Outcome {
	t.Helper()
	req := abi.Request{URI: uri}
	if len(vars) > 0 {
		is := func(m abi.Template) bool { return m.URITemplate == uri }
		req.URI, req.Route = "more://x", 1+uint32(slices.IndexFunc(p.m.Templates, is))
	}
	for i := 0; i < len(vars); i += 2 {
		req.Vars = append(req.Vars, abi.Var{Name: vars[i], Value: vars[i+1]})
	}
	x := &abitest.Exchange{Request: req.Append(nil), Services: services}
	o, err := x.Outcome(p.guest(t, abi.OpRead, x))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestAssemblyScriptCapabilities asks for what the SDK does with capabilities and the kit does not ask for.
func TestAssemblyScriptCapabilities(t *testing.T) {
	for _, runtime := range []string{"stub", "incremental"} {
		t.Run(runtime, func(t *testing.T) {
			p := asMore{guest: assemblyScript(t, assemblyScriptKit, "more.ts", "--runtime", runtime)}
			p.m = *ask(t, p.guest, abi.OpDescribe, abi.Request{}).Reply.Manifest
			t.Run("bodies", p.testBodies)
			t.Run("values", p.testValues)
			t.Run("updates", p.testUpdates)
			t.Run("puts", p.testPuts)
			t.Run("pages", p.testPages)
		})
	}
}

// bodiesOf answers requests with parts of a body, by host.
func bodiesOf(parts map[string][]string) map[abi.Service]abitest.Service {
	var streams [][]string
	return map[abi.Service]abitest.Service{
		abi.ServiceHTTP: func(request []byte) (message, body []byte, err error) {
			var req abi.HTTPRequest
			if err := req.Decode(request); err != nil {
				return nil, nil, err
			}
			all := parts[req.URL]
			resp := abi.HTTPResponse{Status: 200, URL: req.URL}
			if len(all) > 1 {
				streams = append(streams, all[1:])
				resp.Stream = uint64(len(streams))
			}
			return resp.Append(nil), []byte(all[0]), nil
		},
		abi.ServiceStream: func(request []byte) (message, body []byte, err error) {
			var req abi.StreamRequest
			if err := req.Decode(request); err != nil {
				return nil, nil, err
			}
			left := &streams[req.Stream-1]
			part := (*left)[0]
			*left = (*left)[1:]
			if part == "break" {
				return nil, nil, &abi.Error{Code: abi.CodeUnavailable}
			}
			return (&abi.StreamResponse{More: len(*left) > 0}).Append(nil), []byte(part), nil
		},
		abi.ServiceKVGet: func([]byte) (message, body []byte, err error) {
			entry := abi.KVEntry{Key: "between", Size: 4, Version: 1}
			return (&abi.KVResponse{Entries: []abi.KVEntry{entry}}).Append(nil), []byte("gone"), nil
		},
	}
}

func (p asMore) testBodies(t *testing.T) {
	const a, b = "https://a.example", "https://b.example"
	wantBody(t, p.read(t, bodiesOf(map[string][]string{a: {"0123456789", "", "ab"}}), "more://crumbs"), "7:0123456 3:789 2:ab ")
	wantBody(t, p.read(t, bodiesOf(map[string][]string{a: {""}}), "more://crumbs"), "")
	wantFailure(t, p.read(t, bodiesOf(map[string][]string{a: {"01", "break"}}), "more://crumbs"), abi.CodeUnavailable, "")

	two := map[string][]string{a: {"one ", "zwölf ", "three"}, b: {strings.Repeat("b", 100_000), "c"}}
	wantBody(t, p.read(t, bodiesOf(two), "more://two"), "one zwölf three/"+strings.Repeat("b", 100_000)+"c")
	two[b] = []string{"b", "break"}
	wantFailure(t, p.read(t, bodiesOf(two), "more://two"), abi.CodeUnavailable, "")

	for _, sizes := range [][]int{{0}, {8191}, {8192}, {8193}, {1 << 18, 1 << 18, 1}, {1 << 20, 1 << 20, 3}} {
		var parts []string
		for i, n := range sizes {
			parts = append(parts, strings.Repeat(string(rune('a'+i)), n))
		}
		wantBody(t, p.read(t, bodiesOf(map[string][]string{a: parts}), "more://whole"), strings.Join(parts, ""))
	}
	mebibytes := slices.Repeat([]string{strings.Repeat("m", 1<<20)}, 9)
	wantBody(t, p.read(t, bodiesOf(map[string][]string{a: mebibytes[:8]}), "more://whole"), strings.Join(mebibytes[:8], ""))
	wantFailure(t, p.read(t, bodiesOf(map[string][]string{a: mebibytes}), "more://whole"), abi.CodeTooLarge, "")
}

// table answers a statement with one row, and keeps what was asked.
func table(asked *abi.SQLRequest, values ...abi.SQLValue) map[abi.Service]abitest.Service {
	return map[abi.Service]abitest.Service{
		abi.ServiceSQL: func(request []byte) (message, body []byte, err error) {
			if err := asked.Decode(request); err != nil {
				return nil, nil, err
			}
			var resp abi.SQLResponse
			for i := range values {
				resp.Columns = append(resp.Columns, abi.SQLColumn{Name: string(rune('a' + i)), Type: "int4"})
			}
			if len(values) > 0 {
				resp.Rows = []abi.SQLRow{{Values: values}}
			}
			return resp.Append(nil), nil, nil
		},
	}
}

func (p asMore) testValues(t *testing.T) {
	var asked abi.SQLRequest
	whole := func(n int64) abi.SQLValue { return abi.SQLValue{Kind: abi.SQLInt, Int: n} }
	text := func(s string) abi.SQLValue { return abi.SQLValue{Kind: abi.SQLText, Text: s} }
	float := func(x float64) abi.SQLValue { return abi.SQLValue{Kind: abi.SQLFloat, Float: x} }
	truth := abi.SQLValue{Kind: abi.SQLBool, Int: 1}
	raw := abi.SQLValue{Kind: abi.SQLBytes, Bytes: []byte{0, 255}}

	wantBody(t, p.read(t, table(&asked, text("x"), whole(1)), "more://first"), "1 -1 int4 x false")
	want := "[{2 -9223372036854775808 0  []} {3 0 0  []} {4 0 0  []} {5 0 0  []}]"
	if got := fmt.Sprint(asked.Args); got != want || asked.MaxRows != 1 || asked.Connection != "main" {
		t.Errorf("got arguments %s of %+v, want %s", got, asked, want)
	}
	wantFailure(t, p.read(t, table(&asked), "more://first"), abi.CodeNotFound, "")

	for _, c := range []struct {
		as    string
		value abi.SQLValue
		want  string // nothing for a failure
	}{
		{"text", whole(-7), "-7"}, {"text", truth, "true"}, {"text", float(2), "2"}, {"text", float(0.1), "0.1"},
		{"text", text("größe"), "größe"}, {"text", raw, "\x00"}, {"bytes", raw, "0,255"}, {"bytes", whole(12), "49,50"},
		{"bool", truth, "true"}, {"bool", whole(0), "false"}, {"bool", text("true"), ""}, {"bool", abi.SQLValue{}, ""},
		{"i64", whole(math.MinInt64), "-9223372036854775808"}, {"i64", text("9223372036854775807"), "9223372036854775807"},
		{"i64", text("9223372036854775808"), ""}, {"i64", text("1.0"), ""}, {"i64", text(""), ""}, {"i64", float(1), ""},
		{"i64", abi.SQLValue{}, ""}, {"i64", raw, ""}, {"i64", truth, "1"},
		{"i32", whole(math.MaxInt32), "2147483647"}, {"i32", whole(math.MaxInt32 + 1), ""}, {"i32", whole(math.MinInt32), "-2147483648"},
		{"u8", whole(255), "255"}, {"u8", whole(256), ""}, {"u8", whole(-1), ""},
		{"float", whole(3), "3.0"}, {"float", float(math.Inf(-1)), "-Infinity"}, {"float", text("-1.5e3"), "-1500.0"},
		{"float", text("NaN"), "NaN"}, {"float", text(".5"), "0.5"}, {"float", text("5."), "5.0"}, {"float", text("1e"), ""},
		{"float", text("."), ""}, {"float", text(""), ""}, {"float", text("1.2.3"), ""}, {"float", text("1x"), ""},
		{"float", text("0x1"), ""}, {"float", text("-"), ""}, {"float", text("e5"), ""}, {"float", text("1e5 "), ""},
		{"float", truth, ""}, {"float", abi.SQLValue{}, ""},
	} {
		o := p.read(t, table(&asked, c.value), "more://value/{as}", "as", c.as)
		switch {
		case c.want == "":
			wantFailure(t, o, abi.CodeInternal, "")
		case c.value.Kind == abi.SQLBytes && c.as == "text": // bytes that are no UTF-8 become other text
			if o.Code != abi.CodeOK {
				t.Errorf("%v as text: got %v", c.value, o.Code)
			}
		case o.Code != abi.CodeOK || string(o.Contents[0].Body) != c.want:
			t.Errorf("%v as %s: got %v %v, want %s", c.value, c.as, o.Code, o.Contents, c.want)
		}
	}
	for _, uri := range []string{"more://outside", "more://nowhere"} {
		wantFailure(t, p.read(t, table(&asked, whole(1)), uri), abi.CodeInternal, "")
	}
	many := make([]abi.SQLValue, 1001)
	wantFailure(t, p.read(t, table(&asked, many...), "more://value/{as}", "as", "text"), abi.CodeInternal, "")
}

// register is a store of one value, which others may change whenever it has been read.
type register struct {
	value   string // none when the version is 0
	version uint64
	rivals  int // how often another writer puts the same value
	puts    []abi.KVRequest
}

func (s *register) services() map[abi.Service]abitest.Service {
	entry := func() []abi.KVEntry {
		if s.version == 0 {
			return nil
		}
		return []abi.KVEntry{{Key: "count", Size: uint64(len(s.value)), Version: s.version}}
	}
	return map[abi.Service]abitest.Service{
		abi.ServiceKVGet: func([]byte) (message, body []byte, err error) {
			if s.version == 0 {
				return nil, nil, &abi.Error{Code: abi.CodeNotFound}
			}
			message, body = (&abi.KVResponse{Entries: entry()}).Append(nil), []byte(s.value)
			if s.rivals > 0 {
				s.rivals--
				s.version++
			}
			return message, body, nil
		},
		abi.ServiceKVPut: func(request []byte) (message, body []byte, err error) {
			var req abi.KVRequest
			if err := req.Decode(request); err != nil {
				return nil, nil, err
			}
			req.Value = bytes.Clone(req.Value)
			s.puts = append(s.puts, req)
			if req.IfAbsent && s.version != 0 || req.IfVersion != 0 && req.IfVersion != s.version {
				return (&abi.KVResponse{Entries: entry(), Conflict: true}).Append(nil), nil, nil
			}
			s.value, s.version = string(req.Value), s.version+1
			return (&abi.KVResponse{Entries: entry()}).Append(nil), nil, nil
		},
	}
}

func (p asMore) testUpdates(t *testing.T) {
	s := &register{}
	wantBody(t, p.read(t, s.services(), "more://count/{by}", "by", "5"), "count 1 false")
	wantBody(t, p.read(t, s.services(), "more://count/{by}", "by", "-2"), "count 2 false")
	if s.value != "3" || !s.puts[0].IfAbsent || s.puts[0].IfVersion != 0 || s.puts[1].IfAbsent || s.puts[1].IfVersion != 1 {
		t.Errorf("got %+v", s)
	}
	s.rivals = 15
	wantBody(t, p.read(t, s.services(), "more://count/{by}", "by", "1"), "count 18 false")
	s.rivals = 16
	wantFailure(t, p.read(t, s.services(), "more://count/{by}", "by", "1"), abi.CodeUnavailable, "")
	puts := len(s.puts)
	wantFailure(t, p.read(t, s.services(), "more://count/{by}", "by", "-9"), abi.CodeInvalidParams, "below zero")
	if len(s.puts) != puts || s.value != "4" {
		t.Errorf("a change that fails puts: got %+v", s)
	}
	wantBody(t, p.read(t, s.services(), "more://passing"), "count 35 false")
	if last := s.puts[len(s.puts)-1]; last.TTLMillis != 9 || last.IfVersion != 34 {
		t.Errorf("got %+v", last)
	}
	wantFailure(t, p.read(t, nil, "more://count/{by}", "by", "1"), abi.CodeDenied, "")
}

func (p asMore) testPuts(t *testing.T) {
	s := &register{}
	for _, ms := range []string{"0", "-1"} {
		wantFailure(t, p.read(t, s.services(), "more://ttl/{ms}", "ms", ms), abi.CodeInvalidParams,
			"a value must last for some time, or, without ttl, for good")
	}
	wantFailure(t, p.read(t, s.services(), "more://zero"), abi.CodeInvalidParams,
		"no value has version 0: use ifAbsent to put where there is none")
	wantFailure(t, p.read(t, s.services(), "more://forget/{version}", "version", "0"), abi.CodeInvalidParams,
		"no value has version 0: use delete to delete any")
	wantFailure(t, p.read(t, s.services(), "more://large/{n}", "n", "1048577"), abi.CodeTooLarge, "")
	wantFailure(t, p.read(t, s.services(), "more://large/{n}", "n", "1048576"), abi.CodeTooLarge, "") // with what is around it
	if len(s.puts) > 0 {
		t.Errorf("got %d puts", len(s.puts))
	}
	wantBody(t, p.read(t, s.services(), "more://large/{n}", "n", "1048560"), "count 1 false")

	delete := func(resp abi.KVResponse) map[abi.Service]abitest.Service {
		return map[abi.Service]abitest.Service{abi.ServiceKVDelete: func(request []byte) (message, body []byte, err error) {
			var req abi.KVRequest
			if err := req.Decode(request); err != nil || req.Key != "a" || req.IfVersion != 7 {
				t.Errorf("got %+v, %v", req, err)
			}
			return resp.Append(nil), nil, nil
		}}
	}
	forget := func(resp abi.KVResponse) abitest.Outcome {
		return p.read(t, delete(resp), "more://forget/{version}", "version", "7")
	}
	wantBody(t, forget(abi.KVResponse{}), "a 0 false")
	wantBody(t, forget(abi.KVResponse{Conflict: true}), "a 0 true")
	wantBody(t, forget(abi.KVResponse{Conflict: true, Entries: []abi.KVEntry{{Key: "a", Version: 9}}}), "a 9 true")
}

func (p asMore) testPages(t *testing.T) {
	var asked []abi.KVRequest
	list := map[abi.Service]abitest.Service{abi.ServiceKVList: func(request []byte) (message, body []byte, err error) {
		var req abi.KVRequest
		if err := req.Decode(request); err != nil {
			return nil, nil, err
		}
		asked = append(asked, req)
		resp := abi.KVResponse{More: true}
		for i := range min(req.Limit, 2) {
			resp.Entries = append(resp.Entries, abi.KVEntry{Key: req.After + fmt.Sprint(i), Size: 3, ExpiresMillis: 5, Version: 1})
		}
		return resp.Append(nil), nil, nil
	}}
	wantBody(t, p.read(t, list, "more://after/{key}/{limit}", "key", "k", "limit", "3"), "k0-3-5 k1-3-5 k10-3-5")
	if len(asked) != 2 || asked[0].Limit != 3 || asked[1].Limit != 1 || asked[1].After != "k1" || asked[1].Prefix != "k" {
		t.Errorf("got %+v", asked)
	}
	wantBody(t, p.read(t, list, "more://after/{key}/{limit}", "key", "k", "limit", "-3"), "k0-3-5")
}
