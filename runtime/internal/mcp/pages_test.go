package mcp_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/resource"
)

// listed is a source whose list says for how long it stays good.
type listed struct {
	resource.Source
	asked   int
	version uint64
	ttl     time.Duration
	scope   abi.CacheScope
}

func (s *listed) List(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	s.asked++
	return &abi.Reply{
		Resources: []abi.Resource{{URI: "test://" + strconv.Itoa(s.asked), Name: "n" + req.Cursor}}, NextCursor: req.Cursor + "x",
		TTLMillis: uint64(s.ttl.Milliseconds()), CacheScope: s.scope,
	}, nil
}

// ListVersion implements [resource.Versioned].
func (s *listed) ListVersion() uint64 { return s.version }

func TestPagesAreKeptForAsLongAsTheySay(t *testing.T) {
	const first, second = `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + meta + `,"cursor":"x"}}`
	tests := []struct {
		name    string
		source  listed
		between func(s *listed) // two requests for the first page
		again   string
		want    int // times the source is asked
		ttl     string
	}{
		{"public", listed{ttl: time.Minute, scope: abi.CachePublic}, func(*listed) { time.Sleep(10 * time.Second) }, first, 1, `"ttlMs":50000`},
		{"another page", listed{ttl: time.Minute, scope: abi.CachePublic}, func(*listed) {}, second, 2, `"ttlMs":60000`},
		{"too old", listed{ttl: time.Minute, scope: abi.CachePublic}, func(*listed) { time.Sleep(time.Minute) }, first, 2, `"ttlMs":60000`},
		{"changed", listed{ttl: time.Minute, scope: abi.CachePublic}, func(s *listed) { s.version++ }, first, 2, `"ttlMs":60000`},
		{"private", listed{ttl: time.Minute, scope: abi.CachePrivate}, func(*listed) {}, first, 2, `"ttlMs":60000`},
		{"no time", listed{scope: abi.CachePublic}, func(*listed) {}, first, 2, `"ttlMs":0`},
		{
			"something the guest hears", listed{ttl: time.Minute, scope: abi.CachePublic}, func(*listed) {},
			strings.Replace(first, `"_meta":{`, `"_meta":{"trace":"1",`, 1), 2, `"ttlMs":60000`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core := newCore(t, mcp.Config{Source: &tt.source})
				answer := func(request string) string {
					m, failed := mcp.ParseMessage([]byte(request))
					if failed != nil {
						t.Fatal(failed)
					}
					out, failed := core.Answer(t.Context(), nil, m, mcp.ResponseStream{})
					if failed != nil {
						t.Fatal(failed)
					}
					return string(out)
				}
				before := answer(first)
				tt.between(&tt.source)
				after := answer(tt.again)
				if tt.source.asked != tt.want || !strings.Contains(after, tt.ttl) {
					t.Errorf("the source was asked %d times, want %d; got %s, want %s", tt.source.asked, tt.want, after, tt.ttl)
				}
				if body := cutTTL(before); tt.want == 1 && cutTTL(after) != body {
					t.Errorf("got %s, want %s", cutTTL(after), body)
				}
			})
		})
	}
}

// cutTTL returns an answer up to where it says for how long it stays good.
func cutTTL(answer string) string {
	head, _, _ := strings.Cut(answer, `,"ttlMs"`)
	return head
}

func TestPagesThatAreKeptAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes much memory")
	}
	for name, tt := range map[string]struct{ cursor, pages int }{"long cursors": {64 << 10, 200}, "small pages": {1, 40_000}} {
		t.Run(name, func(t *testing.T) { testPagesAreBounded(t, strings.Repeat("a", tt.cursor), tt.pages) })
	}
}

// testPagesAreBounded asks for many pages, whose cursors begin alike: the newest is kept, and the oldest is not.
func testPagesAreBounded(t *testing.T, prefix string, pages int) {
	s := &listed{ttl: time.Hour, scope: abi.CachePublic}
	core := newCore(t, mcp.Config{Source: s})
	page := func(cursor string) {
		m, failed := mcp.ParseMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + meta + `,"cursor":"` + cursor + `"}}`))
		if failed != nil {
			t.Fatal(failed)
		}
		if _, failed := core.Answer(t.Context(), nil, m, mcp.ResponseStream{}); failed != nil {
			t.Fatal(failed)
		}
	}
	for i := range pages {
		page(prefix + strconv.Itoa(i))
	}
	before := s.asked
	page(prefix + strconv.Itoa(pages-1))
	page(prefix + "0")
	if s.asked != before+1 {
		t.Errorf("the source was asked %d times more, want once: the newest page is kept, the oldest is not", s.asked-before)
	}
}

// BenchmarkCachedPage is a list that the cache answers.
func BenchmarkCachedPage(b *testing.B) {
	core := newCore(b, mcp.Config{Source: &listed{ttl: time.Hour, scope: abi.CachePublic}})
	request := []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + meta + `}}`)
	b.ReportAllocs()
	for b.Loop() {
		m, _ := mcp.ParseMessage(request)
		if _, err := core.Answer(b.Context(), make([]byte, 0, 1024), m, mcp.ResponseStream{}); err != nil {
			b.Fatal(err)
		}
	}
}
