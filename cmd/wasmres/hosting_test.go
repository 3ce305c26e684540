package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal/terminaltest"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/certificate"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/usage"
)

// An operator types commands for a server.
type operator struct {
	t      *testing.T
	socket string
}

// run runs a command, and checks its exit status and outputs.
func (o operator) run(line string, status int, out, errOut string) (stdout string) {
	o.t.Helper()
	var stdo, stde bytes.Buffer
	args := append([]string{"wasmres"}, strings.Fields(line)...)
	if o.socket != "" {
		args = append(args, "--socket", o.socket)
	}
	if got := Main(o.t.Context(), args, nil, &stdo, &stde); got != status {
		o.t.Errorf("%s: exit status %d, want %d: %s", line, got, status, &stde)
	}
	for want, got := range map[string]string{out: stdo.String(), errOut: stde.String()} {
		if !regexp.MustCompile("(?ms)" + want).MatchString(got) {
			o.t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	return stdo.String()
}

func hosted(t *testing.T) *admintest.Host {
	h := admintest.New(t,
		&tenant.Tenant{
			ID: "acme", Plan: "small", Owner: tenant.OwnerFiles, Hosts: []string{"acme.example"}, Roles: []tenant.Role{{Name: "editor"}, {Name: "reader"}},
			Providers: []tenant.Provider{{Name: "notes", Module: "/srv/notes.wasm"}, {Name: "wiki", Module: "ghcr.io/ada/wiki:1"}},
		},
		&tenant.Tenant{ID: "beta", Disabled: true},
	)
	h.SetProblems(map[string]string{"gamma": "gamma.yaml:3:1: " + terminaltest.Hostile})
	h.SetStates("acme", map[string]admin.State{"wiki": {Name: "live"}})
	return h
}

func TestKeysOfTenants(t *testing.T) {
	h := hosted(t)
	o := operator{t, h.Serve(t)}
	out := o.run("key new acme --name ada --role reader --role editor --uri notes://** --network 192.0.2.0/24 --expires 30d", 0,
		`\Awr_[a-z2-7]{12}_[A-Za-z0-9_-]{51}\n\z`, `^Key [a-z2-7]{12} of acme for ada, with reader, editor; expires: 20..-.*Z\. It is shown only now:$`)
	id := out[3:15]
	if k := h.Snapshot().Keys[id]; k == nil || time.Until(k.Expires) > 30*24*time.Hour || k.Name != "ada" || len(k.Networks) != 1 {
		t.Fatalf("the key is %+v", k)
	}
	o.run("key list", 0, `^ID +TENANT +NAME +ROLES +EXPIRES +USED +ONLY$.*^`+id+` +acme +ada +reader editor +20.*Z +never +notes://\*\* 192\.0\.2\.0/24$`, `\A\z`)
	var keys []admin.Key
	if err := json.Unmarshal([]byte(o.run("key list acme --output-format json", 0, "", `\A\z`)), &keys); err != nil || len(keys) != 1 || keys[0].ID != id {
		t.Errorf("got %v, %v", keys, err)
	}
	o.run("key list beta", 0, `\AID .*\n\z`, "")
	next := o.run("key rotate "+id+" --grace 0", 0, `\Awr_.*\n\z`, "^Key .* of acme for ada")[3:15]
	o.run("key list --output-format yaml", 0, "expired: true.*id: "+next+"|id: "+next+".*expired: true", "")
	o.run("key revoke "+id, 0, `\A\z`, `\ARevoked key `+id+`\.\n\z`)
	o.run("key new acme --role reader --expires never", 0, "wr_", "expires: never")

	o.run("key new acm --role reader", 1, `\A\z`, `^wasmres: no tenant "acm": did you mean acme\?$`)
	o.run("key new acme --role raeder", 1, `\A\z`, `^wasmres: tenant acme has no role "raeder": did you mean reader\?$`)
	o.run("key new acme", 2, `\A\z`, `^wasmres: --role is missing: 'wasmres tenant show acme' lists the roles`)
	o.run("key new --role reader", 2, `\A\z`, `^wasmres: missing argument TENANT`)
	o.run("key new acme --role reader --expires soon", 2, `\A\z`, `^wasmres: --expires: "soon" is not a time: write it like 90d or 12h, or never`)
	o.run("key new acme --role reader --network 1.2.3", 1, `\A\z`, `networks: "1.2.3" is not a network: write it like`)
	o.run("key rotate "+next+" --grace tomorrow", 2, `\A\z`, `--grace: .*, or 0`)
	o.run("key revoke ada", 1, `\A\z`, `^wasmres: no key "ada": the key with this name has the ID `+next+`$`)
	o.run("key revoke "+next[:11]+"?", 1, `\A\z`, `did you mean `+next+`\?`)
	h.SetFailure(fmt.Errorf("apply: %w", tenant.ErrConflict))
	o.run("key revoke "+next, 4, `\A\z`, "the configuration has changed meanwhile: read it again")
	h.SetFailure(errors.New("disk on fire"))
	o.run("key new acme --role reader", 1, `\A\z`, "disk on fire")
}

func TestTenantsOfAServer(t *testing.T) {
	h := hosted(t)
	o := operator{t, h.Serve(t)}
	out := o.run("tenant list", 0, `\ATENANT +PLAN +OWNER +LIVE +KEYS +STATE +PROBLEM\nacme +small +files +1/2 +0 +served\nbeta +default +files +0/0 +0 +disabled\ngamma +0/0 +0 +not served +gamma.yaml:3:1: `, `\A\z`)
	terminaltest.CheckEscaped(t, out)
	o.run("tenant list --stale", 0, `\ATENANT[^\n]*\ngamma [^\n]*\n\z`, `\A\z`)
	o.run("tenant show acme", 0, `^tenant +acme$.*^state +served$.*^hosts +acme.example$.*^roles +editor reader$.*^PROVIDER +STATE +VERSION +PROCESSES +MEMORY +LAST START +LAST FAULT +MODULE +REASON$.*^notes +cold +- +0 +0 B +- +- +/srv/notes.wasm$.*^wiki +live`, `\A\z`)
	o.run("tenant show acme --output-format json", 0, `"state": "live"`, `\A\z`)
	o.run("tenant show betta", 1, `\A\z`, `no tenant "betta": did you mean beta\?`)
	o.run("tenant list acme", 2, `\A\z`, `one argument too many: "acme"`)
	o.run("tenant list --output-format xml", 2, `\A\z`, `one of table, json, yaml`)
}

func TestTenantsWithoutFiles(t *testing.T) {
	h := hosted(t)
	o := operator{t, h.Serve(t)}
	o.run("tenant new zoo", 0, `\A\z`, `\ATenant zoo: made, with the plan default\.\n\z`)
	o.run("tenant new zoo", 4, `\A\z`, `there is a tenant zoo already`)
	file := filepath.Join(t.TempDir(), "zoo.yaml")
	if err := os.WriteFile(file, []byte("roles:\n  reader: [{uris: [\"**\"]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.run("tenant set zoo "+file, 0, `\A\z`, `\ATenant zoo: set\.\n\z`)
	o.run("tenant export zoo", 0, `^roles:\n  reader:`, `\A\z`)
	o.run("tenant disable zoo", 0, `\A\z`, `\ATenant zoo: disabled\.\n\z`)
	o.run("tenant enable zoo", 0, `\A\z`, `\ATenant zoo: enabled\.\n\z`)
	o.run("tenant remove zoo", 0, `\A\z`, `\ATenant zoo: removed\.\n\z`)
	o.run("tenant new bad --plan gold", 1, `\A\z`, `the body:1:7: .*gold`)
	o.run("tenant disable acme", 4, `\A\z`, `the tenant acme is what its file says: change that, or run 'wasmres tenant adopt acme --owner api'`)
	o.run("tenant adopt acme --owner api", 0, `\A\z`, `\ATenant acme: owned by api\.\n\z`)
	o.run("tenant adopt acme --owner files", 1, `\A\z`, `there is no file .*acme\.yaml: write it with 'wasmres tenant export acme`)
	o.run("tenant adopt acme", 2, `\A\z`, `--owner: it is one of files, api`)
}

func TestPlans(t *testing.T) {
	o := operator{t, hosted(t).Serve(t)}
	file := filepath.Join(t.TempDir(), "gold.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("requests: {rate: 500/s}\npermissions: {kv: {max_keys: 10}}\n")
	o.run("plan set gold "+file, 0, `\A\z`, `\APlan gold: set, for 0 tenants\.\n\z`)
	o.run("tenant new zoo --plan gold", 0, `\A\z`, `with the plan gold`)
	o.run("plan list", 0, `^PLAN +OWNER +TENANTS +WEIGHT$.*^gold +api +1 +1$`, `\A\z`)
	write(o.run("plan show gold", 0, `rate: "500/s".*permissions:.*max_keys: 10`, `\A\z`))
	o.run("plan set gold "+file, 0, `\A\z`, `for 1 tenant\.`)
	o.run("plan show gold --output-format json", 0, `"owner": "api"`, `\A\z`)
	o.run("plan show gald", 1, `\A\z`, `did you mean "gold"\?`)
	o.run("plan remove gold", 1, `\A\z`, `the tenant zoo has the plan gold`)
	write("ceiling: /etc/passwd\n")
	o.run("plan set gold "+file, 1, `\A\z`, `the body:1:10: only serve.yaml can name another file: write permissions in place of ceiling`)
	o.run("plan set default "+file, 4, `\A\z`, `the plan default is what serve.yaml says`)
	o.run("tenant remove zoo", 0, `\A\z`, "")
	o.run("plan remove gold", 0, `\A\z`, `\APlan gold: removed\.\n\z`)
	o.run("plan remove gold", 1, `\A\z`, `no plan "gold"`)
}

// Commands reach a server on another machine with an admin key, as far as its role permits.
func TestAdminKeysAndRemoteServers(t *testing.T) {
	h, dir := hosted(t), t.TempDir()
	o := operator{t, h.Serve(t)}
	text := o.run("admin-key new ci --role deployer --tenant acme", 0, `\Awra_[a-z2-7]{12}_[A-Za-z0-9_-]{51}\n\z`, `^Admin key [a-z2-7]{12} for ci, deployer of acme; expires: 20..-.*Z\. It is shown only now:$`)
	id := text[4:16]
	o.run("admin-key list", 0, `^ID +NAME +ROLE +TENANT +EXPIRES +CREATOR$.*^`+id+` +ci +deployer +acme +20.*Z +uid `, `\A\z`)
	o.run("admin-key new ci", 2, `\A\z`, `--role is missing: it is one of operator, tenant-admin`)
	o.run("admin-key new ci --role tenant-admin", 1, `\A\z`, `a tenant-admin is of one tenant: name it`)
	o.run("admin-key new ci --role deploier", 1, `\A\z`, `did you mean "deployer"\?`)

	authority := certtest.NewAuthority(t)
	cert, key, ca, secret := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ci.key")
	certtest.Write(t, authority.Issue(t, &x509.Certificate{Subject: certtest.Name("server")}), cert, key)
	certtest.WriteCert(t, authority.Cert, ca)
	files, err := certificate.Open(certificate.Config{Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	url := "https://" + admintest.ValidateTLS(t, strings.TrimPrefix(h.ServeTLS(t, files.TLS()), "https://"), files.TLS())
	far := operator{t, ""}
	remote := " --url " + url + " --ca " + ca + " --admin-key-file " + secret
	far.run("tenant show acme"+remote, 0, `^tenant +acme$`, `\A\z`)
	far.run("tenant list"+remote, 0, `^acme `, `\A\z`)
	far.run("tenant show beta"+remote, 1, `\A\z`, `your credential is for the tenant acme, not for "beta"`)
	far.run("reload"+remote, 1, `\A\z`, `the role deployer may not do this: the roles that may are operator`)
	far.run("tenant show acme --url "+url+" --ca "+ca, 1, `\A\z`, `the request has no admin key`)
	far.run("tenant show acme --url "+url+" --admin-key-file "+secret, cli.StatusUnreachable, `\A\z`, `no server answers at https://.*certificate`)
	far.run("tenant show acme --url http://x", 2, `\A\z`, `"http://x" is not the URL of an admin API: write it as https://HOST:PORT`)
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	far.run("tenant show acme"+remote, 1, `\A\z`, `other users can read .*ci\.key \(mode 0644\): run chmod 600`)
	o.run("admin-key revoke "+id, 0, `\A\z`, `\ARevoked admin key `+id+`\.\n\z`)
	o.run("admin-key revoke "+id, 1, `\A\z`, `no admin key`)
}

func TestSecretsOfTenants(t *testing.T) {
	h := hosted(t)
	o := operator{t, h.Serve(t)}
	var out, errOut bytes.Buffer
	args := []string{"wasmres", "secret", "set", "acme", "token", "--socket", o.socket}
	if status := Main(t.Context(), args, strings.NewReader("s3cret\n"), &out, &errOut); status != 0 || out.Len() > 0 || errOut.String() != "Secret token of acme: set.\n" {
		t.Errorf("got %d, %s %s", status, &out, &errOut)
	}
	if got := h.Snapshot().Secrets[tenant.SecretID{Tenant: "acme", Name: "token"}]; got == nil || strings.Contains(string(got.Sealed), "s3cret") {
		t.Errorf("got %+v", got)
	}
	o.run("secret list acme", 0, `\ANAME +CHANGED +BY\ntoken +20.*Z +uid `, `\A\z`)
	o.run("secret rotate-key", 0, `\A\z`, `\ASealed 1 secret anew\.\n\z`)
	o.run("secret remove acme token", 0, `\A\z`, `\ASecret token of acme: removed\.\n\z`)
	o.run("secret remove acme token", 1, `\A\z`, `tenant acme has no secret "token"`)
	file := filepath.Join(t.TempDir(), "key")
	alone := operator{t, ""}
	alone.run("secret new-key "+file, 0, `\A\z`, `^Wrote a key to .*key\. Keep a copy`)
	alone.run("secret new-key "+file, 1, `\A\z`, `file exists`)
}

func TestSessionsOfTenants(t *testing.T) {
	h := hosted(t)
	o := operator{t, h.Serve(t)}
	at := time.Date(2026, 11, 29, 1, 0, 0, 5, time.UTC)
	h.SetSessions("acme",
		admin.Session{ID: "BBBBBBBB", Revision: "2024-11-05", Began: at.Add(time.Hour), LastRequest: at.Add(time.Hour)},
		admin.Session{ID: "AAAAAAAA", Revision: "2025-06-18", ClientName: "editor", ClientVersion: "1.2", Principal: "ada", Began: at, LastRequest: at.Add(time.Minute), Streams: 1},
	)
	o.run("session list acme", 0, `\AID +PRINCIPAL +REVISION +BEGAN +LAST REQUEST +STREAMS +CLIENT\n`+
		`AAAAAAAA +ada +2025-06-18 +2026-11-29T01:00:00Z +2026-11-29T01:01:00Z +1 +editor 1\.2\nBBBBBBBB +2024-11-05 +2026-11-29T02:00:00Z +2026-11-29T02:00:00Z +0 *\n\z`, `\A\z`)
	o.run("session list acme --output-format json", 0, `"principal": "ada"`, `\A\z`)
	o.run("session list beta --output-format json", 0, `\A\[\]\n\z`, `\A\z`)
	o.run("session list acm", 1, `\A\z`, `no tenant "acm": did you mean acme`)
	o.run("session list", 2, `\A\z`, `TENANT`)
}

func TestReloadAndTop(t *testing.T) {
	h := hosted(t)
	o := operator{t, h.Serve(t)}
	next := admintest.New(t, &tenant.Tenant{ID: "acme", Digest: "2"}).Snapshot()
	next.Generation, next.Problems = 7, nil
	h.SetReload(func() (*tenant.Snapshot, error) { return next, nil })
	o.run("reload", 0, `\Ageneration 7, 1 tenant, in 0 ms\nset +acme\nremoved +beta\n\z`, `\A\z`)
	next.Problems = map[string]string{"gamma": "gamma.yaml:3:1: empty"}
	o.run("reload", 1, `^stale +gamma: gamma.yaml:3:1: empty$`, `the files of 1 tenant are wrong: 'wasmres tenant list --stale' lists them`)
	h.SetReload(func() (*tenant.Snapshot, error) { return nil, errors.New("serve.yaml:2:1: unknown key") })
	o.run("reload", 1, `\A\z`, `^wasmres: serve.yaml:2:1: unknown key$`)

	h.SetLoads(admin.Load{Tenant: "acme", PerSecond: 412.25, P99Micros: 2100, Live: 2, Providers: 4, Bytes: 11 << 20, Limited: 3}, admin.Load{Tenant: "idle"})
	o.run("top", 0, `\Awasmres v1.2.3, up 1h(30m0|29m59)s, generation 7: 1 tenant \(1 stale\), 0 live of 2190\n\n`+
		`TENANT +REQ/S +P99 +QUEUE +LIVE +MEM +LIMITED +FAULTS\nacme +412\.2 +2\.1ms +0 +2/4 +11\.0 MiB +3 +0\nidle +0\.0 +- +0 +0/0 +0 B +0 +0\n\z`, `\A\z`)
	o.run("top --once --output-format json", 0, `"requestsPerSecond": 412.25`, `\A\z`)
}

func TestUsageOfAServer(t *testing.T) {
	h := hosted(t)
	o := operator{t, h.Serve(t)}
	h.Usage.Request("acme", usage.OK, 2048)
	m := h.Usage.Meter(usage.Key{Tenant: "acme", Provider: "notes", Version: 7}, func() usage.Processes {
		return usage.Processes{Starts: 1, Live: 2 * time.Second, Memory: 1 << 30, Peak: 3 << 20}
	})
	h.Usage.Store("acme", usage.Storage{Modules: 1 << 20, Logs: 10})
	m.Call(usage.Failed, 12345, 1500*time.Millisecond, 10)
	m.Close()
	o.run("usage", 0, `\ABEGIN +TENANT +PROVIDER +VERSION +OK +REFUSED +LIMITED +FAILED +FUEL +CPU +STARTS +BYTES +GiB-HOURS +PEAK +STORAGE\n`+
		`20..-.. +acme +- +- +1 +0 +0 +0 +0 +0\.000s +0 +2\.0 KiB +0\.000 +- +1\.0 MiB\n20..-.. +acme +notes +7 +0 +0 +0 +1 +12,345 +1\.500s +1 +10 B +0\.000 +3\.0 MiB +-\n\z`, `\A\z`)
	o.run("usage --tenant acme --by hour --format csv", 0, `\Abegin,tenant,provider,version,ok,.*\n20..-..-..T..:00:00Z,acme,,,1,0,0,0,0,0\.000000,0,2048,0,0\.000,0,1048576,0,0,10,0\n.*,acme,notes,7,0,0,0,1,12345,1\.500000,1,10,1073741824,2\.000,3145728,0,0,0,0,0\n\z`, `\A\z`)
	o.run("usage --format json", 0, `"cpuSeconds": 1.5`, `\A\z`)
	o.run("usage --month 2020-01 --format json", 0, `\A\[\]\n\z`, `\A\z`)
	o.run("usage --month November", 2, `\A\z`, `--month November: it is not a month: write it like 20`)
	o.run("usage --by year", 2, `\A\z`, `--by year: it is one of hour, day, month`)
	o.run("usage --format xml", 2, `\A\z`, `--format xml: it is one of table, csv, json`)
}

// Without a server, usage reads its file.
func TestUsageWithoutAServer(t *testing.T) {
	dir := t.TempDir()
	var out, errOut bytes.Buffer
	args := []string{"wasmres", "usage", "--data", dir}
	if status := Main(t.Context(), args, nil, &out, &errOut); status != cli.StatusUnreachable {
		t.Errorf("without a file: status %d, %s", status, &errOut)
	}
	b, err := usage.Open(t.Context(), usage.Config{File: filepath.Join(dir, "usage.db")})
	if err != nil {
		t.Fatal(err)
	}
	b.Request("acme", usage.Limited, 0)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	errOut.Reset()
	if status := Main(t.Context(), append(args, "--format", "csv"), nil, &out, &errOut); status != 0 || !strings.Contains(out.String(), ",acme,,,0,0,1,0,0,") || !strings.Contains(errOut.String(), "No server answers; this is what") {
		t.Errorf("status %d, %s, %s", status, &out, &errOut)
	}
}

// Without a server, each command says so, and how to start one.
func TestNoServerToAsk(t *testing.T) {
	dir := t.TempDir()
	o := operator{t, filepath.Join(dir, "none.sock")}
	for _, line := range []string{"key new acme --role reader", "key list", "key revoke x", "key rotate x", "tenant list", "tenant show x", "reload", "top", "usage"} {
		o.run(line, cli.StatusUnreachable, `\A\z`, `^wasmres: no server answers at .*none\.sock: .*no such file.*: start a server with 'wasmres serve --data .*', or name another one with --data or --socket$`)
	}
	t.Setenv("XDG_STATE_HOME", dir)
	for _, more := range [][]string{nil, {"--data", filepath.Join(dir, "wasmres")}} {
		var out bytes.Buffer
		status := Main(t.Context(), append([]string{"wasmres", "top"}, more...), nil, &out, &out)
		if want := filepath.Join(dir, "wasmres", "admin.sock"); status != cli.StatusUnreachable || !strings.Contains(out.String(), want) {
			t.Errorf("%v: status %d, %s, want %s", more, status, &out, want)
		}
	}
}
