package policy_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/strict"
)

var update = flag.Bool("update", false, "write the golden files anew")

// full is a policy with everything in it.
const full = `# yaml-language-server: $schema=https://example.org/policy.schema.json
$schema: https://example.org/policy.schema.json
version: "1.0"
description: what the notes may touch
engine: wazero
permissions:
  storage:
    allow:
      - uri: "fs://workspace/**"
        access: [read, write]
        max_bytes: 64MiB
        max_files: 100
      - {uri: "fs:///srv/notes", guest: /notes, access: ["read"]}
  network:
    allow:
      - host: API.example.org
        schemes: [https]
        ports: [443, 8443]
        methods: [GET, POST]
        paths: [/v1, /v2/*/profile]
        secrets: [token]
      - host: 127.0.0.1
        schemes: [http]
        private: true
      - host: "*.example.org"
  environment:
    allow:
      - key: LANG
  config:
    owner: ada
    retries: 3
    verbose: true
    empty: ""
  secrets:
    - name: token
      env: API_TOKEN
    - {name: other, keyring: wasmres/other}
  kv:
    max_bytes: 10Mi
    max_keys: 1000
  sql:
    - name: users
      dsn: sqlite:users.db
      timeout: 2s
    - name: main
      dsn_env: DATABASE_URL
  resources:
    limits:
      cpu: 500m
      memory: 512Mi
      fuel: 1000000
      timeout: 1m30s
      output: 1Gi
      stack: 1MiB
      log: 1000
`

func fullPolicy() *policy.Policy {
	return &policy.Policy{
		Description: "what the notes may touch", Engine: "wazero",
		Storage: []policy.Storage{
			{
				Host: "workspace", Guest: "/workspace", Access: policy.Read | policy.Write, MaxBytes: 64 << 20, MaxFiles: 100,
			},
			{Host: "/srv/notes", Guest: "/notes", Access: policy.Read},
		},
		Network: []policy.Network{
			{
				Host: "api.example.org", Schemes: []string{"https"}, Ports: []uint16{443, 8443}, Methods: []string{"GET", "POST"},
				Paths: []string{"/v1", "/v2/*/profile"}, Secrets: []string{"token"},
			},
			{Host: "127.0.0.1", Schemes: []string{"http"}, Private: true},
			{Host: "*.example.org"},
		},
		Environment: []string{"LANG"},
		Config:      map[string]string{"owner": "ada", "retries": "3", "verbose": "true", "empty": ""},
		Secrets:     []policy.Secret{{Name: "token", Env: "API_TOKEN"}, {Name: "other", Keyring: "wasmres/other"}},
		KV:          &policy.KV{MaxBytes: 10 << 20, MaxKeys: 1000},
		SQL: []policy.SQL{
			{Name: "users", DSN: "sqlite:users.db", Timeout: 2 * time.Second}, {Name: "main", DSNEnv: "DATABASE_URL"},
		},
		Limits: policy.Limits{
			MilliCPU: 500, Memory: 512 << 20, Fuel: 1_000_000, Timeout: 90 * time.Second, Output: 1 << 30, Stack: 1 << 20, Log: 1000,
		},
	}
}

func parse(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// permissions is a policy of which only the permissions are of interest.
func permissions(text string) string {
	return "version: \"1.0\"\npermissions:\n" + text
}

func TestParseReadsAllThereIs(t *testing.T) {
	if diff := cmp.Diff(fullPolicy(), parse(t, full)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestParseReadsTheFilesOfWassette(t *testing.T) {
	p := parse(t, `
version: "1.0"
description: "Permission policy for wassette"
permissions:
  storage:
    allow:
    - uri: "fs://workspace/**"
      access: ["read", "write"]
    - uri: "fs://config/"
      access: ["read"]
  network:
    allow:
    - host: "api.openai.com"
    - host: "*.internal.myapp.com"
  environment:
    allow:
    - key: "PATH"
  resources:
    limits:
      cpu: 0.5
      memory: "512Mi"
`)
	want := &policy.Policy{
		Description: "Permission policy for wassette",
		Storage: []policy.Storage{
			{Host: "workspace", Guest: "/workspace", Access: policy.Read | policy.Write},
			{Host: "config", Guest: "/config", Access: policy.Read},
		},
		Network:     []policy.Network{{Host: "api.openai.com"}, {Host: "*.internal.myapp.com"}},
		Environment: []string{"PATH"},
		Limits:      policy.Limits{MilliCPU: 500, Memory: 512 << 20},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestFormatIsCanonicalAndReadBack(t *testing.T) {
	p := parse(t, full)
	first := p.Format()
	golden(t, "full.yaml", first)
	again := parse(t, string(first))
	if second := again.Format(); string(second) != string(first) {
		t.Errorf("formatted again:\n%s\nwant\n%s", second, first)
	}
	if d := policy.Diff(p, again); len(d.More)+len(d.Less) > 0 {
		t.Errorf("what is read back differs: %+v", d)
	}
}

func TestUnderTakesRelativePathsFromAFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.yaml")
	write(t, file, permissions(`  storage: {allow: [{uri: "fs://notes/**", access: [read]}, {uri: "fs:///srv", access: [read]}]}
  secrets: [{name: a, file: token.txt}]
  sql: [{name: users, dsn: "sqlite:users.db"}, {name: other, dsn_file: dsn}]
`))
	p, err := policy.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{p.Storage[0].Host, p.Storage[0].Guest, p.Storage[1].Host, p.Secrets[0].File, p.SQL[0].DSN, p.SQL[1].DSNFile}
	want := []string{filepath.Join(dir, "notes"), "/notes", "/srv", filepath.Join(dir, "token.txt"), "sqlite:" + filepath.Join(dir, "users.db"), filepath.Join(dir, "dsn")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoadBoundsWhatItReads(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.yaml")
	write(t, big, strings.Repeat("# x\n", strict.MaxSize/4+1))
	for file, want := range map[string]string{
		big: "more than 1048576 bytes", dir: "is not a file", filepath.Join(dir, "absent"): "no such file", "/dev/zero": "is not a file",
	} {
		if _, err := policy.Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}
}

// Each file of testdata/wrong is a policy, and under it what is wrong with it.
func TestErrorsSayWhereAndWhatToDo(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := policy.Parse("policy.yaml", text)
			if err == nil {
				t.Fatalf("it is read as %+v", p)
			}
			var said strings.Builder
			for _, problem := range strict.ProblemsOf(err) {
				said.WriteString(problem.Error() + "\n")
			}
			golden(t, strings.TrimPrefix(strings.TrimSuffix(file, ".yaml"), "testdata/")+".txt", []byte(said.String()))
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(permissions("  kv: {}\n")))
	f.Add([]byte("{\"version\": \"1.0\", \"permissions\": {\"config\": {\"a\": \"\\n\\t\\u0000é\"}}}"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("? a\n: |\n  b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := policy.Parse("policy.yaml", text)
		if err != nil {
			if len(strict.ProblemsOf(err)) == 0 {
				t.Fatalf("an error that says no problem: %v", err)
			}
			return
		}
		formatted := p.Format()
		again, err := policy.Parse("policy.yaml", formatted)
		if err != nil {
			t.Fatalf("what was read is not read back: %v\n%s", err, formatted)
		}
		if string(again.Format()) != string(formatted) || !policy.Covers(p, again) || !policy.Covers(again, p) {
			t.Fatalf("%s\nis read back as\n%s", formatted, again.Format())
		}
	})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// golden compares with a file of testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: want -, got +; run with -update if that is right\n%s", file, diff)
	}
}
