package node_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/seal"
	"github.com/wasmres/wasmres/internal/sourcetree"
	"github.com/wasmres/wasmres/internal/tenant"
)

// An operated server has tenants with a key, a secret, a crash, a session, lines in a log, usage and deployed versions each. The names of those
// have [secretOf] the tenant in them.
type operated struct {
	t        *testing.T
	data     string
	clients  string // their address
	remote   string // URL of the admin API for other machines
	http     *http.Client
	operator *admin.Client
	keys     map[string]string // of clients, by tenant
	crashes  map[string]string // IDs, by tenant
	cursors  map[string]string // of second pages that operators get, by list
	log      lockedBuffer
	end      func()
}

func operate(t *testing.T, ids ...string) *operated {
	t.Helper()
	base := t.TempDir()
	o := &operated{t: t, data: filepath.Join(base, "data"), keys: map[string]string{}, crashes: map[string]string{}, cursors: map[string]string{}}
	for _, id := range ids {
		write(t, filepath.Join(o.data, "tenants", id+".yaml"), fmt.Sprintf(`providers:
  %s: {module: %q, record_crashes: true, prefixes: ["x:%[1]s"]}
  notes: {prefixes: ["x:o"]}
roles:
  all: [{uris: ["**"]}]
  canary: [{uris: ["**"]}]
crash_uris: true
`, secretOf(id), filepath.Join(sourcetree.Root(), "testdata", "wasm", "faults.wasm")))
	}
	key := filepath.Join(base, "secrets.key")
	if err := seal.New().WriteNew(key); err != nil {
		t.Fatal(err)
	}
	authority, at := certtest.NewAuthority(t), freeAddress(t)
	cert, certKey := filepath.Join(base, "cert.pem"), filepath.Join(base, "key.pem")
	certtest.Write(t, authority.Issue(t, &x509.Certificate{Subject: certtest.Name("server")}), cert, certKey)
	write(t, filepath.Join(o.data, "serve.yaml"), fmt.Sprintf(
		"listen: [{address: \"127.0.0.1:0\"}]\nsecrets: {key: %q}\nadmin: {tls: {address: %q, cert: %q, key: %q}}\n", key, at, cert, certKey))
	var socket string
	o.clients, socket, o.end = serveFolder(t, o.data, slog.New(slog.NewTextHandler(&o.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	o.remote, o.operator = "https://"+at, admintest.Client(t, socket)
	connections := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}}
	t.Cleanup(connections.CloseIdleConnections)
	o.http = &http.Client{Transport: admintest.Transport(t, connections), Timeout: time.Minute} // lines that are followed have no end
	for _, id := range ids {
		o.fill(id)
	}
	return o
}

// fill gives a tenant all that a tenant can have.
func (o *operated) fill(id string) {
	o.t.Helper()
	made, err := o.operator.CreateKey(o.t.Context(), id, admin.NewKey{Name: secretOf(id), Roles: []string{"all", tenant.RoleCanary}})
	if err != nil {
		o.t.Fatal(err)
	}
	o.keys[id] = made.Text
	if _, err := o.operator.SetSecret(o.t.Context(), id, secretOf(id), "value-of-"+id); err != nil {
		o.t.Fatal(err)
	}
	for _, letter := range []string{"n", "a"} { // writes a line, crashes
		o.read(id, id, "x:"+secretOf(id)+letter, "")
	}
	page, err := o.operator.Crashes(o.t.Context(), id, "")
	if err != nil || len(page.Items) != 1 || page.Items[0].URI != "x:"+secretOf(id)+"a" {
		o.t.Fatalf("got %+v, %v", page, err)
	}
	o.crashes[id] = page.Items[0].ID
	module, err := os.ReadFile(filepath.Join(sourcetree.Root(), "testdata", "wasm", "faults.wasm"))
	if err != nil {
		o.t.Fatal(err)
	}
	o.push(id, admin.NewVersion{Next: "promote"}, module)
	o.begin(id)
}

// begin begins a session of a tenant's client.
func (o *operated) begin(id string) {
	o.t.Helper()
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, "http://"+o.clients+"/t/"+id+"/mcp", strings.NewReader(fmt.Sprintf(initialize, secretOf(id))))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.keys[id])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if status, text := o.do(http.DefaultClient, r); status != http.StatusOK {
		o.t.Fatalf("got %d %s", status, text)
	}
	page, err := o.operator.Sessions(o.t.Context(), id, "")
	if err != nil || len(page.Items) != 1 || page.Items[0].Principal != secretOf(id) || page.Items[0].ClientName != secretOf(id) {
		o.t.Fatalf("got %+v, %v", page, err)
	}
}

