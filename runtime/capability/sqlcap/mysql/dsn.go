package mysql

import (
	"errors"
	"net"
	"net/url"
	"strings"

	driver "github.com/go-sql-driver/mysql"
)

// parse reads mysql://user:password@host:port/database?tls=true. Nothing of it is repeated in errors.
func parse(dsn string) (*driver.Config, error) {
	malformed := errors.New("its DSN is malformed: write it as mysql://user:password@host:3306/database")
	u, err := url.Parse(dsn)
	if err != nil || u.Fragment != "" {
		return nil, malformed
	}
	cfg := driver.NewConfig()
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.DBName = strings.TrimPrefix(u.Path, "/")
	cfg.Net, cfg.Addr = "tcp", u.Host
	if u.Port() == "" {
		cfg.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	for name, values := range u.Query() {
		switch name {
		case "tls":
			cfg.TLSConfig = values[0]
		case "socket":
			cfg.Net, cfg.Addr = "unix", values[0]
		default:
			return nil, errors.New("its DSN has a parameter that is neither tls nor socket")
		}
	}
	cfg.AllowAllFiles, cfg.MultiStatements, cfg.ParseTime, cfg.InterpolateParams = false, false, false, false
	cfg.Logger = silence{}
	return cfg, nil
}

// silence keeps the driver from writing to standard error: what it has to say comes with an error as well.
type silence struct{}

func (silence) Print(...any) {}
