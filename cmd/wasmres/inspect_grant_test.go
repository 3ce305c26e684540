package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// say runs a command in this process, and gives what it says on standard output and standard error.
func say(t *testing.T, status int, args ...string) (out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	if got := Main(t.Context(), append([]string{"wasmres"}, args...), strings.NewReader(""), &o, &e); got != status {
		t.Fatalf("%q: status %d, want %d\n%s%s", args, got, status, o.String(), e.String())
	}
	return o.String(), e.String()
}

// filled takes a command line apart, as a shell does, and fills in the placeholders.
func filled(t *testing.T, fill *strings.Replacer, line string) (args []string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	for word := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		args = append(args, fill.Replace(word))
	}
	return args
}

// A grantTest has what a provider requests, by capability and parameters, and what is permitted once that is granted.
type grantTest struct {
	name string
	asks [][2]string
	want []string
}

// What inspect says how to grant, once its placeholders are filled in, grants what is asked for, and no more.
func TestInspectSaysHowToGrant(t *testing.T) {
	if testing.Short() {
		t.Skip("runs each command that inspect prints")
	}
	home := t.TempDir()
	notes, database := filepath.Join(home, "my notes"), filepath.Join(home, "main.db")
	if err := os.Mkdir(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	makeDatabase(t, database)
	for name, value := range map[string]string{
		"WASMRES_CACHE_DIR": guesttest.CacheDir(t), "WASMRES_DATA_DIR": filepath.Join(home, "data"),
		"WASMRES_ISOLATION": "in-process",
		"TEST_SECRET":       "hunter2-hunter2", "TEST_DSN": "sqlite:" + database,
	} {
		t.Setenv(name, value)
	}
	t.Chdir(home)
	fill := strings.NewReplacer(
		"FOLDER", "my notes", "main=env:VARIABLE", "main=env:TEST_DSN", "dsn_env: VARIABLE", "dsn_env: TEST_DSN",
		"VARIABLE", "TEST_SECRET", "/PATH", "/path",
	)
	for _, tt := range []grantTest{
		{"a folder", [][2]string{{"fs", `{"paths":["/notes"]}`}}, []string{"read files at /notes, which are those of " + notes}},
		{
			"folders to write to", [][2]string{{"fs", `{"paths":["/a b","/c"],"access":["read","write"]}`}},
			[]string{"read and write files at /a b, which are those of " + notes, "read and write files at /c, which are those of " + notes},
		},
		{"whatever folder", [][2]string{{"fs", ""}}, []string{"read files at /path, which are those of " + notes}},
		{
			"a box of a size", [][2]string{{"fs", `{"paths":["/out"],"access":["write"],"max_bytes":"1Mi"}`}},
			[]string{"write files at /out, which are those of " + notes + ", adding up to 1Mi"},
		},
		{
			"servers", [][2]string{{"http", `{"hosts":["a.org","b.org"],"methods":["GET","POST"],"paths":["/v1"],"ports":[8443]}`}},
			[]string{"send GET, POST to https://a.org:8443/v1", "send GET, POST to https://b.org:8443/v1"},
		},
		{
			"a server with a secret", [][2]string{{"http", `{"hosts":["a.org"]}`}, {"secret", `{"names":["token"]}`}},
			[]string{
				"send GET, HEAD to https://a.org, with the secret token",
				"use the secret token, unseen, from the environment variable TEST_SECRET",
			},
		},
		{
			"one server of two with a secret", [][2]string{{"http", `{"allow":[{"host":"a.org","secrets":["token"]},{"host":"b.org","private":true}]}`}},
			[]string{
				"send GET, HEAD to https://a.org, with the secret token", "send GET, HEAD to https://b.org, also at private addresses",
				"use the secret token, unseen, from the environment variable TEST_SECRET",
			},
		},
		{
			"a database", [][2]string{{"sql", `{"connections":["main"]}`}},
			[]string{"read the database main, by the environment variable TEST_DSN"},
		},
		{"a store", [][2]string{{"kv", ""}}, []string{"keep values between requests"}},
		{"a store of a size", [][2]string{{"kv", `{"max_bytes":1048576}`}}, []string{"keep values between requests, up to 1Mi"}},
		{
			"all of it", [][2]string{{"env", `{"keys":["LANG"]}`}, {"kv", ""}, {"fs", `{"paths":["/notes"]}`}, {"http", `{"hosts":["a.org"]}`}},
			[]string{
				"read files at /notes, which are those of " + notes, "send GET, HEAD to https://a.org", "keep values between requests",
				"read the environment variable LANG",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, fill) })
	}
}

