package mysql

import (
	"errors"
	"net"
	"net/url"
	"strings"

	driver "github.com/go-sql-driver/mysql"
)

// parse reads mysql://user:password@host:port/database?tls=true. Errors do not contain it.
func parse(dsn string) (*driver.Config, error) {
	malformed := errors.New("malformed DSN: write it as mysql://user:password@host:3306/database")
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
			return nil, errors.New("malformed DSN: the only parameters are tls and socket")
		}
	}
	cfg.AllowAllFiles, cfg.MultiStatements, cfg.ParseTime, cfg.InterpolateParams = false, false, false, false
	cfg.Logger = discardLog{}
	return cfg, nil
}

// discardLog discards the log of the driver, which would go to standard error. Its errors say the same.
type discardLog struct{}

func (discardLog) Print(...any) {}
