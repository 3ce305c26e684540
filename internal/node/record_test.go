package node_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/childtest"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/tenant"
)

// openEmpty opens a server with one tenant without providers.
func openEmpty(ctx context.Context, dir string) (*node.Node, error) {
	file := filepath.Join(dir, "serve.yaml")
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		err = errors.Join(
			os.MkdirAll(filepath.Join(dir, "tenants"), 0o700),
			os.WriteFile(file, []byte("listen: [{address: \"127.0.0.1:0\"}]\n"), 0o600),
			os.WriteFile(filepath.Join(dir, "tenants", "acme.yaml"), []byte("roles: {reader: [{uris: [\"**\"]}]}\n"), 0o600),
		)
		if err != nil {
			return nil, err
		}
	}
	s, err := tenant.ReadSettings(file, dir)
	if err != nil {
		return nil, err
	}
	n, _, err := node.Open(ctx, node.Config{Settings: s, Version: "1", Logger: slog.New(slog.DiscardHandler)})
	return n, err
}

// ledgerOf reads the ledger of a server, which must be whole.
func ledgerOf(tb testing.TB, dir string) (lines []ledger.Line) {
	tb.Helper()
	folder := filepath.Join(dir, "ledger")
	if _, err := ledger.Verify(tb.Context(), folder, ledger.Expect{}); err != nil {
		tb.Fatal(err)
	}
	err := ledger.Read(folder, func(l *ledger.Line) error { lines = append(lines, *l); return nil })
	if err != nil {
		tb.Fatal(err)
	}
	return lines
}

// actionsOf returns the actions of a ledger with their tenants and objects.
func actionsOf(lines []ledger.Line) (all []string) {
	for _, l := range lines {
		all = append(all, strings.Join([]string{l.Tenant, l.Action, l.Object}, " "))
	}
	return all
}

