package abitest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

const plain = "text/plain"

func (k *kit) testReads(t *testing.T) {
	const echo, join, many = "kit://echo/{value}", "kit://join{/part*}", "kit://many/{i}"
	blob := "application/octet-stream"
	nobody := &abi.Request{URI: "kit://principal"}
	ada := &abi.Request{URI: "kit://principal", Principal: &abi.Principal{Subject: "ada", Tenant: "acme", Scopes: []string{"read"}, Claims: `{"a":1}`}}
	for name, c := range map[string]struct {
		req  *abi.Request
		mime string
		kind abi.Kind
		body string
	}{
		"text":         {&abi.Request{URI: "kit://text"}, plain, abi.KindText, Text},
		"blob":         {&abi.Request{URI: "kit://blob"}, blob, abi.KindBlob, pattern(0, 256)},
		"empty":        {&abi.Request{URI: "kit://empty"}, "", abi.KindText, ""},
		"nobody":       {nobody, "", abi.KindText, "nobody"},
		"principal":    {ada, "", abi.KindText, "ada/acme"},
		"echo":         {k.routed(t, echo, "kit://echo/a%20b", "value", "a b"), plain, abi.KindText, "a b"},
		"echo unicode": {k.routed(t, echo, "kit://echo/x", "value", "Grüße, 世界 🌍"), plain, abi.KindText, "Grüße, 世界 🌍"},
		"echo nothing": {k.routed(t, echo, "kit://echo/", "value", ""), plain, abi.KindText, ""},
		"join one":     {k.routed(t, join, "kit://join/a", "part", "a"), "", abi.KindText, "a"},
		"join three":   {k.routed(t, join, "kit://join/a/b/c", "part", "a", "part", "b", "part", "c"), "", abi.KindText, "a|b|c"},
		"join empties": {k.routed(t, join, "kit://join///", "part", "", "part", "", "part", ""), "", abi.KindText, "||"},
		"many":         {k.routed(t, many, "kit://many/25", "i", "25"), "", abi.KindText, "25"},
	} {
		t.Run(name, func(t *testing.T) {
			got := one(t, k.ask(t, abi.OpRead, c.req))
			wantContent(t, got, c.req.URI, c.mime, c.kind, c.body)
		})
	}
}

func (k *kit) testConditional(t *testing.T) {
	read := func(condition string) Content {
		t.Helper()
		return one(t, k.ask(t, abi.OpRead, &abi.Request{URI: "kit://text", IfNoneMatch: condition}))
	}
	for _, condition := range []string{"", `"v0"`} {
		got := read(condition)
		wantContent(t, got, "kit://text", plain, abi.KindText, Text)
		if got.ETag != etag || got.NotModified {
			t.Errorf("if_none_match %s: got etag %s, not_modified %v", condition, got.ETag, got.NotModified)
		}
	}
	if got := read(etag); !got.NotModified || got.URI != "kit://text" || len(got.Body) > 0 {
		t.Errorf("if_none_match %s: got not_modified %v of %s with %d bytes", etag, got.NotModified, got.URI, len(got.Body))
	}
}

func (k *kit) testSeveral(t *testing.T) {
	got := k.succeed(t, abi.OpRead, &abi.Request{URI: "kit://several"}).Contents
	if len(got) != 2 {
		t.Fatalf("got %d contents, want two", len(got))
	}
	wantContent(t, got[0], "kit://several/1", "", abi.KindText, "one")
	wantContent(t, got[1], "kit://several/2", "", abi.KindBlob, "\x02")
}

