package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// start runs the provider with an empty store, at a time that the test moves.
func start(t *testing.T) (p *wasmrestest.Provider, now *time.Time) {
	now = new(time.Time)
	*now = time.Date(2026, 11, 22, 23, 30, 0, 0, time.UTC)
	p = wasmrestest.New(t)
	p.KV = &wasmrestest.KV{}
	p.Config = map[string]string{countLookups: "true"}
	p.Now = func() time.Time { return *now }
	return p, now
}

// look looks words up.
func look(t *testing.T, p *wasmrestest.Provider, words ...string) {
	t.Helper()
	for _, word := range words {
		if got, want := p.Text("memory://word/"+word), glossary[word]+"\n"; got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}

func expect(t *testing.T, p *wasmrestest.Provider, values map[string]string) {
	t.Helper()
	for key, want := range values {
		if got := p.Text("memory://context/" + key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}

// A read writes nothing and sends no notice unless the operator wants that.
func TestReadsHaveNoEffects(t *testing.T) {
	for _, config := range []map[string]string{nil, {countLookups: "false"}, {countLookups: ""}} {
		p, _ := start(t)
		p.Config = config
		look(t, p, "tool", "resource")
		if listed := p.List(); len(listed) != 0 {
			t.Errorf("%v: a read wrote %v", config, listed)
		}
		if len(p.Notices) > 0 {
			t.Errorf("%v: a read told of %q", config, p.Notices)
		}
	}
}

func TestLookupsAreRemembered(t *testing.T) {
	p, now := start(t)
	look(t, p, "tool", "resource", "tool")
	*now = now.Add(time.Hour) // the next day
	look(t, p, "cursor")
	expect(t, p, map[string]string{
		"since": "2026-11-22T23:30:00Z\n", "lookups": "4\n", "lookups/tool": "2\n", "lookups/cursor": "1\n",
		"days/2026-11-22": "3\n", "days/2026-11-23": "1\n", "recent": "cursor\ntool\nresource\n",
	})
	for _, uri := range []string{"memory://context/nothing", "memory://word/nothing"} {
		if _, err := p.Read(uri); !errors.Is(err, wasmres.ErrNotFound) {
			t.Errorf("%s: got %v, want not found", uri, err)
		}
	}
	expect(t, p, map[string]string{"lookups": "4\n"})
}

func TestSomeIsForgotten(t *testing.T) {
	p, now := start(t)
	look(t, p, words()...)
	if got := strings.Fields(p.Text("memory://context/recent")); len(got) != recentKept || got[0] != "tool" {
		t.Errorf("got %v", got)
	}
	*now = now.Add(day)
	look(t, p, "client")
	expect(t, p, map[string]string{"recent": "client\n", "days/2026-11-22": "12\n"})
	*now = now.Add(daysKept*day - time.Second)
	if _, err := p.Read("memory://context/days/2026-11-22"); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	expect(t, p, map[string]string{"days/2026-11-23": "1\n", "lookups": "13\n"})
}

func TestWhatIsRememberedIsListed(t *testing.T) {
	p, _ := start(t)
	if got := p.List(); len(got) > 0 {
		t.Errorf("at first there is %v", got)
	}
	look(t, p, "tool", "client")
	want := []string{"days/2026-11-22", "lookups", "lookups/client", "lookups/tool", "recent", "since"}
	for _, size := range []int{1, 2, 4, 6, 100} {
		p.PageSize = size
		var got []string
		for _, e := range p.List() {
			got = append(got, e.Name)
			if e.URI != "memory://context/"+e.Name || e.Size != uint64(len(p.Text(e.URI))) {
				t.Errorf("got %+v", e)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %v, want %v", size, got, want)
		}
	}
	got, err := p.Complete("memory://context/{+key}", "key", "lookups/", nil)
	if !slices.Equal(got, []string{"lookups/client", "lookups/tool"}) || err != nil {
		t.Errorf("complete: got %v, %v", got, err)
	}
	if got, err := p.Complete("memory://word/{word}", "word", "c", nil); len(got) != 4 || err != nil {
		t.Errorf("complete: got %v, %v", got, err)
	}
	for i := range 150 {
		p.KV.Set(fmt.Sprintf("many/%03d", i), "")
	}
	if got, err := p.Complete("memory://context/{+key}", "key", "many/", nil); len(got) != 100 || err != nil {
		t.Errorf("complete: got %d keys, %v", len(got), err)
	}
}

func TestFollowersAreTold(t *testing.T) {
	p, _ := start(t)
	look(t, p, "tool")
	want := []string{"since", "lookups", "lookups/tool", "days/2026-11-22", "recent"}
	for i := range want {
		want[i] = contextURI + want[i]
	}
	want = append(want, "") // the list
	if !slices.Equal(p.Notices, want) {
		t.Errorf("got %q, want %q", p.Notices, want)
	}
	p.Notices = nil
	look(t, p, "tool")
	if want = want[1:5]; !slices.Equal(p.Notices, want) {
		t.Errorf("got %q, want %q", p.Notices, want)
	}
}

func TestValuesCanBeWatched(t *testing.T) {
	p, _ := start(t)
	const lookups = "memory://context/lookups"
	if every, err := p.Subscribe(lookups); every != watchEvery || err != nil {
		t.Errorf("got %v, %v", every, err)
	}
	poll := func(etag string, want bool) string {
		t.Helper()
		now, changed, err := p.Poll(lookups, etag)
		if changed != want || err != nil {
			t.Errorf("from %q to %q: changed %t, %v; want %t", etag, now, changed, err, want)
		}
		return now
	}
	none := poll("", true)
	poll(none, false)
	look(t, p, "tool")
	one := poll(none, true)
	if contents, err := p.Read(lookups); err != nil || contents[0].ETag != one {
		t.Errorf("read: got %+v, %v, want the etag %s", contents, err, one)
	}
	look(t, p, "client")
	poll(poll(one, true), false)
}

// Clients that write to the folder need no tool for it: its files are resources beside the values.
func TestFilesOfTheFolder(t *testing.T) {
	const history = "memory://context/conversation_history"
	p, _ := start(t)
	p.KV.Set("since", "today\n")
	p.KV.Set("tool", "1\n")
	folderOf := func(text string) fstest.MapFS {
		return fstest.MapFS{"conversation_history.md": {Data: []byte(text)}, "logo.txt": {Data: []byte{0xff}}, ".hidden.md": {},
			"x.exe": {}, "sub/y.md": {}, "since.txt": {Data: []byte("file\n")}}
	}
	p.Mounts = map[string]fs.FS{folder: folderOf("- Ada: hello\n")}
	contents, err := p.Read(history)
	if err != nil || string(contents[0].Data) != "- Ada: hello\n" || contents[0].MIME != "text/markdown" || !contents[0].Text {
		t.Errorf("got %+v, %v", contents, err)
	}
	if got := p.Bytes("memory://context/logo"); got[0] != 0xff {
		t.Errorf("got %q", got)
	}
	expect(t, p, map[string]string{"since": "file\n"})
	for _, size := range []int{1, 2, 3, 100} {
		p.PageSize = size
		var got []string
		for _, e := range p.List() {
			got = append(got, e.Name)
		}
		if want := []string{"conversation_history", "logo", "since", "tool"}; !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %q", size, got)
		}
	}
	if got, err := p.Complete("memory://context/{+key}", "key", "conv", nil); !slices.Equal(got, []string{"conversation_history"}) || err != nil {
		t.Errorf("complete: got %q, %v", got, err)
	}
	before, _, err := p.Poll(history, "")
	if before != contents[0].ETag || err != nil {
		t.Errorf("got %q, %v", before, err)
	}
	p.Mounts[folder] = folderOf("- Ada: hello\n- Bob: hello\n")
	if _, changed, err := p.Poll(history, before); !changed || err != nil {
		t.Errorf("got changed %t, %v", changed, err)
	}
	if len(p.Notices) > 0 {
		t.Errorf("reading sent %q", p.Notices)
	}
	p.KV = nil
	if _, err := p.Read("memory://context/gone"); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	if now, _, err := p.Poll("memory://context/gone", ""); err != nil {
		t.Errorf("got %q, %v", now, err)
	}
	p.Mounts[folder] = fstest.MapFS{"large.md": {Data: make([]byte, fileMax+1)}}
	if _, err := p.Read("memory://context/large"); !errors.Is(err, wasmres.ErrTooLarge) {
		t.Errorf("got %v, want too large", err)
	}
}

func TestWithoutAStore(t *testing.T) {
	p, _ := start(t)
	p.KV = nil
	look(t, p, "tool")
	if got := p.List(); len(got) > 0 || len(p.Notices) > 0 || len(p.Logs) > 0 {
		t.Errorf("got %v, notices %v, logs %v", got, p.Notices, p.Logs)
	}
	if got, err := p.Complete("memory://context/{+key}", "key", "", nil); len(got) > 0 || err != nil {
		t.Errorf("complete: got %v, %v", got, err)
	}
	_, err := p.Read("memory://context/lookups")
	if !errors.Is(err, wasmres.ErrDenied) || !strings.Contains(err.Error(), "--kv") {
		t.Errorf("got %v, want denied", err)
	}
}