func TestTheLedgerHasWhatOperatorsDo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	n, err := openEmpty(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- n.Operate(ctx, func() { close(ready) }) }()
	<-ready
	c := admintest.Client(t, filepath.Join(dir, admin.SocketName))
	made, err := c.CreateKey(t.Context(), "acme", admin.NewKey{Name: "ada", Roles: []string{"reader"}})
	if err != nil {
		t.Fatal(err)
	}
	lines := ledgerOf(t, dir) // while the server runs
	last := lines[len(lines)-1]
	if last.Action != "key.create" || last.Object != made.ID || last.Tenant != "acme" || !strings.HasPrefix(last.Actor, "uid ") || last.Via != "socket" ||
		!strings.Contains(last.After, `"roles":["reader"]`) || last.Generation != n.Snapshot().Generation {
		t.Errorf("after a key was made, the ledger ends with %+v", last)
	}
	rotated, err := c.RotateKey(t.Context(), made.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RevokeKey(t.Context(), rotated.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateKey(t.Context(), "acme", admin.NewKey{Name: "ada", Roles: []string{"none"}}); err == nil {
		t.Error("a key with an unknown role was made")
	}
	if _, err := c.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tenants", "beta.yaml"), "roles: {reader: [{uris: [\"**\"]}]}\n")
	write(t, filepath.Join(dir, "tenants", "wrong.yaml"), "rules: 1\n")
	if _, err := c.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := errors.Join(<-ended, n.Close()); err != nil {
		t.Fatal(err)
	}
	lines = ledgerOf(t, dir)
	want := []string{
		" server.start ", "acme tenant.create acme", "acme key.create " + made.ID,
		"acme key.change " + made.ID, "acme key.create " + rotated.ID, "acme key.revoke " + rotated.ID,
		"acme key.create /v1/tenants/acme/keys", // refused
		" configuration.reload ", "beta tenant.create beta", "wrong tenant.stale wrong", " configuration.reload ", " server.end ",
	}
	got := actionsOf(lines)
	slices.Sort(got) // changes of one generation are in the order of their objects
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, l := range lines {
		if refused := strings.HasPrefix(l.Object, "/v1/"); refused != (l.Outcome != "") {
			t.Errorf("the outcome of %+v", l)
		}
		if strings.Contains(l.After+l.Before, "wr_") {
			t.Errorf("an entry has a key: %+v", l)
		}
	}
}

func TestTheLedgerHasTheUseOfKeys(t *testing.T) {
	h := host(t, "a")
	for range 3 {
		if a := h.do(request{tenant: "a", key: h.keys["a"], method: "resources/list"}); a.status != http.StatusOK {
			t.Errorf("got %+v", a)
		}
		if a := h.do(request{tenant: "a", key: "wr_aaaaaaaaaaaa_x", method: "resources/list"}); a.status != http.StatusUnauthorized {
			t.Errorf("got %+v", a)
		}
	}
	dir := h.Settings().Data
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	var uses, refusals []ledger.Line
	for _, l := range ledgerOf(t, dir) {
		switch l.Action {
		case "key.use":
			uses = append(uses, l)
		case "credential.refuse":
			refusals = append(refusals, l)
		}
	}
	if len(uses) != 1 || uses[0].Tenant != "a" {
		t.Errorf("uses: %+v", uses)
	}
	if len(refusals) != 1 || refusals[0].Tenant != "a" || refusals[0].Actor != "127.0.0.1" || !strings.HasSuffix(refusals[0].After, "requests within a minute") {
		t.Errorf("refusals: %+v", refusals)
	}
}

// What a change does stands in the ledger without any secret part.
func TestEntriesOfChanges(t *testing.T) {
	sealed, hash := []byte("sealed-text"), [32]byte{1, 2, 3}
	id := tenant.SecretID{Tenant: "acme", Name: "token"}
	none, some := &tenant.Snapshot{}, &tenant.Snapshot{
		Tenants: map[string]*tenant.Tenant{"acme": {ID: "acme", Plan: "small"}}, Plans: map[string]*tenant.Plan{"small": {Name: "small"}},
		Keys:      map[string]*tenant.Key{"k": {ID: "k", Tenant: "acme", Name: "ada", SHA256: hash}},
		AdminKeys: map[string]*tenant.AdminKey{"a": {ID: "a", Name: "ben", Role: "auditor", SHA256: hash}},
		Secrets:   map[tenant.SecretID]*tenant.Secret{id: {Tenant: "acme", Name: "token", Sealed: sealed}},
		Problems:  map[string]string{"beta": "wrong"},
	}
	changed := *some
	changed.Secrets = map[tenant.SecretID]*tenant.Secret{id: {Tenant: "acme", Name: "token", Sealed: []byte("other"), Changed: time.Unix(1, 0)}}
	for _, row := range []struct {
		name          string
		before, after *tenant.Snapshot
		want          []string
	}{
		{"new", none, some, []string{
			" adminkey.create a", " plan.create small", "acme key.create k", "acme secret.create acme/token", "acme tenant.create acme", "beta tenant.stale beta",
		}},
		{"gone", some, none, []string{
			" adminkey.revoke a", " plan.remove small", "acme key.revoke k", "acme secret.remove acme/token", "acme tenant.remove acme", "beta tenant.right beta",
		}},
		{"changed", some, &changed, []string{"acme secret.change acme/token"}},
		{"other", some, some, []string{" configuration.change "}},
	} {
		var lines []ledger.Line
		for _, e := range node.EntriesOf(&tenant.Change{}, row.before, row.after) {
			lines = append(lines, ledger.Line{Entry: e})
			if text := e.Before + e.After; strings.Contains(text, "SHA256") || strings.Contains(text, "ealed") || strings.Contains(text, "AQID") {
				t.Errorf("%s: an entry has a secret: %s", row.name, text)
			}
		}
		got := actionsOf(lines)
		slices.Sort(got)
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// roles has what servers do with a data folder.
var roles = map[string]func(dir string) error{"churn": churn, "overflow": overflow}

// churn makes keys until it is killed, and prints the ID of each that was acknowledged.
func churn(dir string) error {
	n, err := openEmpty(context.Background(), dir)
	if err != nil {
		return err
	}
	t := n.Snapshot().Tenants["acme"]
	for {
		k, _, err := n.Create(context.Background(), "test", admin.KeySpec{Tenant: t.ID, Name: "k", Roles: []string{"reader"}})
		if err != nil {
			return err
		}
		fmt.Println(k.ID)
	}
}

// A server is killed while it makes keys, again and again. Each key that it has acknowledged is in the store and in the ledger;
// each key in the store is in the ledger; and the ledger says which of its entries are not in force.
func TestStoreAndLedgerAgreeAfterAServerIsKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	times := 15
	if testing.Short() {
		times = 3
	}
	var acknowledged []string
	for range times {
		process, output, end := childtest.Start(t, "churn", dir)
		left := rand.IntN(8)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			acknowledged = append(acknowledged, lines.Text())
			if left--; left < 0 {
				_ = process.Kill() // its output until then is read to the end
			}
		}
		if end(); left >= 0 {
			t.Fatal("the server ended by itself")
		}
	}
	n, err := openEmpty(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	present := n.Snapshot()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	recorded, generation := map[string]uint64{}, uint64(0)
	for _, l := range ledgerOf(t, dir) {
		switch l.Action {
		case "key.create":
			recorded[l.Object] = l.Generation
		case "change.undone":
			maps.DeleteFunc(recorded, func(_ string, g uint64) bool { return g > l.Generation })
		case "change.unrecorded", "ledger.begin":
			t.Errorf("the store had a change before the ledger: %+v", l)
		}
		generation = l.Generation
	}
	if generation != present.Generation || len(recorded) != len(present.Keys) {
		t.Errorf("the ledger has %d keys at generation %d, the store %d at %d", len(recorded), generation, len(present.Keys), present.Generation)
	}
	for _, id := range acknowledged {
		if present.Keys[id] == nil || recorded[id] == 0 {
			t.Errorf("key %s was acknowledged; in the store: %t, in the ledger: %t", id, present.Keys[id] != nil, recorded[id] > 0)
		}
	}
}

// overflow makes keys by the admin API until no file can grow; then there is room again. It prints how many there are.
func overflow(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	n, err := openEmpty(context.Background(), dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- n.Operate(ctx, func() { close(ready) }) }()
	<-ready
	wrong := &reported{}
	c := admin.NewClient(filepath.Join(dir, admin.SocketName)).Through(func(rt http.RoundTripper) http.RoundTripper { return admintest.Transport(wrong, rt) })
	defer c.Close()
	made := 0
	create := func() error {
		_, err := c.CreateKey(ctx, "acme", admin.NewKey{Name: "ada", Roles: []string{"reader"}})
		if err == nil {
			made++
		}
		return err
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	full := func(name, file string, room int64) error {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		limit := syscall.Rlimit{Cur: uint64(info.Size() + room), Max: before.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		for end := made + 50; err == nil && made < end; {
			err = create()
		}
		var p *admin.Problem
		if !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable || p.Code != admin.CodeUnavailable || !strings.Contains(p.Detail, name) {
			return fmt.Errorf("key %d without room for the %s: %w", made+1, name, err)
		}
		if page, err := c.Keys(ctx, "acme", ""); err != nil || len(page.Items) == 0 {
			return fmt.Errorf("reading on a full disk: %d keys, %w", len(page.Items), err)
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			return err
		}
		return errors.Join(create(), create())
	}
	if err := errors.Join(create(), full("disk may be full", "serve.db-wal", 30_000)); err != nil {
		return err
	}
	large := ledger.Entry{Action: "test", After: strings.Repeat("x", 2000)}
	for range 4 { // so that the ledger is the largest file
		if err := n.RecordAll(ctx, slices.Repeat([]ledger.Entry{large}, 900)); err != nil {
			return err
		}
	}
	if err := full("ledger", "ledger/0000000000000001.jsonl", 2000); err != nil {
		return err
	}
	fmt.Println(made)
	cancel()
	return errors.Join(<-ended, n.Close(), wrong.err)
}

// A reported is what is wrong with the traffic of a process that is no test.
type reported struct{ err error }

// Errorf implements [admintest.Reporter].
func (r *reported) Errorf(format string, args ...any) {
	r.err = errors.Join(r.err, fmt.Errorf(format, args...))
}

func TestAFullDiskRefusesChangesAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	_, pipe, end := childtest.Start(t, "overflow", dir)
	output, err := io.ReadAll(pipe)
	if end(); err != nil {
		t.Fatal(err)
	}
	recorded := map[string]bool{}
	for _, l := range ledgerOf(t, dir) {
		switch {
		case l.Action == "key.create" && l.Outcome == "":
			recorded[fmt.Sprint(l.Generation)] = true
		case l.Action == "change.undone":
			delete(recorded, fmt.Sprint(l.Generation+1))
		}
	}
	if got := fmt.Sprintln(len(recorded)); got != string(output) {
		t.Errorf("the ledger has %s keys, made were %s", got, output)
	}
	n, err := openEmpty(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if got := fmt.Sprintln(len(n.Snapshot().Keys)); got != string(output) {
		t.Errorf("the store has %s keys, made were %s", got, output)
	}
}

// A folder may be older than its ledger, and a ledger older than its folder.
func TestTheLedgerNotesThatTheStoreDiffers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	reopen := func() []string {
		t.Helper()
		n, err := openEmpty(t.Context(), dir)
		if err == nil {
			err = n.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return actionsOf(ledgerOf(t, dir))
	}
	reopen()
	if err := os.RemoveAll(filepath.Join(dir, "ledger")); err != nil {
		t.Fatal(err)
	}
	if got := reopen(); got[0] != " ledger.begin generation 1" {
		t.Errorf("with another ledger: %q", got)
	}
	for _, name := range []string{"serve.db", "serve.db-wal", "serve.db-shm"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if got := reopen(); !slices.Contains(got, " change.undone generation 1") {
		t.Errorf("with another store: %q", got)
	}
}

// BenchmarkAdminWrite measures a write by the admin API: a key that is made or revoked, until the store and the ledger have it on
// disk and the client has the answer.
func BenchmarkAdminWrite(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	n, err := openEmpty(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- n.Operate(ctx, func() { close(ready) }) }()
	<-ready
	c := admin.NewClient(filepath.Join(dir, admin.SocketName))
	defer c.Close()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		made, err := c.CreateKey(b.Context(), "acme", admin.NewKey{Name: "ada", Roles: []string{"reader"}})
		took = append(took, time.Since(began))
		if err != nil {
			b.Fatal(err)
		}
		began = time.Now()
		err = c.RevokeKey(b.Context(), made.ID)
		took = append(took, time.Since(began))
		if err != nil {
			b.Fatal(err)
		}
	}
	cancel()
	if err := errors.Join(<-ended, n.Close()); err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
