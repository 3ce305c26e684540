// Package sqlcap is the power to query databases, for guests nobody trusts.
//
// It owns the services [abi.ServiceSQL] and [abi.ServiceSQLRows]. A guest names a connection; where that leads, and as
// whom, only the host knows. One statement is run at a time, in a transaction which the database itself holds to
// reading, and what the guest could have changed of the session is undone before anybody else gets it. Rows leave in
// parts, as the guest asks for them, so that the host holds one part whatever a statement gives.
//
// No statement is read here: what it may do, the database decides. The packages below know how each of them is told.
package sqlcap
