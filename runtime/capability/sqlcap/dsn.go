package sqlcap

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// A DSN is the data source name of a database, with its role and password. Only its scheme is ever printed.
type DSN struct{ scheme, text string }

// The schemes of a [DSN].
const (
	Postgres = "postgres" // postgres://user:password@host:5432/database?sslmode=require, as of libpq
	MySQL    = "mysql"    // mysql://user:password@host:3306/database?tls=true; socket=/path for a Unix socket
	SQLite   = "sqlite"   // sqlite:/path/to/file
)

// ParseDSN reads a DSN by its scheme: one of those above, postgresql or mariadb. The error does not contain the DSN.
func ParseDSN(text string) (DSN, error) {
	scheme, rest, found := strings.Cut(text, ":")
	switch scheme {
	case "postgresql":
		scheme = Postgres
	case "mariadb":
		scheme = MySQL
	}
	switch {
	case !found || scheme != Postgres && scheme != MySQL && scheme != SQLite:
		return DSN{}, errors.New("unknown kind of database: write postgres://…, mysql://… or sqlite:/path")
	case scheme != SQLite && !strings.HasPrefix(rest, "//"):
		return DSN{}, fmt.Errorf("write the database as %s://user:password@host/database", scheme)
	}
	return DSN{scheme, scheme + ":" + rest}, nil
}

// Scheme returns the kind of database, one of the constants above.
func (d DSN) Scheme() string { return d.scheme }

// String returns the scheme, and dots for the rest.
func (d DSN) String() string { return d.scheme + ":…" }

// GoString is String.
func (d DSN) GoString() string { return d.String() }

// Format writes String, for all verbs.
func (d DSN) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(d.String())) }

// MarshalText returns String.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// LogValue returns String.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }
