package project

import (
	"fmt"
	"strings"
	"testing"
)

// A map that esbuild has written, of two files of which one is of a package.
const sampleMap = `{"version": 3, "sources": ["../p/node_modules/a/x.js", "../p/provider.ts"], "names": ["f"],
	"mappings": "E;AAAO,IAAM,IAAI;AACV;AACA;AAGA;ACJP,QAAQA,IAAI;;AAEZ"}`

func TestSourceMap(t *testing.T) {
	m, err := readSourceMap([]byte(sampleMap))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(m.lines), "[[] [{0 0 0 7} {4 0 0 13} {8 0 0 17}] [{0 0 1 7}] [{0 0 2 7}] [{0 0 5 7}] "+
		"[{0 1 1 0} {8 1 1 8} {12 1 1 12}] [] [{0 1 3 0}]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	names := m.names("/work/scratch", "/work/p")
	if want := "[node_modules/a/x.js provider.ts]"; fmt.Sprint(names) != want {
		t.Errorf("got %s, want %s", names, want)
	}
	const want = `export const sources = ["node_modules/a/x.js","provider.ts"];` + "\n" +
		`export const mappings = ";AAAO;;;AAKO;ACCA,QAAQ,IAAI;;ACGA";` + "\n"
	if got := m.script(names); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSourceNames(t *testing.T) {
	m := &sourceMap{sources: []string{
		"../p/lib/a.ts", "../shared/b.ts", "../../cache/node_modules/x/node_modules/y/i.js", "../p/node_modules.ts",
		"../p/wasmres/mcp.ts",
	}}
	got := fmt.Sprint(m.names("/work/scratch", "/work/p"))
	if want := "[lib/a.ts ../shared/b.ts node_modules/y/i.js node_modules.ts wasmres:/mcp.ts]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBadSourceMaps(t *testing.T) {
	many := func(n int, text string) string { return strings.Repeat(text, n) }
	for name, tt := range map[string]struct{ text, want string }{
		"no JSON":          {`{`, "unexpected end of JSON"},
		"no version":       {`{}`, "version 0 is unknown"},
		"another version":  {`{"version": 4}`, "version 4 is unknown"},
		"too many sources": {`{"version": 3, "sources": [` + many(maxMapSources, `"",`) + `""]}`, "20001 sources are too many"},
		"no source":        {`{"version": 3, "mappings": "AAAA"}`, "line 1: the segment"},
		"another digit":    {`{"version": 3, "sources": ["a"], "mappings": ";AA-A"}`, "line 2: a segment is not"},
		"too few numbers":  {`{"version": 3, "sources": ["a"], "mappings": "AAA"}`, "a segment is not"},
		"too many numbers": {`{"version": 3, "sources": ["a"], "mappings": "AAAAAA"}`, "a segment is not"},
		"an empty segment": {`{"version": 3, "sources": ["a"], "mappings": "AAAA,"}`, "a segment is not"},
		"an open number":   {`{"version": 3, "sources": ["a"], "mappings": "AAAg"}`, "a segment is not"},
		"a long number":    {`{"version": 3, "sources": ["a"], "mappings": "AAAgggggggA"}`, "a segment is not"},
		"a large number":   {`{"version": 3, "sources": ["a"], "mappings": "AAA+////f"}`, "leads to no place"},
		"a negative line":  {`{"version": 3, "sources": ["a"], "mappings": "AADA"}`, "leads to no place"},
		"too many":         {`{"version": 3, "sources": ["a"], "mappings": "` + many(maxMapMappings, "AAAA,") + `AAAA"}`, "too many"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && len(tt.text) > maxMapMappings {
				t.Skip("decodes millions of mappings")
			}
			if _, err := readSourceMap([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A map that is accepted leads to sources that exist, and what is written of it can be read.
func FuzzSourceMap(f *testing.F) {
	f.Add([]byte(sampleMap))
	f.Add([]byte(`{"version": 3, "sources": ["a"], "mappings": "AAAA;;AAgB+/A,CDDD"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := readSourceMap(text)
		if err != nil {
			return
		}
		for _, line := range m.lines {
			for _, at := range line {
				if at.source < 0 || at.source >= len(m.sources) || at.column < 0 || at.line < 0 || at.sourceColumn < 0 {
					t.Fatalf("%+v is no place", at)
				}
			}
			var encoded strings.Builder
			writeLine(&encoded, line)
			read, err := readLine(encoded.String(), &mapping{}, len(m.sources))
			if err != nil || fmt.Sprint(read) != fmt.Sprint(line) {
				t.Fatalf("%v was written as %s, which is read as %v, %v", line, &encoded, read, err)
			}
		}
		m.script(m.names("/scratch", "/project"))
	})
}
