package node_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/crashes"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/seal"
	"github.com/wasmres/wasmres/internal/session"
	"github.com/wasmres/wasmres/internal/tenant"
)

// A crashing server has the tenant acme, whose clients need no key.
type crashing struct {
	address string
	client  *admin.Client
	node    *node.Node
	data    string // its folder
	log     *lockedBuffer
}

// serveCrashing serves a tenant with these providers, by YAML, until the end of the test.
func serveCrashing(tb testing.TB, providers, more string) *crashing {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "data")
	write(tb, filepath.Join(dir, "tenants", "acme.yaml"), "providers:\n"+providers+"roles:\n  all: [{uris: [\"**\"]}]\nauth: {anonymous: [all]}\n"+more)
	key := filepath.Join(tb.TempDir(), "secrets.key")
	if err := seal.New().WriteNew(key); err != nil {
		tb.Fatal(err)
	}
	write(tb, filepath.Join(dir, "serve.yaml"), fmt.Sprintf("secrets: {key: %q}\n", key)+"listen: [{address: \"127.0.0.1:0\"}]\nplans:\n  large: {limits: {timeout: 2m}}\n  recorded: {audit: {reads: true}}\n"+unbounded)
	s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
	if err != nil {
		tb.Fatal(err)
	}
	log := &lockedBuffer{}
	n, report, err := node.Open(tb.Context(), node.Config{
		Settings: s, CacheDir: guesttest.CacheDir(tb), Version: "1", Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		tb.Fatal(err)
	}
	if len(report.Problems) > 0 {
		tb.Fatal(report.Problems)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended, ready := make(chan error, 2), make(chan struct{})
	go func() { ended <- n.Serve(ctx, l, nil) }()
	go func() { ended <- n.Operate(ctx, func() { close(ready) }) }()
	<-ready
	c := &crashing{address: l.Addr().String(), client: admintest.Client(tb, s.Admin.Socket), node: n, data: dir, log: log}
	tb.Cleanup(func() {
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				tb.Error(err)
			}
		}
		if err := n.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// read reads a URI as a client, and returns the status.
func (c *crashing) read(tb testing.TB, uri string) string {
	tb.Helper()
	response, err := http.Get("http://" + c.address + "/t/acme/mcp?uri=" + url.QueryEscape(uri))
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return response.Status + " " + string(text)
}

// crashes returns what operators see.
func (c *crashing) crashes(tb testing.TB) []crashes.Report {
	tb.Helper()
	page, err := c.client.Crashes(tb.Context(), "acme", "")
	if err != nil {
		tb.Fatal(err)
	}
	return page.Items
}

// replayCrash runs a session as wasmres test does.
func replayCrash(tb testing.TB, file string, text []byte) *session.Report {
	tb.Helper()
	s, err := session.Parse("crash.txtar", text)
	if err != nil {
		tb.Fatalf("%v in\n%s", err, text)
	}
	host := session.Replay(s)
	cfg := app.Config{File: file, CacheDir: guesttest.CacheDir(tb), ReplaceServices: host.Services, Clock: s.Clock(), Limits: s.Limits}
	cfg.Grants.Config = s.Grants.Config
	a, err := app.Open(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	defer a.Close()
	report, err := session.Run(tb.Context(), session.Config{
		Session: s, Host: host, Source: a.Provider().Source(), Replay: a.Provider().Replay, Digest: a.Provider().Info().Digest,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return report
}

// A crash of a hosted provider reaches operators, with a session that runs it again.
func TestACrashOfAHostedProviderRunsAgain(t *testing.T) {
	file, err := filepath.Abs("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	c := serveCrashing(t, fmt.Sprintf("  faults: {module: %q, record_crashes: true}\n", file), "")
	for range 3 {
		if got := c.read(t, "x:a"); strings.HasPrefix(got, "200") {
			t.Fatal(got)
		}
	}
	all := c.crashes(t)
	if len(all) != 1 || all[0].Count != 3 || all[0].Code != "trap" || all[0].Provider != "faults" || all[0].URI != "" || all[0].Stack[0].Name != "serve" {
		t.Fatalf("got %+v", all)
	}
	text, err := c.client.CrashSession(t.Context(), all[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	report := replayCrash(t, file, text)
	if len(report.Failures) > 0 || len(report.Crashes) != 1 || report.Crashes[0].Inexact != "" || report.Crashes[0].Fuel != all[0].Fuel {
		t.Errorf("got %+v of\n%s", report, text)
	}
	if _, err := c.client.CrashSession(t.Context(), "0123456789abcdef"); err == nil || !strings.Contains(err.Error(), "no crash") {
		t.Error(err)
	}
}

// Without record_crashes there is no session; the URI is in the report only where the tenant permits it.
func TestAReportHasWhatTheTenantPermits(t *testing.T) {
	file, err := filepath.Abs("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	c := serveCrashing(t, fmt.Sprintf("  faults: {module: %q}\n", file), "crash_uris: true\n")
	c.read(t, "x:a")
	all := c.crashes(t)
	if len(all) != 1 || all[0].URI != "x:a" || all[0].Session != 0 {
		t.Fatalf("got %+v", all)
	}
	if _, err := c.client.CrashSession(t.Context(), all[0].ID); err == nil || !strings.Contains(err.Error(), "needs record_crashes: true") {
		t.Error(err)
	}
}

// A secret of the provider is neither in a report, nor in a session, nor in a log, in any form, wherever the call had it: those of
// requests, data source names and their passwords, from the environment and sealed.
func TestASecretIsInNoCrash(t *testing.T) {
	const (
		key, sealedKey           = "hunter2-hunter2-hunter2", "sealed-hunter3-hunter3"
		password, sealedPassword = "pass%40word-of-env-7", "pass%3Aword-sealed-8"
		dsn                      = "postgres://someone:" + password + "@db.example/books"
		sealedDSN                = "mysql://someone:" + sealedPassword + "@db.example/books"
	)
	t.Setenv("WASMRES_TEST_CRASH_SECRET", key)
	t.Setenv("WASMRES_TEST_CRASH_DSN", dsn)
	file, err := filepath.Abs("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	c := serveCrashing(t, fmt.Sprintf(`  faults:
    module: %q
    record_crashes: true
    permissions:
      config: {token: %s, plain: "yes"}
      network: {allow: [{host: example.com, secrets: [key, sealed]}]}
      secrets: [{name: key, env: WASMRES_TEST_CRASH_SECRET}, {name: sealed, sealed: sealed-key}]
      sql: [{name: main, dsn_env: WASMRES_TEST_CRASH_DSN}, {name: more, dsn_sealed: sealed-dsn}]
`, file, key), "crash_uris: true\n")
	for name, value := range map[string]string{"sealed-key": sealedKey, "sealed-dsn": sealedDSN} {
		if _, err := c.client.SetSecret(t.Context(), "acme", name, value); err != nil {
			t.Fatal(err)
		}
	}
	var forms []string // of secrets, as the provider's client and guest may have them
	for _, secret := range []string{key, sealedKey, password, sealedPassword, "pass@word-of-env-7", "pass:word-sealed-8", dsn, sealedDSN} {
		forms = append(forms, secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)))
	}
	traps := 0
	for _, form := range forms {
		switch got := c.read(t, "x:"+form+"a"); {
		case strings.Contains(got, "trap"):
			traps++
		case !strings.Contains(got, "encoded slash"): // which no URI may have
			t.Fatalf("%s: %s", form, got)
		}
	}
	all := c.crashes(t)
	if len(all) != 1 || int(all[0].Count) != traps || traps < len(forms)/2 {
		t.Fatalf("got %+v", all)
	}
	text, err := c.client.CrashSession(t.Context(), all[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{"the report": fmt.Sprintf("%+v", all), "the session": string(text), "the log": ""}
	for line := range strings.Lines(c.log.String()) {
		if !strings.Contains(line, `msg="request failed"`) { // which has the URI as its client sent it
			seen["the log"] += line
		}
	}
	for _, folder := range []string{"tenants/acme", "ledger"} {
		err := filepath.WalkDir(filepath.Join(c.data, folder), func(file string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(file)
			seen[file] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for where, text := range seen {
		for _, form := range forms {
			if strings.Contains(text, form) {
				t.Errorf("%s has %s:\n%s", where, form, text)
			}
		}
	}
	if len(seen) < 6 {
		t.Errorf("looked into %d files", len(seen))
	}
	if !bytes.Contains(text, []byte("plain")) || all[0].Inexact == "" {
		t.Errorf("got %q of\n%s", all[0].Inexact, text)
	}
}
