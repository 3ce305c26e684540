package tenant_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/sourcetree"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/accesslog"
)

// write writes files, by name, into a folder. They are old enough for a Reader to trust their times, which all differ.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	made := map[string]bool{}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if folder := filepath.Dir(file); !made[folder] {
			made[folder] = true
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		before := time.Now().Add(-time.Hour)
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chtimes(file, before, before)); err != nil {
			t.Fatal(err)
		}
	}
}

// example copies testdata/serve, with the files that it names.
func example(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(sourcetree.Root(), "testdata", "serve"))); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"cert.pem": "", "key.pem": "", "modules/notes.wasm": ""})
	return dir
}

func settings(t testing.TB, dir string) *tenant.Settings {
	t.Helper()
	s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = tenant.DefaultSettings(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A world is a folder of configuration, and what has been read of it.
type world struct {
	*testing.T
	dir      string
	settings *tenant.Settings
	reader   tenant.Reader
	snapshot *tenant.Snapshot
}

func newWorld(t *testing.T, files map[string]string) *world {
	dir := t.TempDir()
	write(t, dir, map[string]string{"modules/a.wasm": "", "tenants/.keep": ""})
	write(t, dir, files)
	return &world{T: t, dir: dir, settings: settings(t, dir), snapshot: &tenant.Snapshot{}}
}

// read reads the tenants, and applies the change as a store does.
func (w *world) read() *tenant.Reading {
	w.Helper()
	r, err := w.reader.ReadTenants(w.settings, w.snapshot)
	if err != nil {
		w.Fatal(err)
	}
	w.snapshot = apply(w.snapshot, &r.Change)
	return r
}

func apply(s *tenant.Snapshot, c *tenant.Change) *tenant.Snapshot {
	next := &tenant.Snapshot{
		Generation: s.Generation + 1, Tenants: maps.Clone(s.Tenants), Hosts: map[string]*tenant.Tenant{}, Plans: s.Plans, Problems: s.Problems,
	}
	if next.Tenants == nil {
		next.Tenants = map[string]*tenant.Tenant{}
	}
	for _, t := range c.SetTenants {
		next.Tenants[t.ID] = t
	}
	for _, id := range c.RemoveTenants {
		delete(next.Tenants, id)
	}
	for _, t := range next.Tenants {
		for _, host := range t.Hosts {
			if next.Hosts[host] != nil {
				panic("two tenants have the host " + host)
			}
			next.Hosts[host] = t
		}
	}
	if c.SetProblems != nil {
		next.Problems = c.SetProblems
	}
	if c.SetPlans != nil {
		next.Plans = map[string]*tenant.Plan{}
		for _, p := range c.SetPlans {
			next.Plans[p.Name] = p
		}
	}
	return next
}

// without returns an error's text without the folder of the test.
func (w *world) without(problems strict.Problems) string {
	lines := []string{}
	for _, p := range problems {
		lines = append(lines, strings.ReplaceAll(p.Error(), w.dir+"/", ""))
	}
	return strings.Join(lines, "\n")
}

func TestTheExampleIsReadAsAWhole(t *testing.T) {
	dir := example(t)
	s := settings(t, dir)
	ceiling := &policy.Policy{
		Description: "What tenants of the plan small may be granted at most.",
		Storage:     []policy.Storage{{Host: dir + "/policies/notes", Guest: "/notes", Access: policy.Read}},
		Network:     []policy.Network{{Host: "*.weather.example"}}, KV: &policy.KV{MaxBytes: 100 << 20},
	}
	want := &tenant.Settings{
		Listen:    []tenant.Listener{{Address: ":8443", Cert: dir + "/cert.pem", Key: dir + "/key.pem"}, {Address: "127.0.0.1:8080"}},
		PublicURL: "https://mcp.example.com", AllowedHosts: []string{"mcp.example.org"},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128")},
		Registries:     tenant.Registries{Allow: []string{"registry.internal:5000"}, Credentials: []string{"registry.internal:5000"}},
		Data:           "/var/lib/wasmres", Tenants: dir + "/tenants",
		Admin: tenant.Admin{Socket: "/run/wasmres/admin.sock", Listen: "127.0.0.1:9090"}, Watch: true,
		Idle: 5 * time.Minute, LiveMemory: 3 << 30, StandbyWorkers: 2, Processors: tenant.Processors{Calls: 16, Waiting: 2000, WaitingPerTenant: 50},
		Plans: map[string]*tenant.Plan{"default": {Name: "default"}, "small": {
			Name: "small", Requests: tenant.Rate{PerSecond: 50, Burst: 200}, PrincipalRequests: tenant.Rate{PerSecond: 10, Burst: 50},
			ProviderRequests: tenant.Rate{PerSecond: 50, Burst: 200}, Concurrent: 16, Streams: 100, PrincipalStreams: 10, Sessions: 200, PrincipalSessions: 20,
			BytesPerSecond: 5 << 20, BytesPerDay: 20 << 30, CPUPerDay: time.Hour, LiveProviders: 4, LiveMemory: 128 << 20, StartsPerMinute: 10, LogBytes: 10 << 20, Modules: 100 << 20,
			Engine: "wazero",
			Limits: policy.Limits{Memory: 64 << 20, Timeout: 5 * time.Second, Output: 64 << 20}, Ceiling: ceiling,
		}},
		AccessLog: tenant.AccessLog{File: "/var/log/wasmres/access.log", Format: accesslog.JSON, Size: 100 << 20, Keep: 5}, LogJSON: true,
		Traces: tenant.Traces{Endpoint: "http://127.0.0.1:4318/v1/traces", Sample: 0.1},
		Files:  []string{dir + "/serve.yaml", dir + "/policies/ceiling-small.yaml"}, Digest: s.Digest,
	}
	if diff := cmp.Diff(want, s, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" || len(s.Digest) != 64 {
		t.Errorf("settings: want -, got +\n%s", diff)
	}
	var reader tenant.Reader
	r, err := reader.ReadTenants(s, nil)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("got %v, %v", r, err)
	}
	all := []string{"list", "read", "watch", "complete", "download"}
	read := tenant.Rule{Actions: all[:4], URIs: []string{"notes://**"}, Providers: []string{"notes"}}
	acme := &tenant.Tenant{
		ID: "acme", Plan: "small", Hosts: []string{"acme.mcp.example.com"}, Origins: []string{"https://app.acme.example"},
		Providers: []tenant.Provider{{
			Name: "notes", Module: dir + "/modules/notes.wasm", RecordCrashes: true, Engine: "wazero", Prefixes: []string{"notes:"},
			Policy: policy.Policy{
				Description: "The notes of ACME.", Storage: []policy.Storage{{Host: dir + "/policies/notes", Guest: "/notes", Access: policy.Read}},
				Limits: policy.Limits{Timeout: 5 * time.Second},
			},
		}, {
			Name: "weather", Module: "ghcr.io/ada/weather:1.2.0", Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			Policy: policy.Policy{Description: "The weather of the offices.", Network: []policy.Network{{Host: "api.weather.example"}}},
		}},
		Roles: []tenant.Role{
			{Name: "editor", Rules: []tenant.Rule{{Actions: all, URIs: []string{"notes://drafts/**", "weather://**"}}, read}},
			{Name: "reader", Rules: []tenant.Rule{read}},
		},
		CrashURIs: true, Anonymous: []string{"reader"}, Owner: tenant.OwnerFiles,
		Files: []string{dir + "/tenants/acme.yaml", dir + "/policies/notes.yaml"},
	}
	if len(r.Change.SetTenants) != 1 {
		t.Fatalf("got %+v", r.Change)
	}
	got := r.Change.SetTenants[0]
	if diff := cmp.Diff(acme, got, cmpopts.IgnoreFields(tenant.Tenant{}, "Digest"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("tenant: want -, got +\n%s", diff)
	}
	if r.Change.Owner != tenant.OwnerFiles || len(r.Change.SetPlans) != 2 || !slices.Equal(r.Policies, acme.Files[1:]) {
		t.Errorf("got %+v, %v", r.Change, r.Policies)
	}

	write(t, dir, map[string]string{"tenants/copy.yaml": strings.Replace(string(got.Encode()), "acme.mcp", "copy.mcp", 1)})
	r, err = reader.ReadTenants(s, apply(&tenant.Snapshot{}, &r.Change))
	if err != nil || len(r.Change.SetTenants) != 1 {
		t.Fatalf("got %v, %v", r, err)
	}
	same := cmpopts.IgnoreFields(tenant.Tenant{}, "ID", "Hosts", "Files", "Digest")
	if diff := cmp.Diff(got, r.Change.SetTenants[0], same, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the encoded tenant reads otherwise: want -, got +\n%s\n%s", diff, got.Encode())
	}
}

func TestDefaults(t *testing.T) {
	dir := t.TempDir()
	s := settings(t, dir)
	want := &tenant.Settings{
		Listen: []tenant.Listener{{Address: "127.0.0.1:8080"}}, Data: dir, Tenants: dir + "/tenants", Admin: tenant.Admin{Socket: dir + "/admin.sock"},
		Watch: true, Idle: 5 * time.Minute, StandbyWorkers: 2, Plans: map[string]*tenant.Plan{"default": {Name: "default"}},
		AccessLog: tenant.AccessLog{Size: 100 << 20, Keep: 5},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	for text, want := range map[string]string{"watch: true": dir + "/data", "data: mine": dir + "/mine"} {
		write(t, dir, map[string]string{"serve.yaml": text})
		s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), "")
		if err != nil || s.Data != want || s.Admin.Socket != want+"/admin.sock" {
			t.Errorf("%s: got %+v, %v, want the data in %s", text, s, err, want)
		}
	}
	write(t, dir, map[string]string{"serve.yaml": "watch: false\nstandby_workers: 7\naccess_log: {file: stderr}\nplans: {default: {requests: {rate: 90/m}}}"})
	s = settings(t, dir)
	if s.Watch || s.StandbyWorkers != 7 || s.AccessLog.File != "stderr" || s.Plans["default"].Requests != (tenant.Rate{PerSecond: 1.5, Burst: 3}) {
		t.Errorf("got %+v", s)
	}
}

// A file with several problems is refused as a whole, and each has its place.
func TestWrongSettingsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "serve.yaml: the file is empty",
		"\xff":                           "serve.yaml: the file is not UTF-8: convert it",
		"listne: []":                     `serve.yaml:1:1: unknown key "listne": did you mean "listen"?`,
		"listen: []":                     "serve.yaml:1:9: the list is empty: remove the key, or add an entry",
		"listen: [{address: 8080}]":      "serve.yaml:1:20: this is a number, expected a text: write it in quotes",
		"listen: [{address: localhost}]": `serve.yaml:1:20: "localhost" is not an address to listen on: write it like 127.0.0.1:8080, or :8080 for all networks`,
		"listen: [{address: \":8080\"}]": "serve.yaml:1:20: other machines reach :8080, and API keys would be sent there unencrypted: add tls, or insecure: true where a proxy in front of the server speaks HTTPS",
		"listen:\n- address: :1\n  tls: {cert: a.pem, key: serve.yaml}": "serve.yaml:3:15: DIR/a.pem: no such file or directory: copy it there, or change the path",
		"public_url: https://a.example/mcp":                             `serve.yaml:1:13: "https://a.example/mcp" is not the URL of a server: write it like https://mcp.example.com, without a path`,
		"allowed_hosts: [\"a.example:80\"]":                             `serve.yaml:1:17: "a.example:80" is more than a host: write a.example, without a scheme and a port`,
		"trusted_proxies: [proxy.example]":                              `serve.yaml:1:19: "proxy.example" is not a network: write it like 10.0.0.0/8 or 192.0.2.7`,
		"trusted_proxies: [0.0.0.0/0]":                                  `serve.yaml:1:19: "0.0.0.0/0" has all addresses, so that every client could choose its own: name the networks of the proxies`,
		"tenants: ~/tenants":                                            `serve.yaml:1:10: "~/tenants": ~ is not expanded: write the whole path`,
		"idle: 5":                                                       "serve.yaml:1:7: this is a number, expected a text: write it in quotes",
		"memory: {live: 3G1}":                                           `serve.yaml:1:16: "3G1" is not a size: write it like 64Mi, 512Ki or 2Gi`,
		"processors: {calls: 4097}":                                     "serve.yaml:1:21: 4097 is more than 4096, the most calls that may run at once: set a smaller number",
		"processors: {waiting: 0}":                                      `serve.yaml:1:23: "0" is not a whole number from 1 to 1000000000`,
		"standby_workers: -1":                                           `serve.yaml:1:18: "-1" is not a whole number from 1 to 1000000000`,
		"plans: {a b: {}}":                                              `serve.yaml:1:9: the key "a b": "a b" is not a name: a name begins with a letter or digit, and has letters, digits, "_", "-" and ".", at most 64`,
		"plans: {a: {requests: {rate: 5}}}":                             `serve.yaml:1:30: this is a number, expected a text: write it in quotes`,
		"plans: {a: {requests: {rate: 5/d}}}":                           `serve.yaml:1:30: "5/d" is not a rate: write it like 50/s, 100/m or 1000/h`,
		"plans: {a: {requests: {burst: 5}}}":                            "serve.yaml:1:24: burst bounds what comes at once, and the rate is missing: add rate, as 50/s",
		"plans: {a: {limits: {memory: 5Gi}}}":                           "serve.yaml:1:30: at most 4Gi are possible",
		"plans: {a: {limits: {stack: 64Mi}}}":                           "serve.yaml:1:29: at most 32Mi are possible",
		"plans: {a: {ceiling: none.yaml}}":                              "serve.yaml:1:22: the ceiling cannot be read: stat DIR/none.yaml: no such file or directory",
		"plans: {a: {ceiling: .}}":                                      "serve.yaml:1:22: the ceiling cannot be read: DIR: it is a folder",
		"plans: {a: {ceiling: bad.yaml}}":                               `bad.yaml:1:1: unknown key "versoin": did you mean "version"?`,
		"plans: {a: {ceiling: limits.yaml}}":                            "serve.yaml:1:22: the ceiling has limits, which are those of the plan: move them to limits",
		"log_format: xml":                                               `serve.yaml:1:13: there is no format "xml": it is one of text, json`,
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{
			"serve.yaml": text, "bad.yaml": "versoin: \"1.0\"", "limits.yaml": `{version: "1.0", permissions: {resources: {limits: {memory: 1Mi}}}}`,
		})
		s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
		if err == nil {
			t.Errorf("%s: got %+v, want an error", text, s)
			continue
		}
		got := strings.ReplaceAll(strings.TrimPrefix(strict.ProblemsOf(err)[0].Error(), dir+"/"), dir, "DIR")
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
	if _, err := tenant.ReadSettings(t.TempDir(), ""); len(strict.ProblemsOf(err)) != 1 {
		t.Errorf("a folder: got %v", err)
	}
	if _, err := tenant.ReadSettings(filepath.Join(t.TempDir(), "none.yaml"), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(sourcetree.Root(), "docs", "hosting.md"))
	if err != nil {
		t.Fatal(err)
	}
	var visit func(name string, schema map[string]any, shared bool)
	visit = func(name string, schema map[string]any, shared bool) {
		properties, _ := schema["properties"].(map[string]any)
		for key, v := range properties {
			property := v.(map[string]any)
			if property["description"] == "" {
				t.Errorf("%s.%s has no doc", name, key)
			}
			shared := shared || key == "permissions" || key == "limits" // docs/capabilities.md
			if !shared && key != "$schema" && !strings.Contains(string(page), "`"+key+"`") {
				t.Errorf("docs/hosting.md does not name %s.%s", name, key)
			}
			visit(name+"."+key, property, shared)
		}
		for _, key := range []string{"items", "additionalProperties"} {
			if inner, ok := schema[key].(map[string]any); ok {
				visit(name, inner, shared)
			}
		}
	}
	for name, text := range map[string][]byte{"serve.yaml": tenant.SettingsSchema(), "tenant": tenant.TenantSchema()} {
		var schema map[string]any
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		visit(name, schema, false)
	}
}

