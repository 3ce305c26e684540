//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// fetch returns the status and body of a URL.
func fetch(t *testing.T, url, key string) (int, string) {
	t.Helper()
	answer, text := fetchFrom(t, url, "", key)
	return answer.StatusCode, text
}

// fetchFrom returns the answer of a URL, asked for by the name of a host, and its body. An empty host is that of the URL; an empty key
// sends none.
func fetchFrom(t *testing.T, url, host, key string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

// A tenant from its file to a client's read, as an operator sees it: keys, tenants, top, metrics, a reload and the end.
func TestServeForOperators(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tenantFile := fmt.Sprintf("providers:\n  hello: {module: %q}\nroles:\n  reader: [{uris: [\"**\"]}]\n", guesttest.File(t, "hello"))
	const settings = "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\nadmin: {listen: \"127.0.0.1:0\"}\n"
	write("serve.yaml", settings)
	write("tenants/acme.yaml", tenantFile)
	cmd := exec.Command("wasmres", "serve", "--config", filepath.Join(dir, "serve.yaml"), "--log-format", "json", "--cache-dir", guesttest.CacheDir(t))
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	told := func(want string) {
		t.Helper()
		b := make([]byte, 1024)
		if n, err := manager.Read(b); err != nil || !regexp.MustCompile(`\A`+want+`\z`).Match(b[:n]) {
			t.Errorf("the service manager was told %q, %v, want %q", b[:n], err, want)
		}
	}
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(dir, "notify"))
	_, _, d := startRun(t, cmd)
	endpoint := d.await(t, `"msg":"serving","tenants":1,"url":"(http://127\.0\.0\.1:\d+)/t/TENANT/mcp"`)[1]
	probes := "http://" + d.await(t, `"msg":"operators can connect".*"probes":"([^"]*)"`)[1]

	told("READY=1\nSTATUS=serving 1 tenant, 0 with problems")
	o := operator{t, admintest.Validate(t, filepath.Join(dir, "data", "admin.sock"))}
	key := strings.TrimSpace(o.run("key new acme --name ada --role reader --expires 1d", 0, `\Awr_`, "of acme for ada, with reader"))
	url := endpoint + "/t/acme/mcp?uri=hello://about"
	if status, text := fetch(t, url, ""); status != 401 {
		t.Errorf("without a key: %d %s", status, text)
	}
	for range 3 {
		if status, text := fetch(t, url, key); status != 200 || !strings.Contains(text, "ello") {
			t.Fatalf("got %d %s", status, text)
		}
	}
	o.run("tenant show acme", 0, "^state +served$.*^roles +reader$.*^keys +1$.*^hello +live ", `\A\z`)
	o.run("top", 0, `1 tenant, 1 live.*^acme +[0-9.]+ +[0-9.]+ms +0 +1/1 +[0-9.]+ MiB +0 +0$`, `\A\z`)

	for path, want := range map[string]string{
		"/healthz": "ok\n", "/readyz": "ready\n",
		"/metrics": `(?s)wasmres_guest_seconds_total{tenant="acme"} .*wasmres_providers{state="live"} 1\n.*` +
			`wasmres_requests_total{code="ok",era="2026-07-28",method="download",tenant="acme"} 3\n`,
		"/metrics?": `(?s)wasmres_auth_total{kind="key",outcome="ok"} \d+\n.*wasmres_auth_total{kind="none",outcome="missing"} \d+\n.*` +
			`wasmres_ledger_lag_seconds 0\n.*wasmres_start_seconds_count{kind="first"} 1\n.*` +
			`wasmres_store_commit_seconds_count [1-9].*wasmres_streams{era="2026-07-28"} 0\n`,
	} {
		if status, text := fetch(t, probes+path, ""); status != 200 || !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}

	write("tenants/beta.yaml", tenantFile)
	write("tenants/gamma.yaml", "provider: {}\n")
	o.run("reload", 1, `^generation \d+, 2 tenants, in [1-9]\d* ms$.*^set +beta$.*^stale +gamma: .*unknown key`, "the files of 1 tenant are wrong")
	told("STATUS=serving 2 tenants, 1 with problems")
	o.run("tenant list --stale", 0, `\ATENANT[^\n]*\ngamma [^\n]*unknown key[^\n]*\n\z`, `\A\z`)
	o.run("key new betta --role reader", 1, `\A\z`, `no tenant "betta": did you mean beta\?`)

	write("tenants/delta.yaml", tenantFile)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	told(`RELOADING=1\nMONOTONIC_USEC=\d+`)
	told("READY=1\nSTATUS=serving 3 tenants, 1 with problems")
	if status, text := fetch(t, url, key); status != 200 {
		t.Errorf("after SIGHUP: %d %s", status, text)
	}
	write("serve.yaml", "lisen: []\n")
	o.run("reload", 1, `\A\z`, `serve.yaml:1:1: unknown key "lisen"`)
	told("STATUS=serving 3 tenants, 1 with problems; settings not read, the last ones stay in force: see the log")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	told(`RELOADING=1\nMONOTONIC_USEC=\d+`)
	told("READY=1\nSTATUS=serving 3 tenants, 1 with problems; settings not read, the last ones stay in force: see the log")
	if status, _ := fetch(t, url, key); status != 200 {
		t.Errorf("after a wrong configuration: %d", status)
	}
	o.run("key revoke "+key[3:15], 0, `\A\z`, "Revoked")
	if status, _ := fetch(t, url, key); status != 401 {
		t.Errorf("a revoked key gets %d", status)
	}
	// A plan of a tenant bounds its clients, and the operator sees it.
	write("serve.yaml", settings+"plans: {tiny: {principal_requests: {rate: 1/h, burst: 2}}}\n")
	write("tenants/beta.yaml", "plan: tiny\n"+tenantFile)
	write("tenants/gamma.yaml", tenantFile)
	o.run("reload", 0, `^set +beta$.*^set +gamma$`, `\A\z`)
	told("STATUS=serving 4 tenants, 0 with problems")
	o.run("tenant new omega", 0, `\A\z`, "made")
	told("STATUS=serving 5 tenants, 0 with problems")
	key = strings.TrimSpace(o.run("key new beta --role reader", 0, `\Awr_`, ""))
	url = endpoint + "/t/beta/mcp?uri=hello://about"
	for _, want := range []int{200, 200, 429} {
		if status, text := fetch(t, url, key); status != want {
			t.Errorf("got %d %s, want %d", status, text, want)
		}
	}
	if _, text := fetch(t, probes+"/metrics", ""); !strings.Contains(text, `wasmres_limited_total{limit="requests",tenant="beta"} 1`) {
		t.Errorf("the metrics do not say what was limited: %s", text)
	}
	o.run("top", 0, `^beta +[0-9.]+ +[0-9.]+ms +0 +1/1 +[0-9.]+ MiB +1 +0$`, `\A\z`)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil && !regexp.MustCompile("exit status 143|signal").MatchString(err.Error()) {
		t.Error(err)
	}
	told("STOPPING=1")
	for _, line := range d.said {
		if !json.Valid([]byte(line)) {
			t.Errorf("the log has a line that is no JSON: %s", line)
		}
	}
	o.run("top", 5, `\A\z`, "no server answers")
}

// In the journal of systemd, an error has its priority.
func TestJournalPriorities(t *testing.T) {
	journal, err := os.Create(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	var is syscall.Stat_t
	if err := syscall.Fstat(int(journal.Fd()), &is); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		stream uint64
		want   string
	}{{"the journal", is.Ino, "<3>wasmres: "}, {"a file", is.Ino + 1, "wasmres: "}} {
		if _, err := journal.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if err := journal.Truncate(0); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("wasmres", "serve", "--config", filepath.Join(t.TempDir(), "none.yaml"))
		cmd.Env, cmd.Stderr = append(os.Environ(), fmt.Sprintf("JOURNAL_STREAM=%d:%d", is.Dev, tt.stream)), journal
		if cmd.Run() == nil {
			t.Error("it has started")
		}
		text, err := os.ReadFile(journal.Name())
		if err != nil || !strings.HasPrefix(string(text), tt.want) {
			t.Errorf("%s: got %q, %v, want %s…", tt.name, text, err, tt.want)
		}
	}
}