func (k *kit) testFailures(t *testing.T) {
	for code := abi.CodeNotFound; code <= abi.CodeInternal; code++ {
		t.Run(code.String(), func(t *testing.T) {
			n := fmt.Sprint(uint32(code))
			o := k.ask(t, abi.OpRead, k.routed(t, "kit://fail/{code}", "kit://fail/"+n, "code", n))
			wantCode(t, o, code)
			if o.Reply.Error == nil || o.Reply.Error.Message != "failed as asked" {
				t.Fatalf("got error %+v, want the message %q", o.Reply.Error, "failed as asked")
			}
			if after := o.Reply.Error.RetryAfterMillis; (after == 1500) != (code == abi.CodeUnavailable) {
				t.Errorf("got retry_after_ms %d", after)
			}
		})
	}
	missing := k.ask(t, abi.OpRead, &abi.Request{URI: "kit://missing"})
	wantCode(t, missing, abi.CodeNotFound)
	if missing.Reply.Error == nil || missing.Reply.Error.Message != "nothing here" {
		t.Errorf("kit://missing: got error %+v", missing.Reply.Error)
	}
	wantCode(t, k.ask(t, abi.OpRead, &abi.Request{URI: "kit://of/no/such/kind"}), abi.CodeNotFound)
	wantCode(t, k.ask(t, abi.OpRead, k.routed(t, "kit://many/{i}", "kit://many/26", "i", "26")), abi.CodeNotFound)
}

func (k *kit) testStreams(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 4095, 4096, 4097, 65_537, 100_001, 1 << 20, 3<<20 + 7} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			req := k.stream(t, n)
			wantContent(t, one(t, k.ask(t, abi.OpRead, req)), req.URI, "", abi.KindBlob, pattern(0, n))
		})
	}
}

// testMemory has a guest send more than its memory has room for.
func (k *kit) testMemory(t *testing.T) {
	const n, memory = 64 << 20, 16 << 20
	req := k.stream(t, n)
	got := one(t, k.do(t, abi.OpRead, &Exchange{Request: req.Append(nil), Memory: memory}))
	if len(got.Body) != n {
		t.Fatalf("got %d bytes, want %d", len(got.Body), n)
	}
	for i, b := range got.Body {
		if b != byte(i) {
			t.Fatalf("byte %d is %d, want %d", i, b, byte(i))
		}
	}
}

func (k *kit) testRanges(t *testing.T) {
	const n = 10_000
	if m, _ := k.template(t, "kit://stream/{n}"); !m.Ranges {
		t.Skip("kit://stream/{n} does not say ranges")
	}
	for _, r := range []struct{ offset, length, want int }{
		{0, 100, 100}, {1, 1, 1}, {300, 5000, 5000}, {9_999, 100, 1}, {9_000, 0, 1000}, {n, 10, 0}, {n + 5, 10, 0},
	} {
		t.Run(fmt.Sprintf("%d+%d", r.offset, r.length), func(t *testing.T) {
			req := k.stream(t, n)
			req.RangeOffset, req.RangeLength = uint64(r.offset), uint64(r.length)
			got := one(t, k.ask(t, abi.OpRead, req))
			wantContent(t, got, req.URI, "", abi.KindBlob, pattern(r.offset, r.want))
			if got.RangeTotal != n {
				t.Errorf("range_total: got %d, want %d", got.RangeTotal, n)
			}
		})
	}
}

// testTooLarge lets the host refuse bytes: a guest that goes on, or takes that for success, fails.
func (k *kit) testTooLarge(t *testing.T) {
	req := k.stream(t, 1<<20)
	for name, told := range map[string]uint64{"told before": 100_000, "not told": 0} {
		t.Run(name, func(t *testing.T) {
			req.MaxBytes = told
			o := k.do(t, abi.OpRead, &Exchange{Request: req.Append(nil), MaxBody: 100_000})
			wantCode(t, o, abi.CodeTooLarge)
		})
	}
}

func (k *kit) testLargeRequest(t *testing.T) {
	value := strings.Repeat("0123456789abcdef", 4000)
	req := k.echo(t, value)
	if size := len(req.Append(nil)); size > abi.MaxRequest || size < abi.MaxRequest-2000 {
		t.Fatalf("the request has %d bytes", size)
	}
	wantContent(t, one(t, k.ask(t, abi.OpRead, req)), req.URI, plain, abi.KindText, value)
}
