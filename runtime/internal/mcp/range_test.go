package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

const windowKey = "io.github.wasmres/window"

// A part is what a read of a window answers.
type partSize struct {
	URI  string
	Text *string
	Blob []byte
	Meta map[string]json.RawMessage `json:"_meta"`

	Window struct {
		Offset, Length uint64
		Total          *uint64
	} `json:"-"`
}

// body returns the bytes.
func (p *partSize) body() string {
	if p.Text != nil {
		return *p.Text
	}
	return string(p.Blob)
}

// readWindow reads a part of a resource; window is JSON.
func readWindow(t testing.TB, core *mcp.Core, uri, window string) (*partSize, *mcp.Error) {
	t.Helper()
	params := fmt.Sprintf(`{"uri":%q,"_meta":{%q:%s}}`, uri, windowKey, window)
	result, failure := core.Call(t.Context(), &mcp.Call{Method: "resources/read", Revision: mcp.Revision20260728, Params: []byte(params)})
	if failure != nil {
		return nil, failure
	}
	var got struct{ Contents []partSize }
	if err := json.Unmarshal(result, &got); err != nil || len(got.Contents) != 1 {
		t.Fatalf("got %v, %.500s, want one content", err, result)
	}
	p := &got.Contents[0]
	if err := json.Unmarshal(p.Meta[windowKey], &p.Window); err != nil {
		t.Fatalf("got %v in %.500s, want a window", err, result)
	}
	return p, nil
}

// A cutter is a source of one resource which cuts, or does not.
type cutter struct {
	body   string
	kind   abi.Kind
	cuts   bool
	size   uint64 // as it says
	uris   []string
	pushed int // bytes
	reads  int
}

func (c *cutter) core(t testing.TB) *mcp.Core {
	s := mcptest.New()
	s.Handle(abi.Resource{URI: "test://x", Name: "x"}, c.read)
	return newCore(t, mcp.Config{Source: s})
}

func (c *cutter) read(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	c.reads++
	uris := c.uris
	if uris == nil {
		uris = []string{req.URI.String()}
	}
	for _, uri := range uris {
		head, body := &abi.Content{URI: uri, Kind: c.kind, Size: c.size, ETag: "v1"}, c.body
		if c.cuts && (req.RangeOffset > 0 || req.RangeLength > 0) {
			body = body[min(req.RangeOffset, uint64(len(body))):]
			if req.RangeLength > 0 {
				body = body[:min(req.RangeLength, uint64(len(body)))]
			}
			head.RangeTotal, head.Size = uint64(len(c.body)), uint64(len(body))
		}
		if err := sink.Content(head); err != nil {
			return nil, err
		}
		for len(body) > 0 {
			n := min(len(body), 7)
			if len(body) > 1<<20 {
				n = 1 << 16
			}
			c.pushed += n
			if err := sink.Body([]byte(body[:n])); err != nil {
				return nil, err
			}
			body = body[n:]
		}
	}
	return &abi.Reply{TTLMillis: 1234}, nil
}

