package abitest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

const manyEntries = 25

func (k *kit) testList(t *testing.T) {
	for _, limit := range []uint32{0, 1, 7, 24, 25, 26, 1000} {
		t.Run(fmt.Sprintf("limit %d", limit), func(t *testing.T) {
			var got []string
			cursor := ""
			for page := 1; page == 1 || cursor != ""; page++ {
				if page > manyEntries+1 {
					t.Fatal("the pages do not end")
				}
				req := &abi.Request{Cursor: cursor, Limit: limit}
				o := k.do(t, abi.OpList, &Exchange{Request: req.Append(nil), Limit: limit})
				wantCode(t, o, abi.CodeOK)
				if limit > 0 && len(o.Reply.Resources) > int(limit) {
					t.Errorf("page %d has %d entries", page, len(o.Reply.Resources))
				}
				for _, r := range o.Reply.Resources {
					got = append(got, r.URI)
				}
				cursor = o.Reply.NextCursor
			}
			var want []string
			for i := range manyEntries {
				want = append(want, fmt.Sprintf("kit://many/%d", i+1))
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	wantCode(t, k.ask(t, abi.OpList, &abi.Request{Cursor: "no cursor of yours"}), abi.CodeInvalidParams)
}

func (k *kit) testComplete(t *testing.T) {
	template, _ := k.template(t, "kit://echo/{value}")
	if !slices.Contains(template.Completes, "value") {
		t.Errorf("the manifest does not say that %s completes value", template.URITemplate)
	}
	for typed, want := range map[string][]string{
		"": {"alpha", "beta", "bravo"}, "a": {"alpha"}, "al": {"alpha"}, "b": {"beta", "bravo"}, "alpha": {"alpha"}, "x": nil,
	} {
		req := &abi.Request{URI: template.URITemplate, Arg: "value", Value: typed}
		if got := k.succeed(t, abi.OpComplete, req).Reply; !slices.Equal(got.Completions, want) || got.CompletionMore {
			t.Errorf("%q: got %q, more %v, want %q", typed, got.Completions, got.CompletionMore, want)
		}
	}
}

func (k *kit) testWatch(t *testing.T) {
	subscribed := k.succeed(t, abi.OpSubscribe, &abi.Request{URI: "kit://text"}).Reply
	if subscribed.PollMillis != 1000 {
		t.Errorf("SUBSCRIBE: got poll_ms %d, want 1000", subscribed.PollMillis)
	}
	for condition, unchanged := range map[string]bool{"": false, `"v0"`: false, etag: true} {
		got := one(t, k.ask(t, abi.OpPoll, &abi.Request{URI: "kit://text", IfNoneMatch: condition}))
		if got.URI != "kit://text" || got.ETag != etag || got.NotModified != unchanged || len(got.Body) > 0 {
			t.Errorf("POLL, if_none_match %q: got %+v", condition, got)
		}
	}
}

func (k *kit) testServices(t *testing.T) {
	read := func(key string, config map[string]string) Outcome {
		t.Helper()
		req := k.routed(t, "kit://config/{key}", "kit://config/"+key, "key", key)
		return k.do(t, abi.OpRead, &Exchange{Request: req.Append(nil), Config: config})
	}
	config := map[string]string{"greeting": "Grüß Gott", "empty": "", "long": strings.Repeat("abcdefgh", 4<<10)}
	for key, value := range config {
		wantContent(t, one(t, read(key, config)), "kit://config/"+key, "", abi.KindText, value)
	}
	wantCode(t, read("absent", config), abi.CodeNotFound)
	wantCode(t, read("greeting", nil), abi.CodeNotFound) // not granted
}

func (k *kit) testUnknownOperations(t *testing.T) {
	for _, op := range []abi.Op{abi.OpEvent, 10, 31, 32, 33, 1000, 1<<31 + 2, 1<<32 - 1} {
		if !k.manifest.Implements(op) {
			wantCode(t, k.ask(t, op, &abi.Request{URI: "kit://text"}), abi.CodeUnsupported)
		}
	}
}

// testUnknownFields sends what a host of a later minor version might: new fields of every wire type, at every depth.
func (k *kit) testUnknownFields(t *testing.T) {
	_, route := k.template(t, "kit://echo/{value}")
	vars := append(slices.Clone(later), 0x0a, 5, 'v', 'a', 'l', 'u', 'e')
	vars = append(append(vars, later...), 0x12, 2, 'h', 'i')
	request := append(slices.Clone(later), (&abi.Request{URI: "kit://echo/hi", Route: route}).Append(nil)...)
	request = append(append(request, later...), 0x1a, byte(len(vars)))
	request = append(append(request, vars...), later...)
	got := one(t, k.do(t, abi.OpRead, &Exchange{Request: request}))
	wantContent(t, got, "kit://echo/hi", plain, abi.KindText, "hi")
}

// testMalformedRequest wants any code but ok; no host sends such bytes, but a guest must not run wild on them.
func (k *kit) testMalformedRequest(t *testing.T) { k.refuseMalformed(t, abi.OpRead) }

func (k *kit) refuseMalformed(t *testing.T, op abi.Op) {
	t.Helper()
	for _, request := range []string{"\x0a\x20kit://text", "\x0a", "\x00\x01", "\x0a\xff\xff\xff\xff\x0f"} {
		x := &Exchange{Request: []byte(request)}
		if o, err := x.Outcome(k.guest(t, op, x)); err != nil || o.Code == abi.CodeOK {
			t.Errorf("%q: got code %v, %v", request, o.Code, err)
		}
	}
}
