package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

func TestContents(t *testing.T) {
	p := wasmrestest.New(t)
	if got, want := p.Text("test://static-text"), "This is the content of the static text resource."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if picture, err := png.Decode(bytes.NewReader(p.Bytes("test://static-binary"))); err != nil || picture.Bounds().Dx() != 2 {
		t.Errorf("static-binary is no picture of two by two: %v", err)
	}
	for _, e := range p.Manifest().Resources {
		contents, err := p.Read(e.URI)
		if err != nil || e.Size != 0 && e.Size != uint64(len(contents[0].Data)) || e.Description == "" {
			t.Errorf("%s: %v, or its size is not %d, or it has no description", e.URI, err, e.Size)
		}
	}
	if got := p.Text("test://empty"); got != "" {
		t.Errorf("empty: got %q", got)
	}
	if got := p.Text("test://ünïcode/日本語"); !strings.Contains(got, "日本語") {
		t.Errorf("unicode: got %q", got)
	}
}

func TestTemplate(t *testing.T) {
	p := wasmrestest.New(t)
	if got, want := p.Text("test://template/123/data"), `{"id":"123","templateTest":true,"data":"Data for ID: 123"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var got struct{ ID string }
	if err := json.Unmarshal([]byte(p.Text("test://template/a%22%5C%01%C3%BC/data")), &got); err != nil || got.ID != "a\"\\\x01ü" {
		t.Errorf("got %q, %v", got.ID, err)
	}
	ids, err := p.Complete("test://template/{id}/data", "id", "12", nil)
	if want := []string{"12", "120", "121", "122", "123", "124", "125", "126", "127", "128", "129"}; !reflect.DeepEqual(ids, want) || err != nil {
		t.Errorf("got %v, %v, want %v", ids, err, want)
	}
}

func TestMulti(t *testing.T) {
	p := wasmrestest.New(t)
	contents, err := p.Read("test://multi")
	if err != nil || len(contents) != 2 || !contents[0].Text || contents[1].Text || contents[0].URI == contents[1].URI {
		t.Fatalf("got %v, %v", contents, err)
	}
	for _, c := range contents {
		alone, err := p.Read(c.URI)
		if err != nil || !reflect.DeepEqual(alone[0].Data, c.Data) {
			t.Errorf("%s alone: %v", c.URI, err)
		}
	}
}

func TestList(t *testing.T) {
	p := wasmrestest.New(t)
	p.PageSize = 777
	seen := make(map[string]bool)
	for _, e := range p.List() {
		if seen[e.URI] {
			t.Fatalf("%s is listed twice", e.URI)
		}
		seen[e.URI] = true
	}
	if len(seen) < entries+10 || !seen["test://entry/0"] || !seen["test://entry/9999"] {
		t.Errorf("got %d entries", len(seen))
	}
	if got := p.Text("test://entry/9999"); got != "This is entry 9999.\n" {
		t.Errorf("got %q", got)
	}
	for uri, class := range map[string]error{"10000": wasmres.ErrNotFound, "007": wasmres.ErrNotFound, "x": wasmres.ErrInvalid} {
		if _, err := p.Read("test://entry/" + uri); !errors.Is(err, class) {
			t.Errorf("entry %s: got %v, want %v", uri, err, class)
		}
	}
}

func TestBlobs(t *testing.T) {
	p := wasmrestest.New(t)
	for uri, size := range map[string]int{"test://blob/1m": mib, "test://blob/64m": 64 * mib} {
		got := p.Bytes(uri)
		if len(got) != size {
			t.Fatalf("%s: got %d bytes, want %d", uri, len(got), size)
		}
		for i := 0; i < size; i += 1 + i>>17*97 { // all of the first period, then one in ever more
			if want := byte((i*31 + (i >> 8)) & 0xff); got[i] != want {
				t.Fatalf("%s: byte %d is %#x, want %#x", uri, i, got[i], want)
			}
		}
	}
	got := p.Text("test://text/1m")
	if len(got) != mib || strings.Count(got, "=") == 0 || !utf8.ValidString(got) || !strings.ContainsAny(got, "\"") || !strings.Contains(got, "🙂") {
		t.Errorf("text/1m: %d bytes, UTF-8 %v", len(got), utf8.ValidString(got))
	}
}

func TestBlocksReadAsTheyWrite(t *testing.T) {
	stream := func() *blocks { return &blocks{block: pattern(), left: 100_000} }
	read, err := io.ReadAll(iotest.HalfReader(struct{ io.Reader }{stream()}))
	if err != nil {
		t.Error(err)
	}
	var written bytes.Buffer
	if n, err := stream().WriteTo(&written); n != 100_000 || err != nil || !bytes.Equal(read, written.Bytes()) {
		t.Errorf("read %d bytes, wrote %d, %v", len(read), n, err)
	}
}

func TestClock(t *testing.T) {
	p := wasmrestest.New(t)
	now := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	p.Now = func() time.Time { return now }
	contents, err := p.Read("test://clock")
	if err != nil || string(contents[0].Data) != "2026-11-21T01:02:03Z" || contents[0].ETag != strconv.FormatInt(now.Unix(), 10) {
		t.Fatalf("got %+v, %v", contents, err)
	}
	if every, err := p.Subscribe("test://clock"); every != time.Second || err != nil {
		t.Errorf("subscribe: got %v, %v", every, err)
	}
	if _, changed, err := p.Poll("test://clock", contents[0].ETag); changed || err != nil {
		t.Errorf("poll: changed %v, %v", changed, err)
	}
	now = now.Add(time.Second)
	if _, changed, err := p.Poll("test://clock", contents[0].ETag); !changed || err != nil {
		t.Errorf("poll a second later: changed %v, %v", changed, err)
	}
}

func TestActions(t *testing.T) {
	p := wasmrestest.New(t)
	p.Text("test://action/touch")
	p.Text("test://action/list-changed")
	if want := []string{"test://watched-resource", ""}; !reflect.DeepEqual(p.Notices, want) {
		t.Errorf("got notices %q, want %q", p.Notices, want)
	}
	for _, level := range []string{"debug", "info", "warn", "error"} {
		p.Text("test://log/" + level)
	}
	if len(p.Logs) != 4 || p.Logs[2].Level != "warn" {
		t.Errorf("got logs %v", p.Logs)
	}
	a, err := p.Do(wasmrestest.Request{URI: "test://progress"})
	if err != nil || len(a.Progress) != 3 || a.Progress[2] != (wasmrestest.Progress{Done: 3, Total: 3, Message: "step three"}) {
		t.Errorf("got %+v, %v", a, err)
	}
	p.Config = map[string]string{"greeting": "hi"}
	if got := p.Text("test://config/greeting"); got != "hi" {
		t.Errorf("config: got %q", got)
	}
	for _, uri := range []string{"test://config/other", "test://action/other", "test://log/other", "test://fault/other", "test://other"} {
		if _, err := p.Read(uri); !errors.Is(err, wasmres.ErrNotFound) {
			t.Errorf("%s: got %v, want not found", uri, err)
		}
	}
}

// TestFaults covers those a process survives; the others are for the tests of the host.
func TestFaults(t *testing.T) {
	p := wasmrestest.New(t)
	p.Deadline = 20 * time.Millisecond
	for kind, want := range map[string]string{"internal": "internal", "slow": "deadline", "badtext": "UTF-8"} {
		if _, err := p.Read("test://fault/" + kind); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", kind, err, want)
		}
	}
	if contents, err := p.Read("test://fault/baduri"); err != nil || contents[0].URI != "test://bad\nuri" {
		t.Errorf("baduri: got %+v, %v", contents, err)
	}
	if got := p.Text("test://fault/stdout"); got == "" {
		t.Error("stdout: no text")
	}
	defer func() {
		if recover() == nil {
			t.Error("trap: no panic")
		}
	}()
	_, _ = p.Read("test://fault/trap")
}
