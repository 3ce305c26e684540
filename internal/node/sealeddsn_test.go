package node_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/dbtest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// A provider queries the database whose data source name its tenant keeps sealed; another name soon takes its place. Nothing shows
// it, and without permitted private addresses it does not lead to this machine.
func TestASealedDataSourceName(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a PostgreSQL server")
	}
	server, err := dbtest.Postgres()
	if errors.Is(err, dbtest.ErrMissing) {
		guesttest.Missing(t, "no server: install postgresql: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	between, err := server.ProxyTCP(".s.PGSQL.5432")
	if err != nil {
		t.Fatal(err)
	}
	defer between.Close()
	c := serveCrashing(t, fmt.Sprintf(`  books:
    module: %q
    permissions:
      sql: [{name: main, dsn_sealed: books, private: true, privileged: true}, {name: public, dsn_sealed: books, privileged: true}]
`, guesttest.File(t, "postgres")), "plan: unbounded\n")
	const uri = "postgres://tables/pg_catalog/pg_am/rows"
	if got := c.read(t, uri); strings.HasPrefix(got, "200") || !strings.Contains(c.log.String(), "wasmres secret set acme books") {
		t.Errorf("without the secret: got %s, and the log\n%s", got, c.log.String())
	}
	set := func(dsn string, isInForce func() bool) {
		t.Helper()
		if _, err := c.client.SetSecret(t.Context(), "acme", "books", dsn); err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(time.Minute); !isInForce(); time.Sleep(5 * time.Millisecond) { // a provider is opened anew beside the one that serves
			if time.Now().After(until) {
				t.Fatalf("not in force: %s", dsn)
			}
		}
	}
	serves := func() bool {
		got := c.read(t, uri)
		return strings.HasPrefix(got, "200") && strings.Contains(got, "btree")
	}
	set("postgres://postgres:hunter2-hunter2@"+between.Addr+"/postgres?sslmode=disable", serves)
	if got := c.read(t, "postgres://public/pg_am/schema"); strings.HasPrefix(got, "200") || strings.Contains(got, between.Addr) {
		t.Errorf("at a private address: got %s", got)
	}
	set("sqlite:/etc/passwd", func() bool { return strings.Contains(c.log.String(), "a sealed data source name is that of a server") })
	if !serves() {
		t.Error("the provider that was open does not serve until the new one can")
	}
	for _, text := range []string{"hunter2", "/etc/passwd"} {
		if strings.Contains(c.log.String(), text) {
			t.Errorf("the log has %s:\n%s", text, c.log.String())
		}
	}
}
