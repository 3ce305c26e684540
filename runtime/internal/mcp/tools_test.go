package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// media are resources that the tool read_resource answers with, and the oldest revision in which their block is media;
// empty for never.
var media = []struct {
	uri, mimeType       string
	kind                abi.Kind
	block, since, shown string // shown is the MIME type in the block, if that is another
}{
	{"media://picture", "image/png", abi.KindBlob, "image", "2024-11-05", ""},
	{"media://photo", "Image/JPEG; x=y", abi.KindBlob, "image", "2024-11-05", "image/jpeg"},
	{"media://sound", "audio/ogg; codecs=opus", abi.KindBlob, "audio", "2025-03-26", ""},
	{"media://drawing", "image/svg+xml", abi.KindBlob, "", "", ""},
	{"media://ascii", "image/x-ascii", abi.KindText, "", "", ""},
	{"media://film", "video/mp4", abi.KindBlob, "", "", ""},
	{"media://wrong", "image/*", abi.KindBlob, "", "", ""},
	{"media://unknown", "", abi.KindBlob, "", "", ""},
}

func mediaSource() *mcptest.Source {
	s := mcptest.New()
	for _, m := range media {
		s.Handle(abi.Resource{URI: m.uri, Name: "m", MIMEType: m.mimeType, Priority: math.NaN()},
			func(_ context.Context, _ *resource.Request, sink abi.Sink) (*abi.Reply, error) {
				c := &abi.Content{URI: m.uri, MIMEType: m.mimeType, Kind: m.kind, ETag: "e", Meta: `{"a":1}`}
				return &abi.Reply{}, mcptest.Send(sink, c, []byte("data"))
			})
	}
	return s
}

// TestToolsAnswerAsTheirRevisionCan calls the tools in each revision on both transports: pictures and sound are blocks of
// their own, others embedded resources, and entries of lists structured content with links.
func TestToolsAnswerAsTheirRevisionCan(t *testing.T) {
	for _, revision := range mcptest.Revisions() {
		for name, dial := range map[string]func(*testing.T, *mcptest.Source) peer{"stdio": dialStdio, "HTTP": dialHTTP} {
			t.Run(revision+" "+name, func(t *testing.T) {
				p := dial(t, mediaSource())
				call := func(method, params string) []byte {
					t.Helper()
					if !mcp.Revision(revision).Legacy() {
						params = strings.TrimSuffix(meta+","+params, ",")
					}
					all := p.ask(t, revision, method, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params))
					answer := all[len(all)-1]
					holds(t, revision, method, answer)
					return answer
				}
				if mcp.Revision(revision).Legacy() {
					call("initialize", `"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}`)
					p.ask(t, revision, "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				}
				listWithTools(t, revision, call)
				readWithTools(t, revision, call)
			})
		}
	}
}

func listWithTools(t *testing.T, revision string, call func(method, params string) []byte) {
	tools := string(call("tools/list", ""))
	list := call("tools/call", `"name":"list_resources"`)
	if err := mcptest.CheckOutput(tools, "list_resources", list); err != nil {
		t.Errorf("%v: %s", err, list)
	}
	structured := revision >= "2025-06-18"
	links := strings.Count(string(list), `{"type":"resource_link","uri":"media://`)
	if structured != strings.Contains(tools, `"$schema":"https://json-schema.org/draft/2020-12/schema"`) ||
		structured != (links == len(media)) || !structured && links > 0 {
		t.Errorf("got %d links in %s, of %s", links, list, tools)
	}
	read := call("tools/call", `"name":"read_resource","arguments":{"uri":"media://picture"}`)
	if err := mcptest.CheckOutput(tools, "read_resource", read); err != nil {
		t.Errorf("%v: %s", err, read)
	}
}

func readWithTools(t *testing.T, revision string, call func(method, params string) []byte) {
	for _, m := range media {
		answer := call("tools/call", fmt.Sprintf(`"name":"read_resource","arguments":{"uri":%q}`, m.uri))
		var got struct {
			Result struct {
				Content []struct {
					Type, MIMEType, Data string
					Meta                 map[string]any `json:"_meta"`
					Resource             struct{ URI, Blob, Text string }
				}
			}
		}
		if err := json.Unmarshal(answer, &got); err != nil || len(got.Result.Content) != 1 {
			t.Errorf("%s: got %s, %v", m.uri, answer, err)
			continue
		}
		c := got.Result.Content[0]
		if m.since == "" || revision < m.since {
			if c.Type != "resource" || c.Resource.URI != m.uri || c.Resource.Text+c.Resource.Blob == "" {
				t.Errorf("%s: got %s, want an embedded resource", m.uri, answer)
			}
			continue
		}
		if c.Type != m.block || c.MIMEType != cmp.Or(m.shown, m.mimeType) || c.Data != "ZGF0YQ==" {
			t.Errorf("%s: got %s, want a block of type %s", m.uri, answer, m.block)
		}
		want := map[string]any{"a": 1.0, "io.github.wasmres/etag": "e", "io.github.wasmres/uri": m.uri}
		if revision < "2025-06-18" {
			want = nil
		}
		if fmt.Sprint(c.Meta) != fmt.Sprint(want) {
			t.Errorf("%s: got _meta %v, want %v", m.uri, c.Meta, want)
		}
	}
}