func TestWindow(t *testing.T) {
	const text = "aé漢😀z" // 1, 2, 3, 4 and 1 bytes
	at := func(n uint64) *uint64 { return &n }
	tests := []struct {
		name   string
		source cutter
		window string
		want   string
		offset uint64
		total  *uint64
	}{
		{"blob", cutter{body: "0123456789", kind: abi.KindBlob}, `{"offset":2,"length":3}`, "234", 2, at(10)},
		{"blob to the end", cutter{body: "0123456789", kind: abi.KindBlob}, `{"offset":7}`, "789", 7, at(10)},
		{"blob from the start", cutter{body: "0123456789", kind: abi.KindBlob}, `{"length":3}`, "012", 0, at(10)},
		{"all of it", cutter{body: "0123456789", kind: abi.KindBlob}, `{}`, "0123456789", 0, at(10)},
		{"beyond the end", cutter{body: "0123456789", kind: abi.KindBlob}, `{"offset":11,"length":3}`, "", 11, at(10)},
		{"over the end", cutter{body: "0123456789", kind: abi.KindBlob}, `{"offset":9,"length":3}`, "9", 9, at(10)},
		{"the greatest there is", cutter{body: "0123456789", kind: abi.KindBlob}, `{"offset":1,"length":9007199254740991}`, "123456789", 1, at(10)},
		{"nothing there", cutter{kind: abi.KindBlob}, `{"length":3}`, "", 0, at(0)},
		{"said too small", cutter{body: "0123456789", kind: abi.KindBlob, size: 4}, `{"offset":2,"length":3}`, "234", 2, at(10)},
		{"said too large", cutter{body: "0123456789", kind: abi.KindBlob, size: 40}, `{"offset":2,"length":3}`, "234", 2, at(10)},
		{"cut by the provider", cutter{body: "0123456789", kind: abi.KindBlob, cuts: true}, `{"offset":2,"length":3}`, "234", 2, at(10)},
		{"cut by the provider, to the end", cutter{body: "0123456789", kind: abi.KindBlob, cuts: true}, `{"offset":2}`, "23456789", 2, at(10)},
		{"cut by the provider, beyond the end", cutter{body: "0123456789", kind: abi.KindBlob, cuts: true}, `{"offset":20,"length":1}`, "", 20, at(10)},

		{"text, whole characters", cutter{body: text, kind: abi.KindText}, `{"offset":1,"length":5}`, "é漢", 1, at(11)},
		{"text, end within a character", cutter{body: text, kind: abi.KindText}, `{"offset":1,"length":6}`, "é漢😀", 1, at(11)},
		{"text, start within a character", cutter{body: text, kind: abi.KindText}, `{"offset":2,"length":2}`, "漢", 3, at(11)},
		{"text, within a character", cutter{body: text, kind: abi.KindText}, `{"offset":7,"length":2}`, "", 9, at(11)},
		{"text cut by the provider", cutter{body: text, kind: abi.KindText, cuts: true}, `{"offset":2,"length":2}`, "漢", 3, at(11)},
		{"text beyond the end", cutter{body: text, kind: abi.KindText}, `{"offset":12}`, "", 12, at(11)},

		{"the one asked for", cutter{body: "0123", kind: abi.KindBlob, uris: []string{"test://x/1", "test://x", "test://x/2"}}, `{"offset":1,"length":2}`, "12", 1, at(4)},
		{"the first of others", cutter{body: "0123", kind: abi.KindBlob, uris: []string{"test://x/1", "test://x/2"}}, `{"offset":1,"length":2}`, "12", 1, at(4)},

		{"long, stopped", cutter{body: strings.Repeat("x", 8<<20), kind: abi.KindText}, `{"offset":1,"length":2}`, "xx", 1, nil},
		{"long, stopped, size said", cutter{body: strings.Repeat("x", 8<<20), kind: abi.KindText, size: 8 << 20}, `{"offset":1,"length":2}`, "xx", 1, at(8 << 20)},
		{"long, stopped, said too small", cutter{body: strings.Repeat("x", 8<<20), kind: abi.KindText, size: 7}, `{"offset":1,"length":2}`, "xx", 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, failure := readWindow(t, tt.source.core(t), "test://x", tt.window)
			if failure != nil {
				t.Fatal(failure)
			}
			w := got.Window
			if got.body() != tt.want || w.Offset != tt.offset || w.Length != uint64(len(tt.want)) {
				t.Errorf("got %.100q, window %+v, want %q at %d", got.body(), w, tt.want, tt.offset)
			}
			if (w.Total == nil) != (tt.total == nil) || w.Total != nil && *w.Total != *tt.total {
				t.Errorf("got a total of %s, want %v", got.Meta[windowKey], tt.total)
			}
			if string(got.Meta["io.github.wasmres/etag"]) != `"v1"` {
				t.Errorf("got %s, want the etag as well", got.Meta)
			}
		})
	}
}

func TestWindowStopsTheProvider(t *testing.T) {
	c := cutter{body: strings.Repeat("x", 32<<20), kind: abi.KindBlob}
	if _, failure := readWindow(t, c.core(t), "test://x", `{"offset":4194304,"length":4}`); failure != nil {
		t.Fatal(failure)
	}
	if most := 4<<20 + 2<<20; c.pushed > most || c.reads != 1 {
		t.Errorf("the provider pushed %d bytes in %d reads, want at most %d in one", c.pushed, c.reads, most)
	}
}

