package node_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
)

// A client of either era is shown what the roles of its key allow, and of the rest as little as if it did not exist.
func TestWhatClientsAreShownInBothEras(t *testing.T) {
	module := guesttest.File(t, "everything")
	text := fmt.Sprintf(`providers: {p: {module: %q}}
roles:
  reader: [{uris: ["test://watched-resource", "test://action/touch", "test://log/in*"]}]
`, module)
	h := hostOpen(t, "", guesttest.CacheDir(t), map[string]string{"open": fmt.Sprintf("providers: {p: {module: %q}}\n", module)})
	data := h.Settings().Data
	file := func(id string) string { return filepath.Join(data, "tenants", id+".yaml") }
	for _, id := range []string{"acme", "gone"} {
		write(t, file(id), text)
	}
	reload := func() {
		t.Helper()
		if r, err := h.Reload(t.Context()); err != nil || len(r.Problems) > 0 {
			t.Fatal(r.Problems, err)
		}
	}
	reload()
	sessions := map[string]string{}
	for _, id := range []string{"acme", "gone"} {
		h.keys[id] = h.newKey(id)
		sessions[id] = h.initialize(id)
	}
	yaml, err := os.ReadFile(file("gone"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, file("gone"), "disabled: true\n"+string(bytes.TrimSpace(yaml))+"\n")
	reload()
	sessions["missing"], h.keys["missing"] = sessions["acme"], h.keys["acme"]
	complete := func(template, arg, value string) map[string]any {
		return map[string]any{
			"ref": map[string]any{"type": "ref/resource", "uri": template}, "argument": map[string]any{"name": arg, "value": value},
		}
	}
	type want struct {
		status int    // 0 for any
		has    string // words
		lacks  string
	}
	for name, c := range map[string]struct {
		request
		newest, earlier want
	}{
		"an unknown tenant": {
			request{tenant: "missing", method: "resources/list"}, want{404, "", "watched"}, want{404, "", "watched"},
		},
		"a disabled tenant": {
			request{tenant: "gone", method: "resources/list"},
			want{403, `disabled "jsonrpc":"2.0" "code":"denied"`, "watched"}, want{403, `disabled "jsonrpc":"2.0" "code":"denied"`, "watched"},
		},
		"a download of a disabled tenant": {request{tenant: "gone", uri: "test://watched-resource"}, want{403, `"code":"denied"`, "Read"}, want{}},
		"a list": {
			request{method: "resources/list"},
			want{200, "test://watched-resource", "clock static entry- blob"}, want{200, "test://watched-resource", "clock static entry- blob"},
		},
		"templates": {
			request{method: "resources/templates/list"},
			want{200, "test://action/{what} test://log/{level}", "fault config entry"}, want{200, "test://action/{what} test://log/{level}", "fault config entry"},
		},
		"values of which one is hidden": {
			request{method: "completion/complete", params: complete("test://action/{what}", "what", "")},
			want{200, `"values":["touch"]`, "list-changed"}, want{200, `"values":["touch"]`, "list-changed"},
		},
		"values of a pattern": {
			request{method: "completion/complete", params: complete("test://log/{level}", "level", "")},
			want{200, `"values":["info"]`, "debug warn"}, want{200, `"values":["info"]`, "debug warn"},
		},
		"values of a hidden template": {
			request{method: "completion/complete", params: complete("test://fault/{kind}", "kind", "")},
			want{0, "-32602", "trap loop"}, want{0, "-32602", "trap loop"},
		},
		"values of no template": {
			request{method: "completion/complete", params: complete("test://none/{kind}", "kind", "")},
			want{0, "-32602", "trap loop"}, want{0, "-32602", "trap loop"},
		},
		"a hidden resource": {
			request{method: "resources/read", uri: "test://static-text"},
			want{0, `-32602 not_found "uri":"test://static-text"`, "content"}, want{0, `-32002 not_found`, "content"},
		},
		"no resource": {
			request{method: "resources/read", uri: "test://none"},
			want{0, `-32602 not_found "uri":"test://none"`, "content"}, want{0, `-32002 not_found`, "content"},
		},
		"a watch of one":     {request{method: "resources/subscribe", uri: "test://watched-resource"}, want{}, want{200, `"result":{}`, "error"}},
		"a hidden watch":     {request{method: "resources/subscribe", uri: "test://clock"}, want{}, want{0, "-32002", "result"}},
		"a watch of nothing": {request{method: "resources/subscribe", uri: "test://none"}, want{}, want{0, "-32002", "result"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.request
			if r.tenant == "" {
				r.tenant = "acme"
			}
			r.key = h.keys[r.tenant]
			for session, w := range map[string]want{"": c.newest, sessions[r.tenant]: c.earlier} {
				if w == (want{}) {
					continue
				}
				r.session = session
				got := h.do(r)
				if w.status != 0 && got.status != w.status {
					t.Errorf("session %q: got %d %s, want %d", session, got.status, got.body, w.status)
				}
				for _, word := range strings.Fields(w.has) {
					if !strings.Contains(got.body, word) {
						t.Errorf("session %q: %s lacks %s", session, got.body, word)
					}
				}
				for _, word := range strings.Fields(w.lacks) {
					if strings.Contains(got.body, word) {
						t.Errorf("session %q: %s has %s", session, got.body, word)
					}
				}
			}
		})
	}
	listen := request{tenant: "acme", key: h.keys["acme"], method: "subscriptions/listen", params: map[string]any{
		"notifications": map[string]any{"resourceSubscriptions": []string{"test://clock", "test://watched-resource"}},
	}}
	if told := h.firstEvent(listen); !strings.Contains(told, "test://watched-resource") || strings.Contains(told, "clock") {
		t.Errorf("a stream follows %s", told)
	}
}

// firstEvent returns the data of the first event of a stream.
func (h *hosted) firstEvent(r request) string {
	h.tb.Helper()
	resp, err := http.DefaultClient.Do(h.build(r))
	if err != nil {
		h.tb.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return data
		}
	}
	h.tb.Fatalf("a stream without an event, %d", resp.StatusCode)
	return ""
}
