package main

import (
	"slices"
	"testing"

	"github.com/wasmres/wasmres/internal/peers/serving/fixture"
	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

// TestOtherContents has the comparison notice what is not the fixture.
func TestOtherContents(t *testing.T) {
	page := `{"result":{"resources":[{"uri":"res://item/00000","name":"item-00000"}]}}`
	for name, err := range map[string]error{
		"text":     checkRead(says(`{"result":{"contents":[{"uri":"text://small","mimeType":"text/plain","text":"x"}]}}`), named(t, smallURI)),
		"none":     checkRead(says(`{"result":{"contents":[]}}`), named(t, smallURI)),
		"failure":  checkRead(says(`{"error":{"code":1,"message":"x"}}`), named(t, blobURI)),
		"no JSON":  checkRead(says(`{`), named(t, blobURI)),
		"entry":    checkList(says(page)),
		"no entry": checkList(says(`{"result":{"resources":[]}}`)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func named(t *testing.T, uri string) fixture.Resource {
	r, ok := fixture.ByURI(uri)
	if !ok {
		t.Fatalf("there is no %s", uri)
	}
	return r
}

func TestChoose(t *testing.T) {
	all := []string{"small-http", "small-stdio", "list-http"}
	for patterns, want := range map[string][]string{
		"": all, "small-*": all[:2], "list-http,small-http": {all[0], all[2]}, "small": nil, "*": all,
	} {
		if got := choose(all, patterns, func(s string) string { return s }); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", patterns, got, want)
		}
	}
}

func TestCell(t *testing.T) {
	less := metric{key: "less"}
	more := metric{key: "more", more: true}
	w := workload{name: "w"}
	own, other := target{name: "a", role: ours}, target{name: "b", role: peer}
	wall, most := target{name: "c", role: walled}, target{name: "d", role: limit}
	b, err := openBook("")
	if err != nil {
		t.Fatal(err)
	}
	r := report{targets: []target{own, other, wall, most}, book: b}
	b.add(w, own, 0, sample{"less": 30, "more": 1000})
	b.add(w, own, 1, sample{"less": 10, "more": 1000})
	b.add(w, own, 2, sample{"less": 20, "more": 123456})
	b.add(w, other, 0, sample{"less": 300, "more": 50})
	b.add(w, wall, 0, sample{"less": 40, "more": 500})
	b.add(w, most, 0, sample{"less": 5, "more": 4000})
	for _, c := range []struct {
		target target
		metric metric
		want   string
	}{
		{own, less, "20.0"}, {own, more, "1,000"}, {own, metric{key: "none"}, "–"},
		{other, less, "300 (15.0×)"}, {other, more, "50.0 (20.0×)"},
		{wall, less, "40.0 (0.50)"}, {wall, more, "500 (0.50)"},
		{most, less, "5.00 (0.25)"}, {most, more, "4,000 (0.25)"},
		{other, metric{key: "less", absolute: true}, "300"},
	} {
		if got := r.cell(w, c.target, c.metric); got != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.metric.key, c.target.name, got, c.want)
		}
	}
}

// says is a caller that always gets the same answer.
type says string

// Call implements [caller].
func (s says) Call(load.Call, []byte) ([]byte, error) { return []byte(s), nil }