func TestWindowKeepsWhatTheReplySays(t *testing.T) {
	c := cutter{body: strings.Repeat("x", 1000), kind: abi.KindBlob}
	result, failure := c.core(t).Call(t.Context(), &mcp.Call{
		Method: "resources/read", Revision: mcp.Revision20260728,
		Params: []byte(`{"uri":"test://x","_meta":{"` + windowKey + `":{"length":10}}}`),
	})
	if failure != nil || !strings.Contains(string(result), `"ttlMs":1234`) {
		t.Errorf("got %s, %v, want the time to live", result, failure)
	}
}

func TestMalformedWindows(t *testing.T) {
	c := cutter{body: "0123456789", kind: abi.KindBlob}
	for _, window := range []string{
		`[]`, `"0-3"`, `1`, `true`, `{"offset":-1}`, `{"offset":"1"}`, `{"offset":1.0}`, `{"offset":1e3}`, `{"length":0}`,
		`{"length":9007199254740992}`, `{"offset":18446744073709551616}`, `{"offset":1,"offset":2}`, `{"offset":[]}`,
	} {
		if got, failure := readWindow(t, c.core(t), "test://x", window); failure == nil || failure.Code != -32602 {
			t.Errorf("%s: got %+v, %v, want invalid params", window, got, failure)
		}
	}
	if c.reads > 0 {
		t.Errorf("the provider was read %d times", c.reads)
	}
	var answer struct{ Contents []partSize }
	result, failure := c.core(t).Call(t.Context(), &mcp.Call{
		Method: "resources/read", Params: []byte(`{"uri":"test://x","_meta":{"` + windowKey + `":null}}`),
	})
	if failure != nil || json.Unmarshal(result, &answer) != nil || answer.Contents[0].body() != c.body {
		t.Errorf("null: got %s, %v, want all of it", result, failure)
	}
}

func TestWindowOfABrokenProvider(t *testing.T) {
	tests := []struct {
		name   string
		source cutter
		window string
		code   string // empty for success
	}{
		{"text that is none", cutter{body: "a\xff\xffb", kind: abi.KindText}, `{"offset":1,"length":2}`, "invalid_text"},
		{"text that begins within a character", cutter{body: "\x80b", kind: abi.KindText}, `{"length":2}`, "invalid_text"},
		{"text without beginnings", cutter{body: "a\x80\x80\x80\x80\x80\x80", kind: abi.KindText}, `{"offset":1,"length":5}`, "invalid_text"},
		{"text that is none, elsewhere", cutter{body: "abcd\xff", kind: abi.KindText}, `{"offset":1,"length":2}`, ""},
		{"no kind", cutter{body: ""}, `{"offset":1,"length":2}`, "protocol"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, failure := readWindow(t, tt.source.core(t), "test://x", tt.window)
			if (failure == nil) != (tt.code == "") || failure != nil && !strings.Contains(string(failure.Data), `"`+tt.code+`"`) {
				t.Errorf("got %+v, want %q", failure, tt.code)
			}
		})
	}
}

// FuzzWindow puts the ranges of a content together, whether the source cuts or the core.
func FuzzWindow(f *testing.F) {
	f.Add("aé漢😀z and more", uint16(3), true, false)
	f.Add(strings.Repeat("😀", 40), uint16(1), true, true)
	f.Add("\x00\xff\x80\x80", uint16(2), false, true)
	f.Add("", uint16(1), true, false)
	f.Fuzz(func(t *testing.T, body string, step uint16, text, cuts bool) {
		if text = text && utf8.ValidString(body); len(body) > 200 || step == 0 {
			return
		}
		c := cutter{body: body, kind: abi.KindBlob, cuts: cuts}
		if text {
			c.kind = abi.KindText
		}
		core := c.core(t)
		var all bytes.Buffer
		for offset := 0; offset <= len(body); offset += int(step) {
			got, failure := readWindow(t, core, "test://x", fmt.Sprintf(`{"offset":%d,"length":%d}`, offset, step))
			if failure != nil {
				t.Fatal(failure)
			}
			if w := got.Window; body != "" && got.body() != "" && uint64(all.Len()) != w.Offset || w.Length != uint64(len(got.body())) {
				t.Errorf("at %d after %d bytes: got %q, window %+v", offset, all.Len(), got.body(), w)
			}
			all.WriteString(got.body())
		}
		if all.String() != body {
			t.Errorf("in steps of %d: got %q, want %q", step, all.String(), body)
		}
	})
}
