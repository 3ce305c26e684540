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
`, guesttest.File(t, "postgres")), "")
	const uri = "postgres://tables/pg_catalog/pg_am/rows"
	if got := c.read(t, uri); strings.HasPrefix(got, "200") || !strings.Contains(c.log.String(), "wasmres secret set acme books") {
		t.Errorf("without the secret: got %s, and the log\n%s", got, c.log.String())
	}
	read := func(dsn string, isRight func(string) bool) string {
		t.Helper()
		if _, err := c.client.SetSecret(t.Context(), "acme", "books", dsn); err != nil {
			t.Fatal(err)
		}
		got := c.read(t, uri)
		for until := time.Now().Add(20 * time.Second); !isRight(got) && time.Now().Before(until); got = c.read(t, uri) {
			time.Sleep(5 * time.Millisecond) // the provider is opened anew beside the one that serves
		}
		if !isRight(got) {
			t.Errorf("got %s", got)
		}
		return got
	}
	right := "postgres://postgres:hunter2-hunter2@" + between.Addr + "/postgres?sslmode=disable"
	read(right, func(got string) bool { return strings.HasPrefix(got, "200") && strings.Contains(got, "btree") })
	if got := c.read(t, "postgres://public/pg_am/schema"); strings.HasPrefix(got, "200") || strings.Contains(got, between.Addr) {
		t.Errorf("at a private address: got %s", got)
	}
	read("sqlite:/etc/passwd", func(got string) bool { return !strings.HasPrefix(got, "200") })
	for _, text := range []string{"hunter2", "/etc/passwd"} {
		if strings.Contains(c.log.String(), text) {
			t.Errorf("the log has %s:\n%s", text, c.log.String())
		}
	}
}
