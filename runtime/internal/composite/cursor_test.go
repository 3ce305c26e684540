package composite_test

import (
	"bytes"
	"context"
	"encoding/base64"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/composite"
	"github.com/wasmres/wasmres/runtime/resource"
)

// cursorOf returns the cursor of the second page.
func cursorOf(t testing.TB, list lister) string {
	t.Helper()
	page, err := list(t.Context(), &resource.Request{})
	if err != nil || page.NextCursor == "" {
		t.Fatalf("got %+v, %v, want a page with a next one", page, err)
	}
	return page.NextCursor
}

func sharedKey() []byte { return bytes.Repeat([]byte("k"), 32) }

func TestForgedCursorsAreRefused(t *testing.T) {
	sources := fakes(9, 9)
	s := compose(t, composite.Config{Members: members(sources), PageSize: 4})
	good := cursorOf(t, s.List)
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	forged := map[string]string{
		"nonsense": "nonsense", "not base64": "%%%%", "own cursor": "4", "padded": good + "=", "doubled": good + good,
		"line end within": good[:4] + "\n" + good[4:], "line end behind": good + "\r\n", "no MAC": base64.RawURLEncoding.EncodeToString(raw[:len(raw)-16]),
		"MAC alone": base64.RawURLEncoding.EncodeToString(raw[len(raw)-16:]), "blank": " ", "NUL": "\x00",
		"too long": strings.Repeat("A", 1<<20),
		"old":      base64.RawURLEncoding.EncodeToString(append([]byte{0}, raw[1:]...)),
	}
	for i := range raw {
		b := bytes.Clone(raw)
		b[i] ^= 1
		forged["bit of byte "+string(rune('a'+i))] = base64.RawURLEncoding.EncodeToString(b)
		forged["first "+string(rune('a'+i))] = base64.RawURLEncoding.EncodeToString(raw[:i])
	}
	delete(forged, "first a") // the empty cursor is the start
	for name, cursor := range forged {
		for _, list := range []lister{s.List, s.Templates} {
			_, err := list(t.Context(), &resource.Request{Cursor: cursor})
			if abi.CodeOf(err) != abi.CodeInvalidParams || err.Error() != "invalid cursor" {
				t.Errorf("%s: got %v, want invalid cursor", name, err)
			}
		}
	}
	if n := len(sources[0].requests()) + len(sources[1].requests()); n != 1 {
		t.Errorf("the members were asked %d times, want only for the first page", n)
	}
}

func TestALongCursorIsNotDecoded(t *testing.T) {
	s := compose(t, composite.Config{Members: members(fakes(9))})
	cursor := strings.Repeat("A", 64<<20)
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	_, err := s.List(t.Context(), &resource.Request{Cursor: cursor})
	goruntime.ReadMemStats(&after)
	wantCode(t, "list", err, abi.CodeInvalidParams)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// A cursor has one spelling: bits of the last letter that stand for nothing are not ignored.
func TestACursorHasOneSpelling(t *testing.T) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	s := compose(t, composite.Config{Members: members(fakes(30)), PageSize: 12})
	good := cursorOf(t, s.List)
	if len(good)%4 == 0 {
		t.Fatal("the last letter has no such bits")
	}
	for _, letter := range letters {
		cursor := good[:len(good)-1] + string(letter)
		if _, err := s.List(t.Context(), &resource.Request{Cursor: cursor}); (err == nil) != (cursor == good) {
			t.Errorf("%s: got %v, given out was %s", cursor, err, good)
		}
	}
}

func TestACursorHoldsForItsListOnly(t *testing.T) {
	build := func(key []byte, names ...string) *composite.Source {
		var list []*fake
		for _, name := range names {
			list = append(list, &fake{name: name, entries: 9})
		}
		return compose(t, composite.Config{Members: members(list), PageSize: 4, Key: key})
	}
	cursor := cursorOf(t, build(sharedKey(), "a", "b").List)
	for name, tt := range map[string]struct {
		list lister
		want abi.Code
	}{
		"another process":    {build(sharedKey(), "a", "b").List, abi.CodeOK},
		"the other list":     {build(sharedKey(), "a", "b").Templates, abi.CodeInvalidParams},
		"another order":      {build(sharedKey(), "b", "a").List, abi.CodeInvalidParams},
		"another member":     {build(sharedKey(), "a", "c").List, abi.CodeInvalidParams},
		"one member more":    {build(sharedKey(), "a", "b", "c").List, abi.CodeInvalidParams},
		"one member less":    {build(sharedKey(), "a").List, abi.CodeInvalidParams},
		"names run together": {build(sharedKey(), "ab").List, abi.CodeInvalidParams},
		"another key":        {build(bytes.Repeat([]byte("q"), 32), "a", "b").List, abi.CodeInvalidParams},
		"a key of its own":   {build(nil, "a", "b").List, abi.CodeInvalidParams},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tt.list(t.Context(), &resource.Request{Cursor: cursor})
			wantCode(t, "second page", err, tt.want)
		})
	}
}

// A member's cursor comes back to it as it was, whatever is in it.
func TestACursorCarriesTheMembersOwn(t *testing.T) {
	for name, own := range map[string]string{
		"letters": "abc", "zeros": "\x00\x00", "not UTF-8": "\xff\xfe", "looks like ours": "\x01r\x00\x00", "longest": strings.Repeat("x", 5<<10),
	} {
		t.Run(name, func(t *testing.T) {
			b := &broken{reply: abi.Reply{NextCursor: own}}
			s := compose(t, composite.Config{Members: []composite.Member{{Name: "b", Source: b, Claims: composite.Claims{Rest: true}}}})
			cursor := cursorOf(t, s.List)
			b.requests()
			if _, err := s.List(t.Context(), &resource.Request{Cursor: cursor}); err != nil {
				t.Fatal(err)
			}
			if got := b.requests(); len(got) != 1 || got[0].Cursor != own {
				t.Errorf("got %.40v, want %.40q", got, own)
			}
		})
	}
}

// FuzzCursor lists from whatever a client comes up with: only what the source has given out is taken, byte for byte.
func FuzzCursor(f *testing.F) {
	sources := fakes(40, 7, 9)
	sources[1].pageSize = 100
	s := compose(f, composite.Config{Members: members(sources), PageSize: 3, Key: sharedKey()})
	given := map[string]bool{"": true}
	for _, list := range []lister{s.List, s.Templates} {
		req := &resource.Request{}
		for more := true; more; more = req.Cursor != "" {
			page, err := list(context.Background(), req)
			if err != nil {
				f.Fatal(err)
			}
			req.Cursor = page.NextCursor
			given[req.Cursor] = true
			f.Add(req.Cursor)
		}
	}
	for _, seed := range []string{"\x00", "AA", "AXIAAA", strings.Repeat("_", 60), strings.Repeat("A", 7000), "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		_, err := s.List(t.Context(), &resource.Request{Cursor: cursor})
		_, errTemplates := s.Templates(t.Context(), &resource.Request{Cursor: cursor})
		if taken := err == nil || errTemplates == nil; taken != given[cursor] {
			t.Errorf("cursor %q: got %v and %v, given out: %v", cursor, err, errTemplates, given[cursor])
		}
		for _, err := range []error{err, errTemplates} {
			if err != nil && abi.CodeOf(err) != abi.CodeInvalidParams {
				t.Errorf("cursor %q: got %v", cursor, err)
			}
		}
		if cursor != "" && err == nil && errTemplates == nil {
			t.Errorf("cursor %q goes for both lists", cursor)
		}
	})
}
