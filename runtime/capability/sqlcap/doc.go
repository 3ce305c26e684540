// Package sqlcap is the capability to query databases, for untrusted guests.
//
// It owns the services [abi.ServiceSQL] and [abi.ServiceSQLRows]. A guest names a connection; only the host knows its
// server and its role. A session runs one statement at a time, in a read-only transaction that the database enforces. The
// session is reset before another call uses it. The guest reads rows in parts, of which the host holds one at a time.
//
// This package does not parse statements: the database decides what they may do. The packages below set up each kind of
// database for that.
package sqlcap