// The examples of docs/hosting.md are the files of testdata/serve, which another test reads.
func TestThePageShowsTheExample(t *testing.T) {
	root := sourcetree.Root()
	page, err := os.ReadFile(filepath.Join(root, "docs", "hosting.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, block := range regexp.MustCompile("(?s)```yaml\n# ([a-z/-]+\\.yaml)\n(.*?)```\n").FindAllStringSubmatch(string(page), -1) {
		text, err := os.ReadFile(filepath.Join(root, "testdata", "serve", block[1]))
		if err != nil || string(text) != block[2] {
			t.Errorf("%s, %v: want -, got +\n%s", block[1], err, cmp.Diff(string(text), block[2]))
		}
		shown++
	}
	if shown < 3 {
		t.Errorf("docs/hosting.md shows %d files, want serve.yaml, a tenant and a policy", shown)
	}
}

func TestANewFolderIsUsable(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, want := range []bool{true, false} {
		if written, err := tenant.InitDir(data); written != want || err != nil {
			t.Fatalf("got %v, %v, want %v", written, err, want)
		}
	}
	s := settings(t, data)
	var reader tenant.Reader
	r, err := reader.ReadTenants(s, nil)
	if err != nil || len(r.Problems) > 0 || len(r.Change.SetTenants) != 1 {
		t.Fatalf("got %+v, %v", r, err)
	}
	got := r.Change.SetTenants[0]
	if got.ID != "default" || len(got.Roles) != 1 || got.Roles[0].Name != "reader" || got.Roles[0].Rules[0].URIs[0] != "**" || got.Anonymous != nil {
		t.Errorf("got %+v", got)
	}
	left, err := filepath.Glob(filepath.Join(data, "*", ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}

	// Comments that begin without a space are settings that an operator may turn on.
	on := regexp.MustCompile(`(?m)^#([^ ]|  )`)
	for _, name := range []string{"serve.yaml", "tenants/default.yaml"} {
		text, err := os.ReadFile(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, data, map[string]string{name: on.ReplaceAllString(string(text), "$1")})
	}
	write(t, data, map[string]string{"cert.pem": "", "key.pem": "", "notes.wasm": ""})
	s = settings(t, data)
	if r, err = reader.ReadTenants(s, nil); err != nil || len(r.Problems) > 0 || len(s.Listen) != 2 || len(r.Change.SetTenants[0].Anonymous) != 1 {
		t.Errorf("got %+v, %+v, %v", s, r, err)
	}

	// What an operator has removed or written stays so.
	if err := os.Remove(filepath.Join(data, "tenants", "default.yaml")); err != nil {
		t.Fatal(err)
	}
	if written, err := tenant.InitDir(data); written || err != nil {
		t.Errorf("got %v, %v", written, err)
	}
	if _, err := os.Stat(filepath.Join(data, "tenants", "default.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the removed tenant is back: %v", err)
	}
	other := t.TempDir()
	write(t, other, map[string]string{"tenants/default.yaml": "disabled: true"})
	if written, err := tenant.InitDir(other); !written || err != nil {
		t.Errorf("got %v, %v", written, err)
	}
	if text, err := os.ReadFile(filepath.Join(other, "tenants", "default.yaml")); string(text) != "disabled: true" {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestPlansBoundLimits(t *testing.T) {
	p := &tenant.Plan{Name: "p", Limits: policy.Limits{Memory: 32 << 20, MilliCPU: 500}}
	if err := p.Permits(&policy.Policy{Limits: policy.Limits{Memory: 32 << 20, MilliCPU: 500, Timeout: 2 * time.Second, Stack: 8 << 20}}); err != nil {
		t.Error(err)
	}
	for _, l := range []policy.Limits{{Memory: 33 << 20}, {MilliCPU: 501}, {Timeout: time.Minute}, {Output: 1 << 30}, {Fuel: 1 << 60}, {Stack: 9 << 20}, {Log: 1 << 20}} {
		if err := p.Permits(&policy.Policy{Limits: l}); err == nil {
			t.Errorf("%+v is permitted", l)
		}
	}
	if err := p.Permits(&policy.Policy{Network: []policy.Network{{Host: "a.example"}}}); err != nil {
		t.Errorf("without a ceiling: %v", err)
	}
	p.Ceiling = &policy.Policy{Network: []policy.Network{{Host: "a.example"}}}
	err := p.Permits(&policy.Policy{Network: []policy.Network{{Host: "b.example"}}, KV: &policy.KV{}})
	if err == nil || !strings.Contains(err.Error(), "b.example") || !strings.Contains(err.Error(), "plan p") {
		t.Errorf("got %v", err)
	}
}

func TestIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "0": true, "a-b": true, "a--b": true, strings.Repeat("a", 63): true,
		"": false, "-a": false, "a-": false, "A": false, "a.b": false, "a_b": false, "ä": false, strings.Repeat("a", 64): false, "a\n": false,
	} {
		if got := tenant.IsID(id); got != want {
			t.Errorf("%q: got %v", id, got)
		}
	}
}
