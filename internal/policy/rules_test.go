package policy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/wasmres/wasmres/internal/policy"
)

// net makes a policy of values of --net.
func network(t *testing.T, specs ...string) *policy.Policy {
	t.Helper()
	p, err := policy.FromFlags(policy.Flags{Net: specs})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCovers(t *testing.T) {
	dir := func(host, guest string, a policy.Access) *policy.Policy {
		return &policy.Policy{Storage: []policy.Storage{{Host: host, Guest: guest, Access: a}}}
	}
	rw := policy.Read | policy.Write
	grows := func(host string, bytes, files uint64) *policy.Policy {
		return &policy.Policy{Storage: []policy.Storage{{Host: host, Guest: "/data", Access: rw, MaxBytes: bytes, MaxFiles: files}}}
	}
	sql := func(s policy.SQL) *policy.Policy { return &policy.Policy{SQL: []policy.SQL{s}} }
	kv := func(k policy.KV) *policy.Policy { return &policy.Policy{KV: &k} }
	tests := []struct {
		name               string
		granted, requested *policy.Policy
		want               bool
	}{
		{"nothing", &policy.Policy{}, &policy.Policy{}, true},
		{"configuration grants nothing", &policy.Policy{}, &policy.Policy{Config: map[string]string{"a": "b"}}, true},

		{"the same folder", dir("/srv", "/data", rw), dir("/srv", "/data", rw), true},
		{"a folder within", dir("/srv", "/data", policy.Read), dir("/srv/a", "/data/a", policy.Read), true},
		{"another folder within", dir("/srv", "/data", policy.Read), dir("/etc", "/data/a", policy.Read), false},
		{"a folder around", dir("/srv/a", "/data/a", policy.Read), dir("/srv", "/data", policy.Read), false},
		{"a folder of a longer name", dir("/srv", "/data", policy.Read), dir("/srv", "/database", policy.Read), false},
		{"all folders", dir("/", "/", policy.Read), dir("/srv", "/srv", policy.Read), true},
		{"writing", dir("/srv", "/data", policy.Read), dir("/srv", "/data", rw), false},
		{"a folder of whatever host folder", dir("/srv", "/data", policy.Read), dir("", "/data", policy.Read), true},
		{"whatever folder", dir("/srv", "/data", policy.Read), dir("", "", policy.Read), true},
		{"as many bytes and files", grows("/srv", 10, 20), grows("/srv", 10, 20), true},
		{"more bytes", grows("/srv", 10, 20), grows("/srv", 11, 20), false},
		{"more files", grows("/srv", 10, 20), grows("/srv", 10, 21), false},
		{"the bytes there are by default", grows("/srv", 256<<20-1, 10_000), grows("/srv", 0, 0), false},
		{"the files there are by default", grows("/srv", 256<<20, 9_999), grows("/srv", 0, 0), false},
		{"the default, in words", grows("/srv", 256<<20, 10_000), grows("/srv", 0, 0), true},
		{"fewer than by default", grows("/srv", 0, 0), grows("/srv", 10, 20), true},
		{"more than by default", grows("/srv", 0, 0), grows("/srv", 0, 10_001), false},
		{"however many bytes and files", grows("/srv", 10, 20), grows("", 0, 0), true},
		{"more bytes than are granted", grows("/srv", 10, 20), grows("", 11, 0), false},
		{"more files than are granted", grows("/srv", 0, 0), grows("", 0, 10_001), false},
		{"however many, where it was said", grows("", 10, 20), grows("", 0, 20), false},
		{"reading, with nothing to add", grows("/srv", 10, 20), dir("/srv", "/data", policy.Read), true},
		{"whatever folder, of none", &policy.Policy{}, dir("", "", policy.Read), false},

		{"the same host", network(t, "https://a.org"), network(t, "a.org"), true},
		{"another host", network(t, "a.org"), network(t, "b.org"), false},
		{"a host below", network(t, "*.a.org"), network(t, "x.y.a.org"), true},
		{"the host itself", network(t, "*.a.org"), network(t, "a.org"), false},
		{"a name that ends alike", network(t, "*.a.org"), network(t, "bada.org"), false},
		{"all below of one below", network(t, "*.a.org"), network(t, "*.b.a.org"), true},
		{"more below", network(t, "*.b.a.org"), network(t, "*.a.org"), false},
		{"another scheme", network(t, "a.org"), network(t, "http://a.org"), false},
		{"another port", network(t, "a.org"), network(t, "a.org:8443"), false},
		{"the port of the scheme", network(t, "a.org"), network(t, "a.org:443"), true},
		{"another method", network(t, "a.org"), network(t, "POST:https://a.org"), false},
		{"fewer methods", network(t, "GET,POST:https://a.org"), network(t, "POST:https://a.org"), true},
		{"a path", network(t, "a.org"), network(t, "a.org/v1"), true},
		{"all paths", network(t, "a.org/v1"), network(t, "a.org"), false},
		{"a path below", network(t, "a.org/v1"), network(t, "a.org/v1/users"), true},
		{"a path of a longer name", network(t, "a.org/v1"), network(t, "a.org/v12"), false},
		{"a pattern below", network(t, "a.org/v1"), network(t, "a.org/v1/*/x"), true},
		{"below a pattern", network(t, "a.org/v1/**"), network(t, "a.org/v1/users"), true},
		{"what a pattern is below", network(t, "a.org/v1/**"), network(t, "a.org/v1"), false},
		{"all below a segment's pattern", network(t, "a.org/v1/*"), network(t, "a.org/v1/users"), false},
		{"a narrower pattern", network(t, "a.org/*/*/x"), network(t, "a.org/v1/*/x"), true},
		{"a wider pattern", network(t, "a.org/v1/*/x"), network(t, "a.org/*/*/x"), false},
		{"private addresses", network(t, "a.org"), &policy.Policy{Network: []policy.Network{{Host: "a.org", Private: true}}}, false},
		{"a secret", network(t, "a.org"), &policy.Policy{Network: []policy.Network{{Host: "a.org", Secrets: []string{"s"}}}}, false},
		{"whatever host", network(t, "a.org"), &policy.Policy{Network: []policy.Network{{}}}, true},

		{"a variable", &policy.Policy{Environment: []string{"A"}}, &policy.Policy{Environment: []string{"A"}}, true},
		{"another variable", &policy.Policy{Environment: []string{"A"}}, &policy.Policy{Environment: []string{"B"}}, false},
		{"a secret from wherever", &policy.Policy{Secrets: []policy.Secret{{Name: "a", Env: "A"}}}, &policy.Policy{Secrets: []policy.Secret{{Name: "a"}}}, true},
		{"a secret from elsewhere", &policy.Policy{Secrets: []policy.Secret{{Name: "a", Env: "A"}}}, &policy.Policy{Secrets: []policy.Secret{{Name: "a", Env: "B"}}}, false},
		{"a connection", sql(policy.SQL{Name: "a", DSNEnv: "D"}), sql(policy.SQL{Name: "a"}), true},
		{"another connection", sql(policy.SQL{Name: "a", DSNEnv: "D"}), sql(policy.SQL{Name: "b"}), false},
		{"another database", sql(policy.SQL{Name: "a", DSNEnv: "D"}), sql(policy.SQL{Name: "a", DSNEnv: "E"}), false},
		{"a sealed name", sql(policy.SQL{Name: "a", DSNSealed: "s"}), sql(policy.SQL{Name: "a", DSNSealed: "s"}), true},
		{"another sealed name", sql(policy.SQL{Name: "a", DSNSealed: "s"}), sql(policy.SQL{Name: "a", DSNSealed: "t"}), false},
		{"a sealed name where another source is", sql(policy.SQL{Name: "a", DSNEnv: "s"}), sql(policy.SQL{Name: "a", DSNSealed: "s"}), false},
		{"private addresses of a sealed name", sql(policy.SQL{Name: "a", DSNSealed: "s"}), sql(policy.SQL{Name: "a", DSNSealed: "s", Private: true}), false},
		{"a mightier role", sql(policy.SQL{Name: "a", DSNEnv: "D"}), sql(policy.SQL{Name: "a", DSNEnv: "D", Privileged: true}), false},
		{"a store", kv(policy.KV{}), kv(policy.KV{}), true},
		{"no store", &policy.Policy{}, kv(policy.KV{}), false},
		{"a larger store", kv(policy.KV{MaxBytes: 10}), kv(policy.KV{MaxBytes: 11}), false},
		{"a store to write to", kv(policy.KV{ReadOnly: true}), kv(policy.KV{}), false},
		{"more memory", &policy.Policy{Limits: policy.Limits{Memory: 1}}, &policy.Policy{Limits: policy.Limits{Memory: 2}}, false},
	}
	for _, tt := range tests {
		if got := policy.Covers(tt.granted, tt.requested); got != tt.want {
			t.Errorf("%s: got %v, want %v\ngranted %q\nasked   %q", tt.name, got, tt.want, tt.granted.Lines(), tt.requested.Lines())
		}
	}
}

func TestDiffSaysInWordsWhatChanged(t *testing.T) {
	before := parse(t, permissions(`  storage: {allow: [{uri: "fs:///srv", guest: /data, access: [read]}]}
  network: {allow: [{host: a.org, methods: [GET]}, {host: b.org}]}
  kv: {}
  config: {owner: ada, old: "1"}
  resources: {limits: {memory: 64Mi, fuel: 10}}
`))
	now := parse(t, permissions(`  storage: {allow: [{uri: "fs:///srv", guest: /data, access: [read, write]}]}
  network: {allow: [{host: a.org, methods: [GET, POST]}]}
  secrets: [{name: token, env: T}]
  config: {owner: bob}
  resources: {limits: {memory: 128Mi, fuel: 5, timeout: 2s}}
`))
	want := policy.Difference{
		More: []string{
			"read and write files at /data, which are those of /srv",
			"send GET, POST to https://a.org",
			"use the secret token, unseen, from the environment variable T",
			"read a new configuration value owner",
			"use memory 128Mi, where it was 64Mi",
			"use timeout 2s, where it was the default",
		},
		Less: []string{
			"send GET, HEAD to https://b.org",
			"keep values between requests",
			"read the configuration value old",
			"use fuel 5, where it was 10",
		},
	}
	if diff := cmp.Diff(want, policy.Diff(before, now)); diff != "" {
		t.Error(diff)
	}
	if d := policy.Diff(now, now); d.More != nil || d.Less != nil {
		t.Errorf("a policy differs from itself: %+v", d)
	}
}

func TestFlagsAreShortForAPolicy(t *testing.T) {
	f := policy.Flags{
		Dir: []string{".:/project", "/srv:/data:rw", "a:b:/c:ro"}, Net: []string{"GET,POST:https://api.example.org:8443/v1/**"},
		Env: []string{"LANG", "LANG"}, Secret: []string{"token=env:TOKEN"},
		SQL: []string{"users=sqlite:users.db", "main=env:DSN", "other=file:/run/dsn", "p=postgres://u@h/d"}, KV: true, Config: []string{"a=b=c"},
	}
	p, err := policy.FromFlags(f)
	if err != nil {
		t.Fatal(err)
	}
	want := &policy.Policy{
		Storage: []policy.Storage{
			{Host: ".", Guest: "/project", Access: policy.Read}, {Host: "/srv", Guest: "/data", Access: policy.Read | policy.Write},
			{Host: "a:b", Guest: "/c", Access: policy.Read},
		},
		Network: []policy.Network{{
			Host: "api.example.org", Schemes: []string{"https"}, Ports: []uint16{8443}, Methods: []string{"GET", "POST"}, Paths: []string{"/v1/**"},
			Secrets: []string{"token"},
		}},
		Environment: []string{"LANG"}, Secrets: []policy.Secret{{Name: "token", Env: "TOKEN"}},
		SQL: []policy.SQL{
			{Name: "users", DSN: "sqlite:users.db"}, {Name: "main", DSNEnv: "DSN"}, {Name: "other", DSNFile: "/run/dsn"}, {Name: "p", DSN: "postgres://u@h/d"},
		},
		KV: &policy.KV{}, Config: map[string]string{"a": "b=c"},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	back, complete := p.Flags()
	again, err := policy.FromFlags(back)
	if err != nil || !complete || string(again.Format()) != string(p.Format()) {
		t.Errorf("%q\nis %s, complete %v, %v", back.Args(), again.Format(), complete, err)
	}
}

func TestFlagsReportWhenTheyAreIncomplete(t *testing.T) {
	for name, text := range map[string]string{
		"private names":  `  network: {allow: [{host: intern.example.org, private: true}]}`,
		"secrets of one": "  network: {allow: [{host: a.org, secrets: [s]}, {host: b.org}]}\n  secrets: [{name: s, env: S}]",
		"bounds":         `  kv: {max_bytes: 1Mi}`,
		"fewer bytes":    `  storage: {allow: [{uri: "fs:///srv", access: [read, write], max_bytes: 1Mi}]}`,
		"more files":     `  storage: {allow: [{uri: "fs:///srv", access: [read, write], max_files: 20000}]}`,
		"writing alone":  `  storage: {allow: [{uri: "fs:///srv", access: [write]}]}`,
		"limits":         `  resources: {limits: {memory: 1Mi}}`,
		"reading only":   `  kv: {read_only: true}`,
		"an address":     `  network: {allow: [{host: 127.0.0.1}]}`,
		"privileged":     `  sql: [{name: a, dsn_env: A, privileged: true}]`,
	} {
		if f, complete := parse(t, permissions(text+"\n")).Flags(); complete {
			t.Errorf("%s: %q is said to be all of it", name, f.Args())
		}
	}
	if f, complete := parse(t, permissions(`  network: {allow: [{host: "::1", schemes: [http, https], ports: [80, 8080], paths: [/a, /b], private: true}]}`+"\n")).Flags(); !complete || len(f.Net) != 8 {
		t.Errorf("%v of %q", complete, f.Args())
	}
}

// TestADraftIsNoPolicy loads policies in which the operator has left placeholders.
func TestADraftIsNotAPolicy(t *testing.T) {
	for capability, params := range map[string]string{
		policy.CapabilityFS: "", policy.CapabilityHTTP: "", policy.CapabilityEnv: "", policy.CapabilitySQL: "",
		policy.CapabilitySecret: `{"names":["token"]}`,
	} {
		requested, err := policy.Requested(capability, params)
		if err != nil || !requested.IsOpen() {
			t.Fatalf("%s: got %+v, %v", capability, requested, err)
		}
		if p, err := policy.Parse("open.yaml", requested.Format()); err == nil {
			t.Errorf("%s: what is open is read back as %q", capability, p.Lines())
		}
		if _, err := policy.Parse("draft.yaml", requested.WithPlaceholders().Format()); err == nil || !strings.Contains(err.Error(), "is a placeholder") {
			t.Errorf("%s: got %v of\n%s", capability, err, requested.WithPlaceholders().Format())
		}
	}
}

func TestFlagsAreRefusedWithWhatToDo(t *testing.T) {
	for _, tt := range []struct {
		flags policy.Flags
		want  string
	}{
		{policy.Flags{Dir: []string{"nonsense"}}, "--dir nonsense: write it as HOST:GUEST"},
		{policy.Flags{Dir: []string{"a:/x", "b:/x"}}, "--dir b:/x: /x is granted twice"},
		{policy.Flags{Dir: []string{"~/a:/x"}}, "--dir ~/a:/x: \"~/a\": ~ is not expanded"},
		{policy.Flags{Net: []string{"ftp://a.org"}}, `there is no scheme "ftp"`},
		{policy.Flags{Net: []string{"https://user@a.org"}}, `"user@a.org" is not a host`},
		{policy.Flags{Net: []string{"https://a.org:0"}}, `"0" is not a port`},
		{policy.Flags{Net: []string{"FETCH:https://a.org"}}, `there is no method "FETCH"`},
		{policy.Flags{Net: []string{"https://a.org/x?y"}}, "has a character that path patterns cannot have"},
		{policy.Flags{Net: []string{""}}, "is not a host"},
		{policy.Flags{Env: []string{"A=B"}}, "is not the name of an environment variable"},
		{policy.Flags{Secret: []string{"token=hunter2"}}, "--secret token=…: write it as NAME=env:VARIABLE"},
		{policy.Flags{Secret: []string{"t=env:T"}}, "write a policy file"},
		{policy.Flags{Secret: []string{"t=env:T"}, Net: []string{"a.org", "b.org"}}, "with 2 --net flags"},
		{policy.Flags{SQL: []string{"a=postgres://u:hunter2@h/d"}}, "--sql a=…: the data source name carries a password"},
		{policy.Flags{SQL: []string{"a"}}, "write it as NAME=env:VARIABLE"},
		{policy.Flags{Config: []string{"a"}}, "write it as KEY=VALUE"},
		{policy.Flags{Dir: []string{"FOLDER:/data"}}, "--dir FOLDER:/data: FOLDER is a placeholder"},
		{policy.Flags{Dir: []string{".:/PATH:rw"}}, "/PATH is a placeholder"},
		{policy.Flags{Net: []string{"https://HOST"}}, "HOST is a placeholder"},
		{policy.Flags{Net: []string{"POST:https://HOST:8443/v1"}}, "HOST is a placeholder"},
		{policy.Flags{Env: []string{"VARIABLE"}}, "VARIABLE is a placeholder"},
		{policy.Flags{Secret: []string{"NAME=env:A"}, Net: []string{"a.org"}}, "NAME is a placeholder"},
		{policy.Flags{SQL: []string{"main=env:VARIABLE"}}, "VARIABLE is a placeholder"},
	} {
		_, err := policy.FromFlags(tt.flags)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v, want %q", tt.flags.Args(), err, tt.want)
		}
	}
}

func TestMergePrefersTheLaterPolicy(t *testing.T) {
	file := parse(t, permissions(`  storage: {allow: [{uri: "fs:///srv", guest: /data, access: [read]}, {uri: "fs:///a", access: [read]}]}
  environment: {allow: [{key: A}]}
  config: {owner: ada, x: y}
  kv: {max_bytes: 1Mi}
  resources: {limits: {memory: 64Mi, fuel: 10}}
`))
	flags, err := policy.FromFlags(policy.Flags{Dir: []string{"/other:/data"}, Net: []string{"a.org"}, Env: []string{"A", "B"}, Config: []string{"owner=bob"}})
	if err != nil {
		t.Fatal(err)
	}
	flags.Limits.Fuel = 20
	before := string(file.Format())
	want := parse(t, permissions(`  storage: {allow: [{uri: "fs:///other", guest: /data, access: [read]}, {uri: "fs:///a", access: [read]}]}
  network: {allow: [{host: a.org}]}
  environment: {allow: [{key: A}, {key: B}]}
  config: {owner: bob, x: y}
  kv: {max_bytes: 1Mi}
  resources: {limits: {memory: 64Mi, fuel: 20}}
`))
	if diff := cmp.Diff(want, policy.Merge(file, flags)); diff != "" {
		t.Error(diff)
	}
	if string(file.Format()) != before {
		t.Error("what was merged has changed")
	}
}

func TestRequestedReadsParametersOfManifests(t *testing.T) {
	for _, tt := range []struct{ capability, params, want string }{
		{"fs", `{"paths":["/x","/y"]}`, "read files at /x; read files at /y"},
		{"fs", `{"paths":["/x"],"access":["read","write"]}`, "read and write files at /x"},
		{
			"fs", `{"paths":["/x","/y"],"access":["write"],"max_bytes":"1Mi","max_files":20}`,
			"write files at /x, adding up to 1Mi, and at most 20 files and folders; " +
				"write files at /y, adding up to 1Mi, and at most 20 files and folders",
		},
		{"fs", `{"access":["write"],"max_bytes":268435456,"max_files":10000}`, "write files"},
		{"fs", ``, "read files"},
		{"http", `{"hosts":["api.example.org"],"methods":["POST"],"secrets":["token"]}`, "send POST to https://api.example.org, with the secret token"},
		{"http", `{"allow":[{"host":"a.org"},{"host":"b.org","paths":["/x"]}]}`, "send GET, HEAD to https://a.org; send GET, HEAD to https://b.org/x"},
		{"http", `{}`, "send GET, HEAD to https://(hosts it does not name)"},
		{"sql", `{"connections":["main"]}`, "read the database main"},
		{"sql", ``, "read databases by connections it does not name"},
		{"kv", `{"max_bytes":1048576}`, "keep values between requests, up to 1Mi"},
		{"kv", ``, "keep values between requests"},
		{"env", `{"keys":["LANG"]}`, "read the environment variable LANG"},
		{"secret", `{"names":["token"]}`, "use the secret token, unseen"},
	} {
		p, err := policy.Requested(tt.capability, tt.params)
		if err != nil || strings.Join(p.Lines(), "; ") != tt.want {
			t.Errorf("%s %s: got %q, %v, want %q", tt.capability, tt.params, p.Lines(), err, tt.want)
		}
	}
	for _, tt := range [][2]string{
		{"teleport", ""}, {"fs", `{"paths":["../etc"]}`}, {"http", `{"host":"a.org"}`}, {"http", `{"hosts":"a.org"}`}, {"kv", `[]`}, {"fs", `{"paths":["/data:rw"]}`}, {"fs", `{"paths":["/x:/etc"]}`}, {"fs", `{"max_bytes":1}`}, {"fs", `{"access":["write"],"max_bytes":0}`}, {"sql", `{"connections":["a b"]}`},
		{"env", `{"keys":["` + strings.Repeat("A", 1000) + `"]}`},
	} {
		if p, err := policy.Requested(tt[0], tt[1]); err == nil {
			t.Errorf("%s %s: it is taken for %q", tt[0], tt[1], p.Lines())
		}
	}
}

func TestSchemaIsTheOneInTheGoldenFile(t *testing.T) { golden(t, "schema.json", policy.Schema()) }

// What Parse reads, editors with the schema accept; what has a key, a type or a word that is not known, neither does.
func TestSchemaAndParserAgree(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(policy.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text string) error {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(value)
	}
	if err := valid(full); err != nil {
		t.Errorf("the schema refuses a policy: %v", err)
	}
	if err := valid(string(fullPolicy().Format())); err != nil {
		t.Errorf("the schema refuses what Format writes: %v", err)
	}
	for _, text := range []string{
		"  network: {allow: [{hosts: a.org}]}", "  network: {allow: [{}]}", "  storage: {allow: {}}", "  storage: {allow: [{uri: \"fs://a\"}]}",
		"  storage: {allow: [{uri: \"fs://a\", access: [raed]}]}", "  storage: {allow: [{uri: \"fs://a\", access: [write], max-bytes: 1}]}",
		"  storage: {allow: [{uri: \"fs://a\", access: [write], max_files: []}]}", "  network: {allow: [{host: a.org, methods: [get]}]}",
		"  network: {allow: [{host: a.org, ports: [0]}]}", "  secrets: [{name: \"a b\", env: A}]", "  environment: {allow: [{key: A=B}]}", "  kv: []",
	} {
		if err := valid(permissions(text)); err == nil {
			t.Errorf("%s: the schema accepts it", text)
		}
		if _, err := policy.Parse("policy.yaml", []byte(permissions(text+"\n"))); err == nil {
			t.Errorf("%s: the parser accepts it", text)
		}
	}
}

func TestLinesContainNoValues(t *testing.T) {
	p := parse(t, full)
	lines := p.Lines()
	if slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "ada") }) {
		t.Errorf("a value of the configuration is told: %q", lines)
	}
	golden(t, "full.lines", []byte(strings.Join(lines, "\n")+"\n"))
}