// push deploys a version, and waits until its route has it.
func (o *operated) push(id string, n admin.NewVersion, module []byte) {
	o.t.Helper()
	v, err := o.operator.PushVersion(o.t.Context(), id, "notes", n, bytes.NewReader(module))
	for ; err == nil && (&tenant.Version{State: v.State}).IsUnderWay(); time.Sleep(10 * time.Millisecond) {
		v, err = o.operator.Version(o.t.Context(), id, "notes", v.Number)
	}
	if err != nil || v.Route == "" {
		o.t.Fatalf("got %+v, %v", v, err)
	}
}

// read reads a URI of a tenant with the key of a tenant's client, which may choose a version.
func (o *operated) read(id, keyOf, uri, version string) (status int, text string) {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, "http://"+o.clients+"/t/"+id+"/mcp?uri="+url.QueryEscape(uri), nil)
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.keys[keyOf])
	if version != "" {
		r.Header.Set("Wasmres-Version", version)
	}
	return o.do(http.DefaultClient, r)
}

// ask asks the admin API with an admin key.
func (o *operated) ask(path, key string) (status int, text string) {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, o.remote+path, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	return o.do(o.http, r)
}

func (o *operated) do(c *http.Client, r *http.Request) (status int, text string) {
	o.t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// operatorLists are lists of which callers of one tenant see their part.
var operatorLists = []string{"/v1/tenants", "/v1/keys", "/v1/crashes", "/v1/usage", "/v1/audit", "/v1/rollouts"}

// What the operators of one tenant may ask of another is refused, and the answer is that of a tenant, or of a crash, that does not
// exist: also in its length. Their own lists, the cursors of other people's lists, and their lines have nothing of another tenant.
func TestOperatorsOfATenantSeeNothingOfAnother(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks each endpoint of operators with each role")
	}
	o := operate(t, "alpha", "delta")
	if o.readCursors(); len(o.cursors) < 4 {
		t.Errorf("%d lists have a second page", len(o.cursors))
	}
	for own, other := range map[string]string{"alpha": "delta", "delta": "alpha"} {
		o.read(other, own, "x:o", "") // a key of another tenant, which is refused
		for _, role := range []admin.Role{admin.TenantAdmin, admin.Deployer, admin.Auditor} {
			made, err := o.operator.CreateAdminKey(t.Context(), admin.NewAdminKey{Name: "ada", Role: role, Tenant: own})
			if err != nil {
				t.Fatal(err)
			}
			o.checkForeign(role, made.Text, other)
			o.checkOwn(role, made.Text, own, other)
		}
	}
	for line := range strings.Lines(o.log.String()) {
		for own, other := range map[string]string{"alpha": "delta", "delta": "alpha"} {
			if strings.Contains(line, "tenant="+own+" ") && strings.Contains(line, other) {
				t.Errorf("a line of the tenant %s in the log has another one: %s", own, line)
			}
		}
	}
}

// checkForeign asks for what another tenant has.
func (o *operated) checkForeign(role admin.Role, key, other string) {
	o.t.Helper()
	same := func(path, absent, name, absentName string, want int) {
		o.t.Helper()
		status, text := o.ask(path, key)
		_, none := o.ask(absent, key)
		if status != want && status != http.StatusForbidden || strings.Contains(text, "secret") || text != strings.ReplaceAll(none, absentName, name) {
			o.t.Errorf("%s asks for %s: got %d %s, and of what does not exist: %s", role, path, status, text, none)
		}
	}
	for _, path := range []string{
		"", "/file", "/quota", "/providers/notes/versions", "/providers/notes/versions/1", "/providers/notes/versions/9", "/providers/notes/route",
		"/providers/" + secretOf(other) + "/route", "/crashes", "/usage", "/logs", "/logs?follow=true", "/keys", "/secrets", "/sessions",
	} {
		same("/v1/tenants/"+other+path, "/v1/tenants/omega"+strings.ReplaceAll(path, other, "omega"), other, "omega", http.StatusForbidden)
	}
	for _, path := range []string{"/v1/audit?tenant=", "/v1/usage?tenant="} {
		if _, text := o.ask(path+other, key); strings.Contains(text, secretOf(other)) {
			o.t.Errorf("%s asks for %s: got %s", role, path+other, text)
		}
	}
	for _, suffix := range []string{"", "/session"} {
		same("/v1/crashes/"+o.crashes[other]+suffix, "/v1/crashes/0123456789abcdef"+suffix, o.crashes[other], "0123456789abcdef", http.StatusNotFound)
	}
}

