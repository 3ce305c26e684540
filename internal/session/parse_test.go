package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/session"
)

func TestMistakesSayWhereTheyAre(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"no kind":            {"About.\n-- raed x:y --\n", `s:2: unknown section "raed": write a section as list, templates, read URI`},
		"no words":           {"-- \"\" --\n", `s:1: unknown section "": write a section as`},
		"read without URI":   {"-- read --\n", "s:1: write it as: read URI"},
		"directory of none":  {"-- directory --\n", "s:1: write it as: directory URI"},
		"directory of two":   {"-- directory x:y x:z --\n", "s:1: write it as: directory URI"},
		"directory of more":  {"-- directory x:y cursor=a b --\n", "s:1: write it as: directory URI"},
		"read of two":        {"-- read x:y x:z --\n", "s:1: write it as: read URI"},
		"list of what":       {"-- list 7 --\n", "s:1: write it as: list, or list cursor=CURSOR"},
		"complete what":      {"-- complete x:{y} --\n", "s:1: write it as: complete TEMPLATE"},
		"complete no name":   {"-- complete x:{y} =z --\n", "s:1: write it as: complete TEMPLATE"},
		"open quote":         {"-- read \"x:y --\n", "s:1: a quoted word is not a JSON string"},
		"not JSON":           {"-- list --\n\n{\n  \"a\": nothing\n}\n", "s:4: "},
		"JSON unfinished":    {"-- list --\n{\"a\": [\n", "s:2: the JSON value does not end"},
		"two JSON texts":     {"-- list --\n{}\n{}\n", "s:3: text follows the end"},
		"not an object":      {"-- list --\n[]\n", "s:1: the answer is not a JSON object"},
		"too deep":           {"-- list --\n" + strings.Repeat("[", 200), "s:2: the JSON value is nested more than 100 deep"},
		"text alone":         {"-- text --\na\n", "s:1: a text section has no answer before it"},
		"text too many":      {"-- read x:y --\n{\"contents\": []}\n-- text --\na\n", "s:1: one text section too many"},
		"text of nothing":    {"-- read x:y --\n-- text --\na\n", "s:"},
		"text missing":       {"-- list --\n-- read x:y --\n{\"contents\": [{\"uri\": \"x:y\"}]}\n", "s:2: a content has neither text nor blob"},
		"backslash":          {"-- read x:y --\n{\"contents\": [{}]}\n-- text --\n\\n\n", `s:3: text section: a line that begins with \`},
		"unknown service":    {"-- host http.get /x --\n{}\n", `s:1: unknown service "http.get"`},
		"service of nothing": {"-- host fs.stat --\n{}\n", "s:1: write it as: host fs.stat PATH"},
		"service argument":   {"-- host fs.stat /x depth=2 --\n{}\n", `s:1: fs.stat has no option "depth=2": it has offset=N, length=N, after=NAME, text=TEXT`},
		"service number":     {"-- host fs.read /x offset=-1 --\n{}\n", `s:1: option "offset=-1": write a whole number from 0 on`},
		"service unnamed":    {"-- host --\n{}\n", "s:1: write it as: host SERVICE …; the services are fs.stat"},
		"kv without key":     {"-- list --\n-- host kv.get --\n{}\n", "s:2: write it as: host kv.get KEY"},
		"kv flag":            {"-- host kv.put a ifAbsent=no --\n{}\n", `s:1: option "ifAbsent=no": write it without a value`},
		"kv option":          {"-- host kv.put a ifabsent --\n{}\n", `s:1: kv.put has no option "ifabsent": it has text=TEXT`},
		"kv digest":          {"-- host kv.put a sha256=12 --\n{}\n", `s:1: option "sha256=12": write 64 hex digits`},
		"kv entry":           {"-- host kv.list --\n{\"entries\": [{\"name\": \"a\"}]}\n", `s:2: entries: item 1: "name" is unknown: write one of key, size, expires, version`},
		"kv text":            {"-- host kv.list --\n{\"text\": \"a\"}\n", `s:2: "text" is unknown: write one of entries, more, conflict, error`},
		"http without URL":   {"-- host http.fetch https://example.org/ --\n{}\n", "s:1: write it as: host http.fetch METHOD URL"},
		"http header":        {"-- host http.fetch GET a: header=accept --\n{}\n", `s:1: option "header=accept": "accept" is not a header field`},
		"http blob":          {"-- host http.fetch GET a: blob=? --\n{}\n", `s:1: option "blob=?": write the bytes in base64`},
		"http timeout":       {"-- host http.fetch GET a: timeout=4294967296 --\n{}\n", `s:1: option "timeout=4294967296": write a whole number from 0 on, of at most 32 bits`},
		"http header value":  {"-- host http.fetch GET a: --\n{\"header\": [\"a\"]}\n", `s:2: header: item 1: "a" is not a header field: write it as in "accept: text/plain"`},
		"http headers":       {"-- host http.fetch GET a: --\n{\"header\": [" + strings.Repeat(`"a:",`, 256) + "\"a:\"]}\n", "s:1: "},
		"stream of letters":  {"-- host http.stream a --\n{}\n", `s:1: "a": write a whole number from 0 on, of at most 64 bits, as in: host http.stream NUMBER`},
		"stream option":      {"-- host sql.rows 1 2 --\n{}\n", `s:1: "2" is one word too many: write it as: host sql.rows NUMBER`},
		"sql parameter":      {"-- host sql.query a b 7 --\n{}\n", `s:1: sql.query has no option "7": it has null, bool=, int=`},
		"sql bool":           {"-- host sql.query a b bool=1 --\n{}\n", `s:1: option "bool=1": write true or false`},
		"sql int":            {"-- host sql.query a b int=1.5 --\n{}\n", `s:1: option "int=1.5": write a whole number`},
		"sql float":          {"-- host sql.query a b float=1e999 --\n{}\n", `s:1: option "float=1e999": write a number that fits into 64 bits`},
		"sql kind":           {"-- host sql.query a b kind=2 --\n{}\n", `s:1: option "kind=2": write a number above 5`},
		"sql rows":           {"-- host sql.query a b --\n{\"rows\": [1]}\n", `s:2: rows: item 1: write rows as arrays of values`},
		"sql value":          {"-- host sql.query a b --\n{\"rows\": [[1, {}]]}\n", `s:2: rows: item 1: column 2: write a value as null, true, 1, 1.0`},
		"sql large value":    {"-- host sql.query a b --\n{\"rows\": [[9223372036854775808]]}\n", `s:2: rows: item 1: column 1: write a whole number of at most 64 bits`},
		"sql too many rows":  {"-- host sql.query a b --\n{\"rows\": [" + strings.Repeat("[],", 10_000) + "[]]}\n", "s:1: "},
		"host values":        {strings.Repeat("-- host sql.rows 1 --\n{\"rows\": ["+strings.Repeat("[0,0,0,0,0,0,0,0],", 9_999)+"[]]}\n", 12), "s:23: the session has more than 1048576 JSON values"},
		"no host answer":     {"-- host fs.stat /x --\n", "s:2: the JSON value does not end"},
		"host answer":        {"-- host fs.stat /x --\n{\"fils\": []}\n", `s:2: "fils" is unknown: write one of files, more, text, blob, error`},
		"host code":          {"-- host fs.stat /x --\n{\"error\": \"trap\"}\n", `s:2: error: write the name of a code, as in "not_found"`},
		"host file":          {"-- host fs.stat /x --\n{\"files\": [\n{\"nam\": \"x\"}]}\n", `s:3: files: item 1: "nam" is unknown: write one of name, size, modified, dir`},
		"host blob":          {"-- host fs.read /x --\n{\"blob\": \"?\"}\n", `s:2: blob: write the bytes in base64`},
		"grants late":        {"-- list --\n-- grants --\n{}\n", "s:2: section grants: write it once, before the first step"},
		"grants twice":       {"-- grants --\n{}\n-- grants --\n{}\n", "s:3: section grants: write it once"},
		"grants of whom":     {"-- grants fs --\n{}\n", "s:1: section grants: write the grants as JSON"},
		"time late":          {"-- list --\n-- time 2026-11-22T07:00:00Z --\n", "s:2: section time: write it once, before the first step"},
		"time twice":         {"-- time 2026-11-22T07:00:00Z --\n-- time 2026-11-22T07:00:00Z --\n", "s:2: section time: write it once"},
		"time of day":        {"-- time 07:00 --\n", "s:1: write it as: time 2026-"},
		"time with words":    {"-- time 2026-11-22T07:00:00Z UTC --\n", "s:1: write it as: time 2026-"},
		"time with a body":   {"-- time 2026-11-22T07:00:00Z --\nnow\n", "s:1: write it as: time 2026-"},
		"time before clocks": {"-- time 1970-06-01T00:00:00Z --\n", "s:1: time 1970-06-01T00:00:00Z: it must be from 1971 to 2199"},
		"time after clocks":  {"-- time 2199-12-31T23:00:00-01:00 --\n", "s:1: time 2199-12-31T23:00:00-01:00: it must be"},
		"crash of what":      {"-- crash --\n{}\n", "s:1: write it as: crash read URI"},
		"crash of a code":    {"-- crash read x:y --\n{\"code\": \"fell\"}\n", `s:1: section crash: unknown code "fell"`},
		"crash member":       {"-- crash list --\n{\"core\": 1}\n", `s:1: section crash: write it as {"code"`},
		"crash of listdir":   {"-- crash listdir x:y --\n{\"core\": 1}\n", `s:1: section crash: write it as {"code"`},
		"crash request":      {"-- crash list --\n{\"code\": \"trap\", \"request\": {\"url\": 1}}\n", `s:1: section crash: request: json: unknown field "url"`},
		"crash stack":        {"-- crash list --\n{\"code\": \"trap\", \"stack\": [1], \"names\": [\"a\", \"b\"]}\n", `s:1: section crash: hostCalls must`},
		"crash time":         {"-- crash list --\n{\"code\": \"trap\", \"time\": \"7:00\"}\n", `s:1: section crash: write the time as`},
		"limits late":        {"-- list --\n-- limits --\n{}\n", "s:2: section limits: write it once, before the first step"},
		"limits of what":     {"-- limits --\n{\"cpu\": 1}\n", "s:1: section limits: write it as"},
		"limits too long":    {"-- limits --\n{\"timeout\": \"1h\"}\n", "s:1: section limits: write a timeout of at most 10m"},
		"limits too large":   {"-- limits --\n{\"memory\": 8589934592}\n", "s:1: section limits: memory limit of"},
		"grants of services": {"-- grants --\n{\"services\": [\"fs\"]}\n", `s:1: section grants: service "fs" cannot be replayed`},
		"seed late":          {"-- list --\n-- seed 1 --\n", "s:2: section seed: write it once, before the first step"},
		"seed twice":         {"-- seed 0 --\n-- seed 1 --\n", "s:2: section seed: write it once"},
		"seed of letters":    {"-- seed chance --\n", "s:1: write it as: seed NUMBER"},
		"seed too large":     {"-- seed 18446744073709551616 --\n", "s:1: write it as: seed NUMBER"},
		"seed with a text":   {"-- seed 1 --\n-- text --\n", "s:1: section seed: write it once, before the first step, and without a text"},
		"unknown grant":      {"-- grants --\n{\"capabilities\": [\"net\"]}\n", `s:1: section grants: capability "net" cannot be replayed: write one of fs`},
		"misspelt grant":     {"-- grants --\n{\"konfig\": {}}\n", `s:1: section grants: write it as {"config"`},
		"too many values":    {"-- list --\n{\"a\": [" + strings.Repeat("0,", 1<<20) + "0]}", "s:2: the session has more than 1048576 JSON values"},
		"too many in all":    {strings.Repeat("-- list --\n{\"a\": ["+strings.Repeat("0,", 1<<18)+"0]}\n", 5), "s:7: the session has more than 1048576 JSON values"},
		"not UTF-8":          {"-- read x:\xff --\n", "s: the file is not UTF-8"},
		"too large":          {strings.Repeat("a", session.MaxSize+1), "s: the file has more than 16777216 bytes"},
		"too many steps":     {strings.Repeat("-- list --\n", session.MaxSteps+1), "s:10001: the file has more than 10000 steps"},
	} {
		t.Run(name, func(t *testing.T) {
			if len(tt.text) > 1<<20 && testing.Short() {
				t.Skip("it parses the longest text")
			}
			s, err := session.Parse("s", []byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, %v, want %s…", s, err, tt.want)
			}
		})
	}
}

func TestRequestsHaveOneForm(t *testing.T) {
	for _, line := range []string{
		"list", "list cursor=a", `list cursor="a b"`, "templates cursor=x=y", "read x:y?a=b", `read "x y"`, `read ""`, `read "a\"b\\"`,
		"directory x:y", `directory "x y" cursor="a b"`, "read --", "complete x:{y} y=", `complete x:{y} y="A B"`, "complete x:{y,z} y=a z=b=c", `read "\u0007"`, `complete "x:{y} z" "a b"=c`,
	} {
		s, err := session.Parse("s", []byte("-- "+line+" --\n"))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := s.Steps[0].Request.String(); got != line {
			t.Errorf("got %s, want %s", got, line)
		}
	}
}

// TestQuestionsHaveOneForm writes questions in all the words there are; those without another form stay as they are.
func TestQuestionsHaveOneForm(t *testing.T) {
	long := strings.Repeat("a", 1025)
	const digest = "sha256=4a82297889eb505cf6b5cbdf69977afab4632d6557539782f657bd7dc78091a5"
	for line, want := range map[string]string{
		`fs.read "" offset=1 length=2 after="a b"`: "",
		`kv.get notes/1`: "",
		`kv.get a=b`:     "",
		`kv.put k text="a b" ttl=60000 ifVersion=7 ifAbsent`: "",
		`kv.put k ttl=1 text=a`:                              "kv.put k text=a ttl=1",
		`kv.put k blob=YQ==`:                                 "kv.put k text=a",
		`kv.put k blob=/w==`:                                 "",
		`kv.put k text=`:                                     "kv.put k",
		`kv.put k text=` + long:                              "kv.put k " + digest,
		`kv.put k sha256=` + strings.ToUpper(digest[7:]):     "kv.put k " + digest,
		`kv.delete k ifVersion=1`:                            "",
		`kv.list`:                                            "",
		`kv.list limit=1 prefix=a after=ab`:                  "kv.list prefix=a after=ab limit=1",
		`http.fetch GET https://example.org/?a=b`:            "",
		`http.fetch GET a: header=a:b header="A:  b: c"`:     `http.fetch GET a: header="a: b" header="A:  b: c"`,
		`http.fetch POST a: text="{}" maxBytes=1 timeout=2`:  `http.fetch POST a: text={} maxBytes=1 timeout=2`,
		`http.fetch POST a: blob=/w==`:                       "",
		`http.stream 01`:                                     "http.stream 1",
		`sql.query main "select $1"`:                         "",
		`sql.query main s maxRows=3 null int=-0 float=2.50`:  "sql.query main s null int=0 float=2.5 maxRows=3",
		`sql.query main s float=inf float=nan float=1e2`:     "sql.query main s float=+Inf float=NaN float=100",
		`sql.query main s text= blob= bool=true kind=6`:      "",
		`sql.query main s text=` + long + ` blob=YQ==`:       "sql.query main s " + digest + " blob=YQ==",
		`sql.rows 18446744073709551615`:                      "",
	} {
		if want == "" {
			want = line
		}
		s, err := session.Parse("s", []byte("-- host "+line+" --\n{}\n"))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := s.Host[0].Question(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSaveKeepsWhatIsThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "s.txtar")
	s := parse(t, "About.\n\n-- list --\n{}\n")
	if err := s.Save(file); err != nil {
		t.Fatal(err)
	}
	again, err := session.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(s.Format()), string(again.Format())); diff != "" {
		t.Error(diff)
	}
	s.Comment = strings.Repeat("long\n", session.MaxSize/5+1)
	if err := s.Save(file); err == nil || !strings.Contains(err.Error(), "record fewer steps") {
		t.Errorf("too large: got %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want the file alone", entries, err)
	}
	if now, err := session.Load(file); err != nil || now.Comment != "About.\n\n" {
		t.Errorf("got %+v, %v", now, err)
	}
}

// FuzzParse finds that whatever can be read is written in one form, which is read as the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"About.\n\n-- read x:y --\n{\"contents\":[{\"uri\":\"x:y\"}]}\n-- text --\na\n\\\"\\r\"\n\\ No newline at end of file\n",
		"-- seed 18446744073709551615 --\n-- time 2026-11-22T09:00:00.5+02:00 --\n-- grants --\n{}\n-- list --\n",
		"-- --", "\r\r\n", "--  --\n-- list --\n{}\n-- --",
		"-- read x:y --\n{\"contents\":[{\"text\":\"a\\nb\",\"text\":\"c\"},{\"text\":\"a\\nb\",\"blob\":\"YQ==\"},7]}\n",
		"-- host fs.read /x length=1 offset=2 after=\"a b\" --\n{\"more\":true,\"text\":\"\\\"\",\"files\":[{\"modified\":\"0001-01-01T00:00:01Z\"}]}",
		"-- host fs.read /x --\n{\"blob\":\"/w==\"}\n-- grants --\n{\"config\":{\"a\\u0000\":\"b\"},\"capabilities\":[\"fs\",\"fs\"]}\n",
		"-- host kv.put \"a b\" text=\"a\\nb\" ttl=1 ifVersion=2 ifAbsent --\n{\"entries\":[{\"key\":\"a\",\"expires\":\"2026-11-22T07:00:00.5+02:00\",\"version\":1}],\"conflict\":true}",
		"-- host kv.list prefix=a after=ab limit=1 --\n{\"more\":true}\n-- host kv.get k --\n{\"entries\":[{}]}\n-- text --\na\n-- host kv.delete k --\n{\"error\":\"denied\"}",
		"-- host http.fetch POST a: header=\"a: b\" header=: blob=/w== maxBytes=1 timeout=2 --\n{\"status\":200,\"header\":[\"a:b\",\":\"],\"url\":\"a:\",\"stream\":1,\"blob\":\"/w==\"}",
		"-- host http.stream 01 --\n{\"more\":true,\"text\":\"a\"}\n-- host sql.rows 1 --\n{\"rows\":[[]],\"stream\":1}",
		"-- host sql.query main \"select $1\" null bool=true int=-0 float=nan text= blob=YQ== kind=6 maxRows=1 --\n" +
			"{\"columns\":[{\"name\":\"a\",\"type\":\"int8\"},{}],\"rows\":[[null,true,-0,-0.0,1E5,\"a\",{\"blob\":\"YQ==\"},{\"float\":\"-inf\"}]]}",
		"-- list --\n{\"resources\":[{},[],[[]],{\"a\":{\"b\":[1e9]}}],\"text\":\"a\\nb\"}\n-- complete \"\"\"\" \"\"a=b --\r\n",
		"-- limits --\n{\"timeout\":\"2000ms\",\"fuel\":1}\n-- grants --\n{\"capabilities\":[\"fs\"],\"services\":[\"fs.read\"]}\n" +
			"-- crash read x:z --\n{\"code\":\"ok\",\"fuel\":7,\"hostCalls\":0,\"stack\":[],\"request\":{\"uri\":\"x:z\"}}\n" +
			"-- crash read x:y --\n{\"code\":\"trap\",\"fuel\":1,\"stack\":[1],\"names\":[\"a\"],\"seed\":18446744073709551615,\"time\":\"2026-11-22T09:00:00.5Z\"," +
			"\"request\":{\"uri\":\"x:y\",\"vars\":[{\"Name\":\"a\",\"Value\":\"b\"}],\"principal\":{\"Subject\":\"ada\"}}}\n-- host fs.read /x --\n{\"text\":\"a\"}\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := session.Parse("s", text)
		if err != nil {
			return
		}
		once := s.Format()
		again, err := session.Parse("s", once)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once)
		}
		if diff := cmp.Diff(string(once), string(again.Format())); diff != "" {
			t.Errorf("written once -, and again +:\n%s", diff)
		}
	})
}

// FuzzTexts finds that a text is what it was when it has been recorded.
func FuzzTexts(f *testing.F) {
	for _, text := range []string{"a", "a\n", "-- b --\n\\", "\r\n", `\ No newline at end of file`, "\x1b\x00\u2028\u0085\ufeff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		s := parse(t, "-- read x:y --\n")
		run(t, s, textSource(text), true)
		again := parse(t, string(s.Format()))
		if report := run(t, again, textSource(text), false); len(report.Failures) > 0 {
			t.Errorf("%q is read as another text:\n%s", text, report.Failures[0].Diff)
		}
		if report := run(t, again, textSource(text+"\n"), false); len(report.Failures) == 0 {
			t.Errorf("%q with a newline is taken for the same", text)
		}
	})
}
