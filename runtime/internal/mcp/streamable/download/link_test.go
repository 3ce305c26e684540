package download_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// A linked is a resource or content with its _meta.
type linked struct {
	URI  string
	Meta map[string]json.RawMessage `json:"_meta"`
}

func (l *linked) link(t *testing.T) (link string) {
	t.Helper()
	if raw := l.Meta["io.github.wasmres/download"]; raw != nil {
		if err := json.Unmarshal(raw, &link); err != nil {
			t.Fatal(err)
		}
	}
	return link
}

// The links in lists and contents lead to downloads.
func TestLinks(t *testing.T) {
	const large = 1 << 20
	uris := map[string]bool{"test://a": true, "test://with/meta": true, "test://a+b/é?q=1&r=%252F#f": true, "test://small": false}
	s := mcptest.New()
	for uri, big := range uris {
		uri = abi.NormalURI(uri)
		f := &file{body: bodyOf(uri), head: abi.Content{URI: uri}}
		r := abi.Resource{URI: uri, Name: "x", Size: large - 1, Priority: math.NaN()}
		if big {
			r.Size = large
		}
		if uri == "test://with/meta" {
			r.Meta = `{"a":1}`
		}
		s.Handle(r, f.read)
	}
	h := streamtest.NewHandler(t, s, streamable.Config{})
	var list struct {
		Result struct{ Resources, Contents []linked }
	}
	if status, _, answer := streamtest.Do(h, streamtest.Post(streamtest.Body("1", "resources/list", ""))); status != 200 || json.Unmarshal([]byte(answer), &list) != nil {
		t.Fatalf("got %d, %s", status, answer)
	}
	for _, r := range list.Result.Resources {
		if link := r.link(t); (link != "") != (r.URI != "test://small") {
			t.Errorf("%s has the link %q", r.URI, link)
		} else if link != "" {
			follow(t, h, r.URI, link)
		}
		window := strings.Replace(streamtest.Body("1", "resources/read", `"uri":"`+r.URI+`"`), `"_meta":{`, `"_meta":{"io.github.wasmres/window":{},`, 1)
		list.Result.Contents = nil
		status, _, answer := streamtest.Do(h, streamtest.Post(window))
		if status != 200 || json.Unmarshal([]byte(answer), &list) != nil || len(list.Result.Contents) != 1 {
			t.Fatalf("%s: got %d, %s", r.URI, status, answer)
		}
		if link := list.Result.Contents[0].link(t); (link != "") != (r.URI != "test://small") {
			t.Errorf("a window of %s has the link %q", r.URI, link)
		} else if link != "" {
			follow(t, h, r.URI, link)
		}
	}
	if len(list.Result.Resources) != len(uris) {
		t.Errorf("got %d resources, want %d", len(list.Result.Resources), len(uris))
	}
}

// bodyOf returns the body of a resource, which is small for "test://small".
func bodyOf(uri string) string {
	if uri == "test://small" {
		return "small"
	}
	return strings.Repeat(uri, (1<<20)/len(uri)+1)
}

// follow resolves a link against the URL of the endpoint, and downloads that.
func follow(t *testing.T, h http.Handler, uri, link string) {
	t.Helper()
	endpoint, err := url.Parse("http://mcp.test" + streamable.Path)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := endpoint.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := serve(h, httptest.NewRequest(http.MethodGet, ref.String(), nil))
	if w.Code != 200 || w.Body.String() != bodyOf(uri) {
		t.Errorf("%s, link %s: got %d, %.100s", uri, link, w.Code, w.Body)
	}
}
