package database

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/internal/netaddr"
)

// Dial connects to a server. It refuses addresses that are not public if the data source name is foreign.
func (c *Config) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTime, KeepAlive: keepAlive}
	if c.Foreign && !c.Private {
		d.Control = func(_, address string, _ syscall.RawConn) error { return netaddr.CheckPublic(address) }
	}
	return d.DialContext(ctx, network, address)
}

// ErrForeign is the error of a foreign data source name that is not allowed.
var ErrForeign = errors.New("a sealed data source name has a user, a password, one host and a database, and says nothing else but how to encrypt, " +
	"as in postgres://user:password@host:5432/database?sslmode=require or mysql://user:password@host/database?tls=true")

// CheckForeign checks a foreign data source name. options are its parameters that are allowed.
func CheckForeign(dsn string, options ...string) error {
	u, err := url.Parse(dsn)
	if err != nil || u.Opaque != "" || u.Fragment != "" || u.User == nil {
		return ErrForeign
	}
	password, _ := u.User.Password()
	if u.User.Username() == "" || password == "" || u.Hostname() == "" || strings.ContainsAny(u.Hostname(), "/,@\x00") || len(u.Path) < 2 {
		return ErrForeign
	}
	for name, values := range u.Query() {
		if !slices.Contains(options, name) || len(values) != 1 {
			return ErrForeign
		}
	}
	return nil
}

const (
	dialTime  = 10 * time.Second
	keepAlive = 15 * time.Second
)
