package sqlcap_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// A data source name that the operator does not know names a server, and nothing of this machine.
func TestForeignDSNs(t *testing.T) {
	for dsn, isAllowed := range map[string]bool{
		"postgres://u:p@db.example/d":                      true,
		"postgres://u:p@db.example:5433/d?sslmode=require": true,
		"mysql://u:p@db.example/d?tls=true":                true,
		"mysql://u:p@[2001:db8::1]:3306/d":                 true,
		"postgres://u:p@db.example/":                       false,
		"postgres://u:p@db.example":                        false,
		"postgres://u@db.example/d":                        false, // a password file of the operator's would be read
		"postgres://:p@db.example/d":                       false,
		"postgres://db.example/d":                          false,
		"postgres://u:p@/d":                                false,
		"postgres://u:p@/d?host=/run/postgresql":           false,
		"postgres://u:p@%2Frun%2Fpostgresql/d":             false,
		"postgres://u:p@db.example,127.0.0.1/d":            false,
		"postgres://u:p@db.example/d?hostaddr=127.0.0.1":   false,
		"postgres://u:p@db.example/d?sslkey=/etc/key.pem":  false,
		"postgres://u:p@db.example/d?sslrootcert=/etc/x":   false,
		"postgres://u:p@db.example/d?service=x":            false,
		"postgres://u:p@db.example/d?sslmode=a&sslmode=b":  false,
		"mysql://u:p@db.example/d?socket=/run/mysqld.sock": false,
		"mysql://u:p@db.example/d?allowAllFiles=true":      false,
		"sqlite:/etc/passwd":                               false,
		"sqlite://u:p@host/d":                              false,
	} {
		parsed, err := sqlcap.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		p, err := sqlcap.Open(sqlcap.Config{Connections: map[string]sqlcap.Connection{"main": {DSN: parsed, Foreign: true}}}, nil)
		if (err == nil) != isAllowed {
			t.Errorf("%s: %v", dsn, err)
		}
		if err == nil {
			err = p.Close()
		}
		if err != nil && (strings.Contains(err.Error(), "db.example/") || isAllowed) {
			t.Errorf("%s: %v", dsn, err)
		}
		if !isAllowed && !strings.HasPrefix(dsn, "sqlite") && !errors.Is(err, database.ErrForeign) {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// A foreign name leads to a server of this machine only if that is permitted.
func TestAForeignDSNAtAPrivateAddress(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		if s.server == nil {
			t.Skip("a file has no address")
		}
		between, err := s.server.ProxyTCP(s.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer between.Close()
		url := map[string]string{"postgres": "postgres://locked:some-password@%s:%s/postgres?sslmode=disable", "mariadb": "mysql://locked:some-password@%s:%s/test"}[s.name]
		_, port, err := net.SplitHostPort(between.Addr)
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
			dsn, err := sqlcap.ParseDSN(fmt.Sprintf(url, host, port))
			if err != nil {
				t.Fatal(err)
			}
			for _, isPermitted := range []bool{false, true} {
				c := sqlcap.Connection{DSN: dsn, Foreign: true, Private: isPermitted}
				p, err := sqlcap.Open(sqlcap.Config{Connections: map[string]sqlcap.Connection{"main": c}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := query(t.Context(), p, "select name from users where id = 1")
				if isPermitted && (err != nil || show(got.Rows) != `"Ada"`) {
					t.Errorf("%s: got %q, %v", host, show(got.Rows), cause(err))
				}
				if !isPermitted && (err == nil || !strings.Contains(cause(err).Error(), "loopback") || strings.Contains(err.Error(), "loopback")) {
					t.Errorf("%s: got %q, %v", host, show(got.Rows), cause(err))
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
