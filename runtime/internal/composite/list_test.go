package composite_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/composite"
	"github.com/wasmres/wasmres/runtime/resource"
)

func TestAListHasTheEntriesOfEachMemberInTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		entries  []int
		own      []int // page sizes the members keep to
		pageSize int
		pages    int
	}{
		"one page":                      {[]int{2, 3, 4}, []int{0, 0, 0}, 10, 1},
		"ends where a member does":      {[]int{5, 5}, []int{0, 0}, 5, 2},
		"pages that span members":       {[]int{7, 1, 8}, []int{0, 0, 0}, 5, 4},
		"one entry a page":              {[]int{2, 0, 2}, []int{0, 0, 0}, 1, 4},
		"members without entries":       {[]int{0, 3, 0, 0}, []int{0, 0, 0, 0}, 2, 2},
		"nothing at all":                {[]int{0, 0}, []int{0, 0}, 2, 1},
		"smaller pages of a member":     {[]int{7, 2}, []int{3, 0}, 5, 3},
		"a member that gives too much":  {[]int{3, 20}, []int{0, 100}, 5, 5},
		"members that all ignore limit": {[]int{11, 12, 13}, []int{4, 5, 1000}, 3, 14},
	} {
		t.Run(name, func(t *testing.T) {
			sources := fakes(tt.entries...)
			var want, wantTemplates []string
			for i, f := range sources {
				f.pageSize = tt.own[i]
				want, wantTemplates = append(want, numbered(f, "")...), append(wantTemplates, numbered(f, "/{x}")...)
			}
			s := compose(t, composite.Config{Members: members(sources), PageSize: tt.pageSize})
			got, pages := all(t, s.List, tt.pageSize)
			if !slices.Equal(got, want) || pages != tt.pages {
				t.Errorf("got %v on %d pages, want %v on %d", got, pages, want, tt.pages)
			}
			if got, _ := all(t, s.Templates, tt.pageSize); !slices.Equal(got, wantTemplates) {
				t.Errorf("templates: got %v, want %v", got, wantTemplates)
			}
		})
	}
}