func (tt *grantTest) run(t *testing.T, fill *strings.Replacer) {
	t.Setenv("WASMRES_APPROVALS", filepath.Join(t.TempDir(), "approvals"))
	file := tt.provider(t)
	before := looked(t, file)
	sheet, _ := say(t, cli.StatusOK, "inspect", "--no-samples", file)
	if !strings.Contains(sheet, before.Approve+"\n") {
		t.Errorf("%q is not in\n%s", before.Approve, sheet)
	}
	if _, refused := say(t, cli.StatusFailed, "run", file); !strings.HasSuffix(refused, ": "+before.Approve+"\n") ||
		strings.Contains(refused, "'wasmres inspect' prints") != strings.HasSuffix(before.Approve, " POLICY.yaml") {
		t.Errorf("the refusal says %q, not %q", refused, before.Approve)
	}
	grant := before.Approve
	if !strings.Contains(grant, " --") { // it asks on a terminal; elsewhere it says what to write
		_, said := say(t, cli.StatusUsage, "permission", "grant", file)
		_, grant, _ = strings.Cut(strings.TrimSpace(said), " as in: ")
		grant, _, _ = strings.Cut(grant, " (see ")
	}
	if before.Policy == "" { // by the flags of each capability, for one run
		args := []string{"inspect", "--no-samples", file}
		for _, c := range before.Capabilities {
			args = append(args, filled(t, fill, c.Flags)...)
		}
		if sheet, _ := say(t, cli.StatusOK, args...); strings.Count(sheet, " (granted)\n") != len(tt.asks) {
			t.Errorf("%q\ngrants\n%s", args, sheet)
		}
	} else {
		_, text, _ := strings.Cut(sheet, "\nPOLICY.yaml ")
		_, text, _ = strings.Cut(text, "\n")
		text, _, _ = strings.Cut(text, "\n\n")
		if err := os.WriteFile("POLICY.yaml", []byte(fill.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, lacking := say(t, cli.StatusOK, filled(t, fill, grant)[1:]...); lacking != "" {
		t.Errorf("%s: %s", grant, lacking)
	}
	after := looked(t, file)
	if diff := cmp.Diff(tt.want, after.Permits); diff != "" || after.Approve != "" {
		t.Errorf("%s\nwant -, permitted +\n%s\nstill to be granted: %s", before.Approve, diff, after.Approve)
	}
}

// provider returns the file of one that asks so.
func (tt *grantTest) provider(t *testing.T) (file string) {
	t.Helper()
	puppet := guesttest.Puppet{Manifest: abi.Manifest{Name: "puppet"}}
	for _, ask := range tt.asks {
		puppet.Manifest.Capabilities = append(puppet.Manifest.Capabilities, abi.Capability{Name: ask[0], Params: ask[1]})
	}
	file = filepath.Join(t.TempDir(), "it's a puppet.wasm")
	if err := os.WriteFile(file, puppet.Binary(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// An inspection is what these tests read of what inspect prints as JSON.
type inspection struct {
	Permits      []string
	Approve      string
	Policy       string
	Capabilities []struct{ Flags string }
}

// looked returns what inspect says of a provider for machines.
func looked(t *testing.T, file string) (found inspection) {
	t.Helper()
	text, _ := say(t, cli.StatusOK, "inspect", "--no-samples", "--output-format", "json", file)
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func makeDatabase(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err == nil {
		_, err = db.Exec("create table users (id integer)")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
