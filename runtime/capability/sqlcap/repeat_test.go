package sqlcap_test

import (
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// TestStatementsOfAPrivilegedRoleMayNotBeRepeated opens no session: which connections there are decides.
func TestStatementsOfAPrivilegedRoleMayNotBeRepeated(t *testing.T) {
	dsn, err := sqlcap.ParseDSN("sqlite:" + filepath.Join(t.TempDir(), "none.db"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlcap.Open(sqlcap.Config{Connections: map[string]sqlcap.Connection{
		"reader": {DSN: dsn}, "super": {DSN: dsn, Privileged: true},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	query := s.Services()[abi.ServiceSQL].(capability.Repeatable)
	for connection, want := range map[string]bool{"reader": true, "super": false, "unknown": false} {
		request := (&abi.SQLRequest{Connection: connection, Query: "select 1"}).Append(nil)
		if got := query.MayRepeat(request); got != want {
			t.Errorf("%s: got %v, want %v", connection, got, want)
		}
	}
	if query.MayRepeat([]byte("\xff")) {
		t.Error("a malformed request may be repeated")
	}
	if !s.Services()[abi.ServiceSQLRows].(capability.Repeatable).MayRepeat(nil) {
		t.Error("reading further rows may not be repeated")
	}
}
