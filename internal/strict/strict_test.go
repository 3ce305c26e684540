package strict_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wasmres/wasmres/internal/strict"
)

// server has a field of each kind.
type server struct {
	Name    string            `yaml:"name,required" doc:"of the server"`
	Ports   []uint16          `yaml:"ports,nonempty" check:"port"`
	Address netip.Addr        `yaml:"address" check:"address"`
	Users   []user            `yaml:"users" unique:"Name"`
	Labels  map[string]string `yaml:"labels" keys:"letter" check:"letter"`
	TLS     *struct {
		Cert string `yaml:"cert"`
	} `yaml:"tls"`
	Cache struct {
		On bool `yaml:"on"`
	} `yaml:"cache,required"`
	Grid   [][]uint16 `yaml:"grid" check:"port"`
	Groups [][]user   `yaml:"groups"`
	Hidden string
}

type user struct {
	Name string `yaml:"name,required"`
	Role role   `yaml:"role" check:"role"`
}

// Validate sets a default role for root, and refuses the name nobody.
func (u *user) Validate() error {
	if u.Name == "root" && u.Role == 0 {
		u.Role = 2
	}
	if u.Name == "nobody" {
		return fmt.Errorf("%s is not a user", u.Name)
	}
	return nil
}

// A role is a number that is a word in files.
type role int

func (r role) ToFile() any { return []string{"", "guest", "admin"}[r] }

func (r *role) FromFile(v any) error {
	if v == "guest" {
		*r = 1
		return nil
	}
	*r = 2
	return nil
}

var format = strict.Format{
	Hints: map[string]string{"port": "write a list of ports"},
	Rules: map[string]strict.Rule{
		"address": strict.NewRule(netip.ParseAddr, func(a netip.Addr) string { return strict.Quote(a.String()) }, strict.Schema{"type": "string"}),
		"port": strict.NewRule(func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 16) },
			func(n uint64) string { return fmt.Sprint(n) }, strict.Schema{"type": "integer"}, strict.Number),
		"role": strict.OneOf("role", "guest", "admin"),
		"letter": strict.TextRule(func(s string) (string, error) {
			if len(s) != 1 {
				return "", fmt.Errorf("%q is not a letter", strict.Clip(s))
			}
			return s, nil
		}, strict.Schema{"maxLength": 1}),
	},
}

const text = `name: "a: b"
ports: [80, 443]
address: "::1"
users:
  - name: ada
    role: guest
  - name: root
    role: admin
labels:
  a: b
  "y": "0"
tls: {}
cache:
  "on": true
grid: [[1, 2], []]
groups:
  -
    - name: ada
      role: guest
  - []
`

func whole() server {
	s := server{
		Name: "a: b", Ports: []uint16{80, 443}, Address: netip.IPv6Loopback(), Users: []user{{"ada", 1}, {"root", 2}},
		Labels: map[string]string{"a": "b", "y": "0"}, TLS: &struct {
			Cert string `yaml:"cert"`
		}{},
	}
	s.Cache.On = true
	s.Grid, s.Groups = [][]uint16{{1, 2}, {}}, [][]user{{{"ada", 1}}, {}}
	return s
}

func decode(text string) (s server, err error) {
	err = format.Decode("server.yaml", []byte(text), &s)
	return s, err
}

func TestEncodeWritesWhatDecodeReads(t *testing.T) {
	for text, want := range map[string]server{text: whole(), "name: x\ncache: {}\n": {Name: "x"}} {
		got, err := decode(text)
		if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" || err != nil {
			t.Errorf("%v, want -, got +\n%s", err, diff)
		}
		if got := string(format.Encode(want)); got != text {
			t.Errorf("got\n%s\nwant\n%s", got, text)
		}
	}
	if s, err := decode("{name: x, cache: {}, users: [{name: root}]}"); err != nil || s.Users[0].Role != 2 {
		t.Errorf("got %+v, %v, want the default that Validate fills in", s, err)
	}
}

func TestProblemsHaveTheirPlace(t *testing.T) {
	long := strings.Repeat("[1], ", strict.MaxEntries) + "[1]"
	keys := ""
	for i := range strict.MaxEntries + 1 {
		keys += fmt.Sprintf("k%d: a, ", i)
	}
	for text, want := range map[string]string{
		"name: x\ncache: {}\nport: 80":                                 `3:1: unknown key "port": write a list of ports`,
		"name: x\ncache: {}\nadress: ::1":                              `3:1: unknown key "adress": did you mean "address"?`,
		"name: x\ncache: {}\nHidden: x":                                `3:1: unknown key "Hidden": it is one of name, ports, address, users, labels, tls, cache, grid, groups`,
		"cache: {}":                                                    `1:1: the key "name" is missing`,
		"name: x\nname: y":                                             `2:1: the key "name" is here twice: it is on line 1 already`,
		"name: 1\ncache: {}":                                           `1:7: this is a number, expected a text: write it in quotes`,
		"name:\ncache: {}":                                             `1:6: there is nothing here: remove the key, or give it a text`,
		"name: x\ncache: []":                                           `2:8: this is a list, expected keys and values`,
		"{name: x, cache: {on: yes}}":                                  `1:23: this is a text, expected true or false`,
		"{name: x, cache: {}, ports: []}":                              `1:29: the list is empty: remove the key, or add an entry`,
		"{name: x, cache: {}, ports: [1, 70000]}":                      `1:33: strconv.ParseUint: parsing "70000": value out of range`,
		"{name: x, cache: {}, ports: [" + long + "]}":                  `1:29: the list has 257 entries, at most 256 are allowed`,
		"{name: x, cache: {}, labels: {" + keys + "}}":                 `1:31: there are 257 keys, at most 256 are allowed`,
		"{name: x, cache: {}, labels: {ab: c}}":                        `1:31: the key "ab": "ab" is not a letter`,
		"{name: x, cache: {}, labels: {a: bc}}":                        `1:34: "bc" is not a letter`,
		"{name: x, cache: {}, users: [{name: a, role: gest}]}":         `1:46: there is no role "gest": did you mean "guest"?`,
		"{name: x, cache: {}, users: [{name: nobody}]}":                `1:31: nobody is not a user`,
		"{name: x, cache: {}, users: [{name: a}, {name: b, role: 1}]}": `1:57: this is a number, expected a text: write it in quotes`,
		"{name: x, cache: {}, users: [{name: a}, {name: a}]}":          `1:29: "a" is here twice`,
		"a: &x b":     `1:4: anchors and aliases are not allowed: write the value out`,
		"a: !!str b":  `1:4: tags and directives are not allowed: remove it`,
		"a: b\n---\n": `2:1: a second document begins here: a file has one`,
	} {
		_, err := decode(text)
		if got := strict.ProblemsOf(err); len(got) == 0 || got[0].Error() != "server.yaml:"+want {
			t.Errorf("%.60s\ngot  %v\nwant %s", text, got, want)
		}
	}
	_, err := decode(strings.Repeat("a: {}\n", 1000))
	if got := strict.ProblemsOf(err); len(got) != 50 || !strings.HasSuffix(err.Error(), " (and 49 more)") {
		t.Errorf("got %d problems, %v", len(got), err)
	}
}