func TestExplainNamesTheRule(t *testing.T) {
	p := parse(t, permissions(`  storage: {allow: [{uri: "fs:///srv", guest: /data, access: [read, write]}, {uri: "fs:///in", guest: /data/in, access: [read]}]}
  network: {allow: [{host: a.org}]}
  environment: {allow: [{key: LANG}]}
  kv: {read_only: true}
  sql: [{name: main, dsn_env: D}]
`))
	match := func(rules []policy.Network, method, url string) (policy.Verdict, error) {
		return policy.Verdict{Allowed: len(rules) == 1 && method == "GET", Why: url}, nil
	}
	for _, tt := range []struct{ method, url, want string }{
		{"get", "https://a.org/x", "true  https://a.org/x"},
		{"read", "fs:/data/a", "true read and write files at /data, which are those of /srv the rule allows it"},
		{"write", "fs:///data/in/a", "false read files at /data/in, which are those of /in the folder is not granted for this access"},
		{"read", "fs:/database", "false  the path is in no granted folder"},
		{"read", "fs:/data/../x", "false  the path has dot segments or double slashes, which are never allowed"},
		{"GET", "env:LANG", "true read the environment variable LANG the rule allows it"},
		{"read", "env:HOME", "false  no rule grants the variable"},
		{"write", "env:LANG", "false read the environment variable LANG variables are read only"},
		{"read", "kv:", "true read kept values the rule allows it"},
		{"put", "kv:", "false read kept values the store is read only"},
		{"read", "sql:main", "true read the database main, by the environment variable D the rule allows it"},
		{"write", "sql:main", "false read the database main, by the environment variable D databases are read only"},
		{"read", "sql:other", "false  no rule grants a connection of this name"},
	} {
		v, err := policy.Explain(p, tt.method, tt.url, match)
		if got := fmt.Sprint(v.Allowed, " ", v.Rule, " ", v.Why); err != nil || got != tt.want {
			t.Errorf("%s %s: got %s, %v, want %s", tt.method, tt.url, got, err, tt.want)
		}
	}
	for _, bad := range [][2]string{{"read", "nonsense"}, {"GET", "ftp://a"}, {"POST", "fs:/data"}} {
		if v, err := policy.Explain(p, bad[0], bad[1], match); err == nil {
			t.Errorf("%v: got %+v", bad, v)
		}
	}
}