func TestNoMemberIsAskedForMoreThanThereIsRoomFor(t *testing.T) {
	sources := fakes(3, 0, 9)
	s := compose(t, composite.Config{Members: members(sources), PageSize: 5})
	first, err := s.List(t.Context(), &resource.Request{Meta: `{"a":1}`, Session: "s", Principal: &abi.Principal{Subject: "ada"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint32{5, 2, 2} {
		asked := sources[i].requests()
		if len(asked) != 1 || asked[0].Limit != want || asked[0].Cursor != "" {
			t.Fatalf("%s was asked %+v, want once, for %d from the start", sources[i].name, asked, want)
		}
		if a := asked[0]; a.Meta != `{"a":1}` || a.Session != "s" || a.Principal == nil || a.Principal.Subject != "ada" {
			t.Errorf("%s was asked %+v, want what the request says", sources[i].name, a)
		}
	}
	if _, err := s.List(t.Context(), &resource.Request{Cursor: first.NextCursor}); err != nil {
		t.Fatal(err)
	}
	if a, c := sources[0].requests(), sources[2].requests(); len(a) != 0 || len(c) != 1 || c[0].Limit != 5 || c[0].Cursor != "2" {
		t.Errorf("second page: a was asked %+v, c %+v", a, c)
	}
}

func TestAMillionEntriesAreNeverHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("it lists a million entries")
	}
	const pageSize, total = 1000, 1_000_000
	sources := fakes(300_001, 0, 699_999)
	s := compose(t, composite.Config{Members: members(sources), PageSize: pageSize})
	req, listed, most := &resource.Request{}, 0, uint64(0)
	for {
		page, err := s.List(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if listed += len(page.Resources); len(page.Resources) > pageSize {
			t.Fatalf("a page has %d entries", len(page.Resources))
		}
		for _, f := range sources {
			for _, asked := range f.requests() {
				if asked.Limit > pageSize {
					t.Fatalf("%s was asked for %d", f.name, asked.Limit)
				}
			}
		}
		if listed%100_000 < pageSize {
			most = max(most, heap())
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	if listed != total || most > 64<<20 {
		t.Errorf("got %d entries and %d bytes in use, want %d and at most 64 MiB", listed, most, total)
	}
}

// heap returns the bytes in use.
func heap() uint64 {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestWhatBelongsToAnotherIsLeftOut(t *testing.T) {
	sources := fakes(3, 3)
	all2 := members(sources)
	all2[1].Claims = composite.Claims{Rest: true, Resources: []string{"a:1"}}
	s := compose(t, composite.Config{Members: all2, PageSize: 4})
	got, _ := all(t, s.List, 4)
	if want := []string{"a:0", "a:2", "b:0", "b:1", "b:2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: a:1 is b's", got, want)
	}
	for _, uri := range got {
		if body, err := read(t.Context(), s, uri); err != nil || body != uri[:1] {
			t.Errorf("%s is listed and read as %q, %v", uri, body, err)
		}
	}
}

func TestAMembersMemoryIsNotWrittenTo(t *testing.T) {
	shared := []abi.Resource{{URI: "a:0", Name: "e"}, {URI: "b:0", Name: "foreign"}, {URI: "a:2", Name: "e"}, {URI: "a:3", Name: "e"}}
	before := slices.Clone(shared)
	a := &static{list: shared}
	s := compose(t, composite.Config{PageSize: 10, Members: []composite.Member{
		{Name: "a", Source: a, Claims: composite.Claims{Prefixes: []string{"a:"}}},
		{Name: "b", Source: &fake{name: "b", entries: 3}, Claims: composite.Claims{Prefixes: []string{"b:"}}},
	}})
	if got, _ := all(t, s.List, 10); len(got) != 6 {
		t.Errorf("got %v", got)
	}
	a.list = shared[:1] // with room for more behind it
	if got, _ := all(t, s.List, 10); len(got) != 4 {
		t.Errorf("got %v", got)
	}
	for i := range shared {
		if shared[i].URI != before[i].URI || shared[i].Name != before[i].Name {
			t.Errorf("entry %d was overwritten: %+v", i, shared[i])
		}
	}
}

// A static source gives a list that it keeps.
type static struct {
	fake
	list []abi.Resource
}

func (s *static) List(context.Context, *resource.Request) (*abi.Reply, error) {
	return &abi.Reply{Resources: s.list}, nil
}

func TestWhoMayKeepAPageAndForHowLong(t *testing.T) {
	const public, private = abi.CachePublic, abi.CachePrivate
	for name, tt := range map[string]struct {
		scopes   [2]abi.CacheScope
		ttls     [2]uint64
		pageSize int
		fail     bool
		want     []abi.Reply // of each page
	}{
		"all public":          {[2]abi.CacheScope{public, public}, [2]uint64{9, 7}, 10, false, []abi.Reply{{TTLMillis: 7, CacheScope: public}}},
		"one is private":      {[2]abi.CacheScope{public, private}, [2]uint64{3, 7}, 10, false, []abi.Reply{{TTLMillis: 3, CacheScope: private}}},
		"first is private":    {[2]abi.CacheScope{private, public}, [2]uint64{3, 7}, 10, false, []abi.Reply{{TTLMillis: 3, CacheScope: private}}},
		"one may not be kept": {[2]abi.CacheScope{public, public}, [2]uint64{0, 7}, 10, false, []abi.Reply{{CacheScope: public}}},
		"several pages agree": {[2]abi.CacheScope{public, public}, [2]uint64{9, 7}, 2, false, []abi.Reply{{TTLMillis: 9}, {TTLMillis: 7}}},
		"degraded":            {[2]abi.CacheScope{public, public}, [2]uint64{9, 7}, 10, true, []abi.Reply{{}}},
	} {
		t.Run(name, func(t *testing.T) {
			sources := fakes(2, 2)
			for i, f := range sources {
				f.scope, f.ttl = tt.scopes[i], tt.ttls[i]
			}
			if tt.fail {
				sources[1].fail = func(context.Context) error { return errBroken }
			}
			s := compose(t, composite.Config{Members: members(sources), PageSize: tt.pageSize})
			req := &resource.Request{}
			for i, want := range tt.want {
				got, err := s.List(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				if got.TTLMillis != want.TTLMillis || got.CacheScope != want.CacheScope {
					t.Errorf("page %d: got %d ms, scope %d, want %d, %d", i, got.TTLMillis, got.CacheScope, want.TTLMillis, want.CacheScope)
				}
				req.Cursor = got.NextCursor
			}
			if req.Cursor != "" {
				t.Error("there are more pages")
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	kept := make([]abi.Resource, 1000)
	for i := range kept {
		kept[i] = abi.Resource{URI: fmt.Sprintf("a:entry/%d", i), Name: "e"}
	}
	direct := &static{list: kept}
	claims := composite.Claims{Prefixes: []string{"a:"}, Templates: []string{"a:entry/{id}"}, Resources: []string{"a:one"}}
	s := compose(b, composite.Config{PageSize: 1000, Members: []composite.Member{
		{Name: "a", Source: direct, Claims: claims}, {Name: "b", Source: &fake{name: "b"}, Claims: composite.Claims{Prefixes: []string{"b:"}}},
		{Name: "c", Source: &fake{name: "c"}, Claims: composite.Claims{Prefixes: []string{"c:"}, Templates: []string{"c:{x}"}}},
	}})
	for name, list := range map[string]lister{"direct": direct.List, "composite": s.List} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if page, err := list(b.Context(), &resource.Request{}); err != nil || len(page.Resources) != 1000 {
					b.Fatal(err)
				}
			}
		})
	}
}