func TestSchemaDescribesTheFields(t *testing.T) {
	const want = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"server","type":"object","additionalProperties":false,
"required":["name","cache"],"properties":{
"name":{"type":"string","description":"of the server"},
"ports":{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":256,"description":""},
"address":{"type":"string","description":""},
"users":{"type":"array","maxItems":256,"description":"","items":{"type":"object","additionalProperties":false,"required":["name"],"properties":{
"name":{"type":"string","description":""},"role":{"type":"string","enum":["guest","admin"],"description":""}}}},
"labels":{"type":"object","additionalProperties":{"type":"string","maxLength":1},"description":""},
"tls":{"type":"object","additionalProperties":false,"properties":{"cert":{"type":"string","description":""}},"description":""},
"cache":{"type":"object","additionalProperties":false,"properties":{"on":{"type":"boolean","description":""}},"description":""},
"grid":{"type":"array","maxItems":256,"description":"","items":{"type":"array","maxItems":256,"items":{"type":"integer"}}},
"groups":{"type":"array","maxItems":256,"description":"","items":{"type":"array","maxItems":256,"items":{"type":"object","additionalProperties":false,"required":["name"],"properties":{
"name":{"type":"string","description":""},"role":{"type":"string","enum":["guest","admin"],"description":""}}}}}}}`
	var got, wanted any
	if err := json.Unmarshal(format.Schema(server{}, "server"), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestReadFileBoundsWhatItReads(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"whole": strict.MaxSize, "big": strict.MaxSize + 1} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := strict.ReadFile(filepath.Join(dir, "whole")); err != nil || len(text) != strict.MaxSize {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
	for file, want := range map[string]string{"big": "more than 1048576 bytes", ".": "is not a file", "absent": "no such file"} {
		if text, err := strict.ReadFile(filepath.Join(dir, file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %d bytes, %v, want %q", file, len(text), err, want)
		}
	}
}

// Texts that would take a parser long, or too deep, are refused before it would run out of time, or of stack.
func TestParseRefusesWhatTakesLong(t *testing.T) {
	if testing.Short() {
		t.Skip("it parses the longest files")
	}
	var keys, indented strings.Builder
	for i := range 60_000 {
		keys.WriteString(strings.Repeat("k", 1+i%5) + string(rune('a'+i%26)) + ": 1\n")
	}
	for i := range 1000 {
		indented.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, text := range map[string]string{
		"brackets":    strings.Repeat("[", strict.MaxSize),
		"braces":      strings.Repeat("{a: ", strict.MaxSize/4),
		"dashes":      strings.Repeat("- ", 9_000),
		"questions":   strings.Repeat("? ", 9_000),
		"keys":        keys.String(),
		"indentation": indented.String(),
		"alias bomb":  "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n",
		"documents":   strings.Repeat("---\n", 9_000),
		"anchors":     strings.Repeat("&a ", 9_000),
		"too long":    strings.Repeat(" ", strict.MaxSize+1),
		"not UTF-8":   "version: \xff",
		"empty":       "",
		"a comment":   "# nothing\n",
		"two":         "a: b\n---\na: b\n",
		"tag":         "a: !!str 1.0\n",
		"merge":       "a:\n  <<: {}\n",
	} {
		if n, err := strict.Parse("file.yaml", []byte(text)); len(strict.ProblemsOf(err)) == 0 {
			t.Errorf("%s: got %v, %v, want problems", name, n.Kind, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte("{name: x, cache: {}, users: [{name: root}]}"))
	f.Add([]byte("{\"name\": \"\\n\\t\\u0000é\", \"cache\": {}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := decode(string(text))
		if err != nil {
			if len(strict.ProblemsOf(err)) == 0 {
				t.Fatalf("an error without a problem: %v", err)
			}
			return
		}
		encoded := format.Encode(&s)
		again, err := decode(string(encoded))
		if err != nil || string(format.Encode(again)) != string(encoded) {
			t.Fatalf("%v: %s\nis read back as\n%s", err, encoded, format.Encode(again))
		}
	})
}
