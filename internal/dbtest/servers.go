package dbtest

import (
	"errors"
	"os"
)

// Postgres starts a PostgreSQL server. Its superuser is postgres, everybody is trusted, and there is the database
// postgres: see [Server.PostgresURL]. The error is [ErrMissing] where Debian's package postgresql is not installed.
func Postgres() (*Server, error) {
	const place = "/usr/lib/postgresql/*/bin"
	initdb, err := find("initdb", place)
	if err != nil {
		return nil, err
	}
	postgres, err := find("postgres", place)
	if err != nil {
		return nil, err
	}
	dir, credential, err := folder("postgres")
	if err != nil {
		return nil, err
	}
	data := dir + "/data"
	err = run(credential, dir, initdb, "--pgdata="+data, "--username=postgres", "--auth=trust", "--encoding=UTF8",
		"--locale=C", "--no-sync")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return start(dir, "ready to accept connections", credential, postgres, "-D", data, "-k", dir,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=40")
}

// PostgresURL returns how to reach a database of the server as a role.
func (s *Server) PostgresURL(role, database string) string {
	return "postgres://" + role + "@/" + database + "?host=" + s.Dir
}

// MariaDB starts a MariaDB server. Its superuser is root, without a password: see [Server.MariaDBURL]. The error is
// [ErrMissing] where Debian's package mariadb-server is not installed.
func MariaDB() (*Server, error) {
	install, err := find("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	mariadbd, err := find("mariadbd", "/usr/sbin")
	if err != nil {
		return nil, err
	}
	dir, credential, err := folder("mysql")
	if err != nil {
		return nil, err
	}
	data := dir + "/data"
	err = run(credential, dir, install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal",
		"--skip-test-db", "--innodb-log-file-size=4M")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return start(dir, "ready for connections", credential, mariadbd, "--no-defaults", "--datadir="+data,
		"--socket="+dir+"/socket",
		"--skip-networking", "--pid-file="+dir+"/pid", "--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=4M",
		"--innodb-buffer-pool-size=16M",
		"--secure-file-priv="+dir, "--local-infile=1")
}

// MariaDBURL returns how to reach a database of the server as a user, who has no password.
func (s *Server) MariaDBURL(user, database string) string {
	return "mysql://" + user + "@localhost/" + database + "?socket=" + s.Dir + "/socket"
}