// checkOwn asks for lists of all that the holder of a key may see, and continues lists of an operator.
func (o *operated) checkOwn(role admin.Role, key, own, other string) {
	o.t.Helper()
	clean := func(path string) (isAllowed bool) {
		o.t.Helper()
		status, text := o.ask(path, key)
		if strings.Contains(text, other) {
			o.t.Errorf("%s of %s asks for %s: got %s", role, own, path, text)
		}
		return status == http.StatusOK && strings.Contains(text, own)
	}
	paths := append([]string{"/v1/node"}, operatorLists...)
	for _, path := range []string{"", "/file", "/providers/notes/versions", "/providers/notes/route", "/crashes", "/usage", "/logs", "/keys", "/secrets", "/sessions"} {
		paths = append(paths, "/v1/tenants/"+own+path)
	}
	seen := 0
	for _, path := range paths {
		if clean(path) {
			seen++
		}
	}
	if seen < 7 {
		o.t.Errorf("%s of %s sees %d of its own lists", role, own, seen)
	}
	for _, list := range operatorLists {
		clean(list + "?cursor=" + url.QueryEscape(o.cursors[list]))
		guessed := other + "/0"
		if status, text := o.ask(list+"?cursor="+url.QueryEscape(guessed), key); status == http.StatusOK && strings.Contains(text, other) {
			o.t.Errorf("%s of %s continues %s at %s: got %s", role, own, list, guessed, text)
		}
	}
}

// readCursors notes the cursor of the second page of each list that operators have, where there is one.
func (o *operated) readCursors() {
	o.t.Helper()
	made, err := o.operator.CreateAdminKey(o.t.Context(), admin.NewAdminKey{Name: "operator", Role: admin.Operator})
	if err != nil {
		o.t.Fatal(err)
	}
	for _, list := range operatorLists {
		var page struct{ Next string }
		if _, text := o.ask(list+"?limit=1", made.Text); json.Unmarshal([]byte(text), &page) != nil {
			o.t.Fatalf("%s: got %s", list, text)
		}
		if page.Next != "" {
			o.cursors[list] = page.Next
		}
	}
}

// A client chooses among the versions of its own tenant alone, by the numbers that these have there.
func TestAVersionIsThatOfItsTenant(t *testing.T) {
	o := operate(t, "alpha", "delta")
	module, err := os.ReadFile(filepath.Join(sourcetree.Root(), "testdata", "wasm", "faults.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	o.push("alpha", admin.NewVersion{Next: "canary", Share: 0}, bytes.Replace(module, []byte("fine"), []byte("next"), 1))
	for until := time.Now().Add(time.Minute); time.Now().Before(until); { // it is loaded beside the one that serves
		if _, text := o.read("alpha", "alpha", "x:o", "2"); text == "next" {
			break
		}
	}
	for _, c := range []struct {
		id, keyOf, version string
		status             int
		text               string
	}{
		{"alpha", "alpha", "2", 200, "next"}, {"alpha", "alpha", "1", 200, "fine"},
		{"delta", "delta", "2", 200, "fine"}, {"delta", "delta", "alpha/2", 200, "fine"}, {"delta", "delta", "", 200, "fine"},
		{"alpha", "delta", "2", 401, ""}, {"delta", "alpha", "2", 401, ""},
	} {
		if status, text := o.read(c.id, c.keyOf, "x:o", c.version); status != c.status || c.text != "" && text != c.text {
			t.Errorf("%s of %s at %s: got %d %s", c.version, c.keyOf, c.id, status, text)
		}
	}
}

// An operator who follows the lines of one tenant gets none of another, neither those that were written before nor those that come,
// and the files of a tenant have its own alone.
func TestLinesAreThoseOfTheirTenant(t *testing.T) {
	o := operate(t, "alpha", "delta")
	pairs := map[string]string{"alpha": "delta", "delta": "alpha"}
	for own, other := range pairs {
		ctx, cancel := context.WithCancel(t.Context())
		w := &written{want: "fine", seen: make(chan struct{})}
		ended := make(chan error, 1)
		go func() { ended <- o.operator.Logs(ctx, own, "", true, w) }()
		o.read(other, other, "x:"+secretOf(other)+"n", "")
		o.read(own, own, "x:"+secretOf(own)+"k", "") // writes lines that have that word
		<-w.seen
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := w.got.String(); strings.Contains(got, other) {
			t.Errorf("the lines of %s have those of %s: %.2000s", own, other, got)
		}
		var none strings.Builder
		if err := o.operator.Logs(t.Context(), own, secretOf(other), false, &none); err != nil || none.Len() > 0 {
			t.Errorf("the lines of a provider of %s at %s: got %s, %v", other, own, none.String(), err)
		}
	}
	o.end()
	for own, other := range pairs {
		text, err := os.ReadFile(filepath.Join(o.data, "tenants", own, "log", "guests.log"))
		if err != nil || !strings.Contains(string(text), secretOf(own)+": ") || strings.Contains(string(text), other) {
			t.Errorf("the file of %s has %.2000s, %v", own, text, err)
		}
	}
}
