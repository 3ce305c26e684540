//go:build linux

package hostile_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/dbtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

func closeIt(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("close %T: %v", c, err)
	}
}

// compressed is gzip of b.
func compressed(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b) // a buffer takes all
	_ = w.Close()
	return out.Bytes()
}

// A rawServer answers each request with the same bytes, and then again and again with others.
type rawServer struct {
	port    uint16
	head    string
	text    string // empty for none
	pause   time.Duration
	closes  bool // after head; else it waits for the client to close
	running sync.WaitGroup
}

func newRawServer(t *testing.T, head, text string, pause time.Duration, closes bool) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{port: uint16(l.Addr().(*net.TCPAddr).Port), head: head, text: text, pause: pause, closes: closes}
	s.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.running.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.running.Wait()
	})
	return s
}

func (s *rawServer) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	if _, err := http.ReadRequest(in); err != nil {
		return
	}
	_, err := io.WriteString(c, s.head)
	if s.closes || err != nil {
		return
	}
	gone := make(chan struct{})
	s.running.Go(func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, in)
	})
	for s.text != "" && err == nil {
		select {
		case <-gone:
			return
		case <-time.After(s.pause):
			_, err = io.WriteString(c, s.text)
		}
	}
	<-gone
}

// backends are the servers that capabilities depend on.
type backends struct{ databases map[string]*backend }

// A backend is a database server.
type backend struct {
	server *dbtest.Server
	socket string // within the folder of server
	url    string // of a role that may read
}

func startBackends(t *testing.T) *backends {
	t.Helper()
	b := &backends{databases: map[string]*backend{}}
	for name, start := range map[string]func() (*dbtest.Server, error){"postgres": dbtest.Postgres, "mariadb": dbtest.MariaDB} {
		server, err := start()
		if errors.Is(err, dbtest.ErrMissing) {
			guesttest.Missing(t, "no server: install postgresql and mariadb-server: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeIt(t, server) })
		b.databases[name] = &backend{server: server}
	}
	postgres, mariadb := b.databases["postgres"], b.databases["mariadb"]
	postgres.socket, postgres.url = ".s.PGSQL.5432", postgres.server.PostgresURL("postgres", "postgres")
	mariadb.socket, mariadb.url = "socket", mariadb.server.MariaDBURL("root", "mysql")
	return b
}

// statements of each server.
var hostileStatements = map[string]struct{ ready, sleep, nap, burn, flood string }{
	"postgres": {
		"select 1", "select pg_sleep(60)", "select pg_sleep(0.25)", "select count(*) from generate_series(1, 100000000000)",
		"select n, repeat('x', 10000) from generate_series(1, 100000000000) n",
	},
	"mariadb": {
		"select 1", "select sleep(60)", "select sleep(0.25)", "select count(*) from seq_1_to_10000000 a, seq_1_to_10000000 b",
		"select seq, repeat('x', 10000) from seq_1_to_10000000",
	},
}

func databaseCases() (rows []serviceRow) {
	for _, name := range []string{"postgres", "mariadb"} {
		s, power := hostileStatements[name], "sql: "+name
		rows = append(rows,
			serviceRow{power, "hang (sleeps)", asking(name, s.sleep, dbtest.None)},
			serviceRow{power, "hang (network)", asking(name, s.ready, dbtest.Hang)},
			serviceRow{power, "trickle", asking(name, s.flood, dbtest.Trickle)},
			serviceRow{power, "burn", asking(name, s.burn, dbtest.None)},
			serviceRow{power, "flood", asking(name, s.flood, dbtest.None)},
			serviceRow{power, "late", asking(name, s.nap, dbtest.None)},
			serviceRow{power, "close in the middle", asking(name, s.flood, dbtest.Cut)},
		)
	}
	for behaviour, statement := range map[string]string{
		"burn": statements["instr"], "burn (compiles)": statements["compile"], "flood (memory)": statements["sort"],
	} {
		rows = append(rows, serviceRow{"sql: sqlite", behaviour, askingSQLite(statement)})
	}
	return rows
}

// askingSQLite opens the capability to query a file, and has its helper process started.
func askingSQLite(statement string) func(*testing.T, *backends) attacked {
	return func(t *testing.T, _ *backends) attacked {
		power := openSQL(t)
		if err := power.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		return attacked{services: power.Services(), ask: []guesttest.Step{
			guesttest.Ask(abi.ServiceSQL, (&abi.SQLRequest{Connection: "main", Query: statement}).Append(nil)),
		}}
	}
}

// asking opens the capability to query a server by way of a proxy, which fails from when a session is open.
func asking(name, statement string, fault dbtest.Fault) func(*testing.T, *backends) attacked {
	return func(t *testing.T, b *backends) attacked {
		server := b.databases[name]
		proxy, err := server.server.Proxy(server.socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeIt(t, proxy) })
		dsn, err := sqlcap.ParseDSN(strings.ReplaceAll(server.url, server.server.Dir, proxy.Dir))
		if err != nil {
			t.Fatal(err)
		}
		power, err := sqlcap.Open(sqlcap.Config{Connections: map[string]sqlcap.Connection{"main": {DSN: dsn, Privileged: true}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeIt(t, power) })
		if err := power.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		proxy.Set(fault)
		return attacked{services: power.Services(), release: func() { proxy.Set(dbtest.None) }, ask: []guesttest.Step{
			guesttest.Ask(abi.ServiceSQL, (&abi.SQLRequest{Connection: "main", Query: statement}).Append(nil)),
			guesttest.Ask(abi.ServiceSQLRows, (&abi.StreamRequest{Stream: 1}).Append(nil)).Times(300),
		}}
	}
}
