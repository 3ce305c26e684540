package policy

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

const sqliteScheme = "sqlite:"

// openDSN returns s if it is a data source name without a password, which a file may contain that others can read. It
// refuses in doubt.
func openDSN(s string) (string, error) {
	if _, err := Line(s); err != nil {
		return "", err
	}
	scheme, _, _ := strings.Cut(s, ":")
	if !slices.Contains([]string{"postgres", "postgresql", "mysql", "mariadb", "sqlite"}, scheme) {
		return "", errors.New("this is not a data source name: write it like " +
			"postgres://user@host/database, mysql://user@host/database or sqlite:/path")
	}
	if hasPassword(s) {
		return "", errors.New("the data source name carries a password: put it into a variable or a file, " +
			"and name that as env:VARIABLE or file:PATH on the command line, or with dsn_env or dsn_file")
	}
	return s, nil
}

// sqliteFile returns the file of a data source name of SQLite. It reports false for other databases.
func sqliteFile(dsn string) (string, bool) {
	file, ok := strings.CutPrefix(dsn, sqliteScheme)
	return strings.TrimPrefix(file, "//"), ok
}

// hasPassword reports whether a data source name may carry a password, in its authority or in its parameters.
func hasPassword(dsn string) bool {
	if strings.HasPrefix(dsn, sqliteScheme) {
		return false
	}
	_, rest, _ := strings.Cut(dsn, ":")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 && strings.Contains(strings.TrimPrefix(rest[:at], "//"), ":") {
		return true
	}
	_, parameters, _ := strings.Cut(rest, "?")
	if decoded, err := url.QueryUnescape(parameters); err == nil {
		parameters += decoded
	}
	parameters = strings.ToLower(parameters)
	for _, key := range []string{"pass", "pwd", "token", "secret"} {
		if strings.Contains(parameters, key) {
			return true
		}
	}
	return false
}
